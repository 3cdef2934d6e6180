"""Any text as nodes in normal form or as one error, without a second meaning."""

import string

from hypothesis import given
from hypothesis import strategies as st

from photosvc.query.filters import FILTERS, NAMES
from photosvc.query.lexer import quote
from photosvc.query.nodes import And, Everything, InvalidQueryError, Node, Not, Or
from photosvc.query.parameters import combine, parse_parameters
from tests.databases.search.query_strategies import HOSTILE, ODD_QUERIES, ODD_VALUES
from tests.helpers.examples import examples
from tests.helpers.parsing import parse_query


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


@examples(1000)
@given(st.one_of(HOSTILE, ODD_QUERIES))
def test_any_text_gives_nodes_in_normal_form_or_an_invalid_query_error(text: str) -> None:
    try:
        fits = normal(parse_query(text))
    except InvalidQueryError as error:
        fits = error.field == "q" and error.position is not None and 0 <= error.position < len(text)
    assert fits


@examples(1000)
@given(st.sampled_from(sorted(FILTERS)), ODD_VALUES, st.sampled_from(sorted(NAMES)), ODD_VALUES)
def test_any_parameters_give_nodes_or_an_invalid_query_error(name: str, text: str, other: str, more: str) -> None:
    try:
        fits = normal(combine(Everything(), parse_parameters([(name, text), (other, more)])))
    except InvalidQueryError as error:
        fits = error.field in {name, other}
    assert fits


def test_injections_are_only_text() -> None:
    for payload in ("' OR 1=1 --", "'; DROP TABLE x; --", "%' UNION SELECT", string.punctuation):
        [item] = parse_query(f"name:{quote(payload)}").value.any_of  # type: ignore[union-attr]
        assert item.pieces == (payload.lower(),)
