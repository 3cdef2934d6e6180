"""docs/search.md says what the table of filters says, and every example in it can be run."""

import re
import subprocess
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from photosvc.api.search import parse_facets
from photosvc.cli.show import show
from photosvc.query.filters import FILTERS
from photosvc.search.reading.facets import FACETS
from photosvc.search.reading.orders import ORDERS
from photosvc.search.reading.pages import find
from photosvc.search.reading.request import parse_request
from photosvc.search.rows.write import project
from tests.support.factories.varied_library import fill_varied_library
from tests.support.library import SURROUNDINGS, migrated_database, open_library
from tests.support.programs.server import serve

GUIDE = (Path(__file__).parents[2] / "docs/search.md").read_text()
BEGIN, END = "<!-- filters: svc show filters --md -->\n\n", "\n<!-- end -->"


def test_the_guide_has_the_table_of_filters():
    table = CliRunner().invoke(show, ["filters", "--md"]).output
    assert GUIDE.partition(BEGIN)[2].partition(END)[0] == table


def test_the_guide_names_every_order_and_facet():
    assert all(f"`{order}`" in GUIDE for order in ORDERS)
    assert parse_facets(GUIDE.partition("`by` names any of `")[2].partition("`")[0].replace(" ", ",")) == list(FACETS)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    path = tmp_path_factory.mktemp("docs") / "test.db"
    path.write_bytes(migrated_database(of_a_host=True))
    engine = create_engine(f"sqlite:///{path}")
    with Session(engine) as session:
        photos, _ = fill_varied_library(session, photos=12)
        photos[0].uid = "pqbcf5j446s0futy"  # the photo of the examples
        photos[0].quality, photos[0].archived_at, photos[0].files[0].error = 3, None, ""
        project(session, [photos[0].id])
        yield session
    engine.dispose()


@pytest.mark.parametrize("spec", FILTERS.values(), ids=FILTERS)
def test_every_example_runs(session, spec):
    page = find(session.connection(), parse_request({"q": spec.example}), sees_private=True)
    assert page.body.startswith("[")


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
    assert [set(answer) for answer in answers] == [keys[0], keys[1], {"version", "month", "from", "photos"}, keys[2]]
    assert answers[0]["total"] > 0
