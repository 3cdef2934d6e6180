"""docs/search.md has the table of filters, orders and facets, and its examples of requests run."""

import re
import subprocess
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from photosvc.api.search import parse_facets
from photosvc.cli.show import show
from photosvc.search.reading.facets import FACETS
from photosvc.search.reading.request import ORDERS
from tests.helpers.factories.varied_library import fill_varied_library
from tests.helpers.library import SURROUNDINGS, open_library
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[3] / "docs/search.md").read_text()
BEGIN, END = "<!-- filters: svc show filters --md -->\n\n", "\n<!-- end -->"


def test_the_guide_has_the_table_of_filters_and_names_those_that_are_true_or_false():
    rows = CliRunner().invoke(show, ["filters", "--md"]).output.splitlines(keepends=True)
    switches = [row for row in rows if "| true, yes, 1, on, false, no, 0, off |" in row]
    assert GUIDE.partition(BEGIN)[2].partition(END)[0] == "".join(row for row in rows if row not in switches)
    named = re.search(r"^Yes-or-no filters, such as .+?: (.+?)\.\s", GUIDE, re.DOTALL | re.MULTILINE)[1]
    assert re.findall(r"`(\w+)`", named) == [row.split()[1] for row in switches]


def test_the_guide_names_every_order_and_facet():
    assert all(f"`{order}`" in GUIDE for order in ORDERS)
    assert parse_facets(GUIDE.partition("`by` names any of `")[2].partition("`")[0].replace(" ", ",")) == list(FACETS)


@pytest.mark.slow
def test_the_examples_of_the_timeline_and_the_map_run(tmp_path):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        fill_varied_library(session, photos=12)
    examples = re.findall(r"^```sh\n(curl .*\$BASE.*)\n```$", GUIDE, re.MULTILINE)
    with serve(library.instance, workers=1) as base:
        environ = {**SURROUNDINGS, "TOKEN": library.token(), "BASE": base}
        answers = [
            orjson.loads(
                subprocess.run(["bash", "-c", f"{example} -fsS"], env=environ, capture_output=True, check=True).stdout
            )
            for example in examples
        ]
    keys = [set(orjson.loads(text)) for text in re.findall(r'^```json\n(\{"version.*)\n```$', GUIDE, re.MULTILINE)]
    month = {"version", "month", "days", "ratio", "color", "type"}
    sequence = {"version", "from", "ratio", "color", "type", "photos", "next", "total"}
    assert [set(answer) for answer in answers] == [keys[0], month, sequence, keys[1]]
    assert answers[0]["total"] > 0
