"""docs/search.md names every filter, order and facet, and its examples of requests run."""

import re
import subprocess
from pathlib import Path

import orjson
import pytest

from photosvc.api.search import parse_facets
from photosvc.query.filter_spec import Kind
from photosvc.query.filters import FILTERS
from photosvc.search.reading.facets import FACETS
from photosvc.search.reading.request import ORDERS
from tests.helpers.factories.varied_library import fill_varied_library
from tests.helpers.library import SURROUNDINGS, open_library
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[3] / "docs/search.md").read_text()


def test_the_guide_has_every_filter_by_each_of_its_names():
    texts = re.findall(r"`([^`\n]+)`", GUIDE)
    named = {*texts, *(name for one in texts for name in re.findall(r"(\w+):", one))}
    known = {name for spec in FILTERS.values() for name in (spec.name, *spec.aliases)}
    assert known - named == set()
    switches = re.search(r"^Yes-or-no filters, such as .+?: (.+?)\.\s", GUIDE, re.DOTALL | re.MULTILINE)[1]
    assert set(re.findall(r"`(\w+)`", switches)) == {
        spec.name for spec in FILTERS.values() if spec.kind in (Kind.FLAG, Kind.SWITCH)
    }


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
