"""The parts of a query that an error names as costly."""

from photosvc.query.filters import FILTERS
from photosvc.search.limits import costly_parts
from tests.helpers.parsing import parse_query

UNINDEXED = "no index finds photos by this: it is compared with every one"
MANY = "this part of the search reads very many photos"


def named(query, part="q"):
    return [(detail["field"], detail["message"]) for detail in costly_parts(parse_query(query), part)]


def test_filters_without_an_index_are_named_once_in_order():
    for query, fields in (
        ("iso:100", ["iso"]),
        ("year:2023 iso:100 -(mm:35 | lake)", ["iso", "mm"]),
        ("description:*a*|*b* iso:1 description:c", ["description", "iso"]),
        ("-(camera:canon (country:de | f:2.8))", ["f"]),
    ):
        assert named(query) == [(field, UNINDEXED) for field in fields]


def test_where_every_part_has_an_index_all_are_named():
    for query, fields in (
        ("lake", ["q"]),
        ('"blue lake" | snow', ["q"]),
        ("lake year:2023 color:red lake", ["q", "year", "color"]),
        ("album:winter keywords:snow", ["album", "keywords"]),
        ("taken:2023", ["taken"]),
    ):
        assert named(query) == [(field, MANY) for field in fields]


def test_without_a_query_the_parameter_is_named():
    assert named("", "by") == [("by", MANY)]
    assert [detail["field"] for detail in costly_parts(None, "bbox")] == ["bbox"]


def test_at_most_ten_parts_are_named():
    query = " ".join(
        f"{name}:1" for name in ("iso", "mm", "f", "mp", "diff", "day", "month", "alt", "quality", "stack")
    )
    assert len(named(f"{query} portrait:true scan:true")) == 10


def test_each_name_is_that_of_a_filter():
    for spec in FILTERS.values():
        fields = [field for field, _ in named(spec.example)]
        assert set(fields) <= {*FILTERS, "q"}
