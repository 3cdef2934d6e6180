"""Canonical text: parses back to the same nodes, and hostile text ends as nodes or as the one error."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from photosvc.query.areas import locate
from photosvc.query.filters import FILTERS, NAMES
from photosvc.query.lexer import quote, read_place
from photosvc.query.nodes import And, Choice, Everything, Filter, InvalidQueryError, Node, Not, Nothing, Or, TakenOut
from photosvc.query.parser import combine, parse_parameters
from photosvc.query.place_names import text_words
from tests.helpers.examples import examples
from tests.helpers.queries.parsing import parse_query
from tests.helpers.queries.query_strategies import HOSTILE, ODD_QUERIES, ODD_VALUES, UID
from tests.unit.query.canonical import canonical_text


def normal(node: Node) -> bool:
    """Whether the tree has the form that `nodes` promises."""
    match node:
        case And(parts) | Or(parts):
            own = type(node)
            return len(parts) > 1 and all(not isinstance(part, own | Everything) and normal(part) for part in parts)
        case Not(part):
            return not isinstance(part, Not | Everything) and normal(part)
        case _:
            return True


def has_names_far_behind(text: str) -> bool:
    """Tell that a name may be behind the terms that can be places: then no other text means only the word."""
    return any(read_place(text_words(word)) for word in text.split()[7:])


@examples(1000)
@given(st.one_of(HOSTILE, ODD_QUERIES))
@example("june june june june june june june june münchen")
def test_any_text_ends_as_nodes_in_normal_form_or_as_the_one_error(text: str) -> None:
    try:
        node = parse_query(text)
    except InvalidQueryError as error:
        fits = error.field == "q" and error.position is not None and 0 <= error.position < len(text)
    else:
        fits = True
        assert normal(node)
        assert has_names_far_behind(text) or parse_query(canonical_text(node)) == node
        assert has_names_far_behind(text) or canonical_text(parse_query(canonical_text(node))) == canonical_text(node)
    assert fits


@examples(1000)
@given(st.sampled_from(sorted(FILTERS)), ODD_VALUES, st.sampled_from(sorted(NAMES)), ODD_VALUES)
@example("city", '"ÆA"', "added", '""')
def test_any_parameters_end_as_nodes_or_as_the_one_error(name: str, text: str, other: str, more: str) -> None:
    try:
        node = combine(Everything(), parse_parameters([(name, text), (other, more)]))
    except InvalidQueryError as error:
        fits = error.field in {name, other}
    else:
        fits = True
        assert normal(node)
        assert locate(parse_query(canonical_text(node))) == node
    assert fits


def test_canonical_text() -> None:
    for query, text in (
        ("  ", ""),
        ("2019 AND (Cár)", "(2019* | year:2019-2019) car"),
        ("e|b c", "e | b c"),
        ("(e|b) c -(d e) -f", "(e | b) c -(d e) -f"),
        ('ab "abc" ab* abc*', 'ab "abc" ab* abc'),
        ('"and" and*', '"and" and*'),
        ("IMG_1234", '"img 1234*"'),
        ("people:jane&!john", "subjects:jane subjects:!john"),
        ('name:"e|b*c"', 'name:e|"b*c"'),
        (r'name:"\"\*\""', r'name:"\"\*\""'),
        ('title:lakes|"old lakes"|"*lake*"', 'title:lakes|"old lakes"|"*lake*"'),
        (r'title:a\*|"true"|lake\*|IMG_1234', r'title:a\*|"true"|lake|"img 1234\*"'),
        (r'title:true title:false title:!""|"\!"', r'title:!"" title:"" title:"\!"|!""'),
        ('original:"//x"', 'original:"//x"'),
        ("iso:-400 alt:-5 f:2.8", "iso:1-400 alt:-5--5 f:2.79-2.81"),
        ("before:2023 after:2023 taken:2023", "before:2023-12-31 after:2023-01-01 taken:2023-01-01-2023-12-31"),
        ("color:gray|!red", "color:grey|!red"),
        ("lat:0.0000001 lng:-0", "lat:0.0000001 lng:0"),
        ('camera:3|"3"|canon', 'camera:3|"3"|canon'),
        ("added:2024", "added:2024-01-01T00:00:00Z"),
        ("favorite:no public:yes", "favorite:false public:true"),
        ("path:/ path:/e/", "path:/ path:e"),
        (f"uid:{UID.upper()} near:{UID}@5.0", f"uid:{UID} near:{UID}@5"),
        ("latlng:1,2,3,4|1.50,2@3", "latlng:3,2,1,4|1.5,2@3"),
        ("s2:s2:4799E370CA54 olc:8fwchx7w+@1", "s2:4799e370ca54 olc:8FWCHX7W+@1"),
        ("taken:9999-12-31 taken:-2020", "taken:9999-12-31-* taken:*-2020-12-31"),
        ("-(-(e b))", "e b"),
    ):
        assert canonical_text(parse_query(query)) == text
        assert parse_query(text) == parse_query(query)


def test_text_of_early_years_keeps_four_digits() -> None:
    node = parse_query("added:0050 taken:0050")
    assert canonical_text(node) == "added:0050-01-01T00:00:00Z taken:0050-01-01-0050-12-31"
    assert datetime(50, 1, 1, tzinfo=UTC).isoformat().startswith("0050")


def test_injections_are_only_text() -> None:
    for payload in ("' OR 1=1 --", "'; DROP TABLE x; --", "%' UNION SELECT", string.punctuation):
        [item] = parse_query(f"name:{quote(payload)}").value.any_of  # type: ignore[union-attr]
        assert item.pieces == (payload.lower(),)


def test_what_a_search_looked_up_has_no_text() -> None:
    for node in (Nothing(), Filter("albums", Choice((TakenOut(1),)))):
        with pytest.raises(TypeError):
            canonical_text(node)
            pytest.fail(f"{node!r} is not refused")
