"""The parts of a query that an error names as costly, and the cost of an error."""

from difflib import SequenceMatcher
from types import SimpleNamespace

import pytest

from photosvc.core.errors import NotFoundError
from photosvc.query.filters import FILTERS
from photosvc.search.costly_parts import costly_parts
from photosvc.search.reading import lookups
from photosvc.search.reading.lookups import _names_like, find_town
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


def test_few_of_the_names_like_an_unknown_place_are_compared_letter_by_letter(monkeypatch):
    compared, ratio = [], SequenceMatcher.ratio
    monkeypatch.setattr(SequenceMatcher, "ratio", lambda self: (compared.append(self), ratio(self))[1])
    for name, like in (
        ("san drian de juarrosxz", "san adrian de juarros"),
        ("santago cuautlalpanxz", "santiago cuautlalpan"),
    ):
        compared.clear()
        assert len([*_names_like(name)]) > 1900
        with pytest.raises(NotFoundError, match=f'no place "{name}"; did you mean "{like}"'):
            find_town(name, "")
        assert 0 < len(compared) < 500, name


def test_an_unknown_place_is_refused_after_few_rows_at_each_of_which_other_threads_may_interrupt_it(monkeypatch):
    rows = []

    class Counted:
        def execute(self, *asked):
            return (rows.append(row) or row for row in table.connection.execute(*asked))

    table = lookups._TABLE
    monkeypatch.setattr(lookups, "_TABLE", SimpleNamespace(connection=Counted()))
    with pytest.raises(NotFoundError, match='no place "san migueeel"; did you mean "san miguel"'):
        find_town("san migueeel", "")
    assert len(rows) < 5
