"""docs/search.md names every filter, order and facet, and its examples of requests run."""

import re
from pathlib import Path

from photosvc.api.search import parse_facets
from photosvc.query.filters import FILTERS, ValueKind
from photosvc.search.reading.facets import FACETS
from photosvc.search.reading.request import ORDERS

GUIDE = (Path(__file__).parents[3] / "docs/search.md").read_text()


def test_the_guide_has_every_filter_by_each_of_its_names():
    texts = re.findall(r"`([^`\n]+)`", GUIDE)
    named = {*texts, *(name for one in texts for name in re.findall(r"(\w+):", one))}
    known = {name for spec in FILTERS.values() for name in (spec.name, *spec.aliases)}
    assert known - named == set()
    switches = re.search(r"^Yes-or-no filters, such as .+?: (.+?)\.\s", GUIDE, re.DOTALL | re.MULTILINE)[1]
    assert set(re.findall(r"`(\w+)`", switches)) == {
        spec.name for spec in FILTERS.values() if spec.kind in (ValueKind.FLAG, ValueKind.SWITCH)
    }


def test_the_guide_names_every_order_and_facet():
    assert all(f"`{order}`" in GUIDE for order in ORDERS)
    assert parse_facets(GUIDE.partition("`by` names any of `")[2].partition("`")[0].replace(" ", ",")) == list(FACETS)
