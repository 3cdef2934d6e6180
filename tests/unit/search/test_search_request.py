import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.errors import InvalidValueError
from photosvc.search.reading.request import (
    DEFAULT_ORDER,
    ORDERS,
    Cursor,
    order_named,
    parse_cursor,
)
from tests.helpers.examples import examples

INT64 = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 2**53 - 1)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


@examples(100)
@given(st.sampled_from(sorted(ORDERS)), COUNTS, COUNTS, st.lists(INT64 | TEXTS, max_size=5))
def test_a_cursor_comes_back_as_it_went(order, seed, position, values):
    cursor = Cursor(order, seed, position, tuple(values))
    assert parse_cursor(str(cursor)) == cursor
    assert str(cursor).replace("-", "").replace("_", "").isalnum()


@examples(100)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_cursor_or_refused(text):
    try:
        cursor = parse_cursor(text)
    except InvalidValueError:
        return
    assert parse_cursor(str(cursor)) == cursor


def test_a_deep_or_long_cursor_is_refused():
    for text in ("[" * 4000, "W1tb" * 1500, "A" * 8001):
        with pytest.raises(InvalidValueError):
            parse_cursor(text)
            pytest.fail(f"{text!r} is not refused")


def test_the_documented_orders_exist_and_explain_themselves():
    documented = "added updated edited relevance duration size newest oldest similar name title random"
    assert set(documented.split()) <= set(ORDERS)
    assert DEFAULT_ORDER == "added"
    assert all(name == order.name and order.help for name, order in ORDERS.items())


def test_an_unknown_order_is_refused_with_the_nearest():
    for name, reason in (
        ("newset", "did you mean newest?"),
        ("tittle", "did you mean title?"),
        ("x" * 500, "use one of added, updated"),
    ):
        with pytest.raises(InvalidValueError) as caught:
            order_named(name)
            pytest.fail(f"{name!r} is not refused")
        assert reason in caught.value.message, name
        assert caught.value.field == "order", name
