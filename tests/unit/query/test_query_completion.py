"""`find_typed`: what is typed at a position of a query that need not be valid yet."""

from hypothesis import given
from hypothesis import strategies as st

from photosvc.query.completion import Typed, find_typed
from photosvc.query.lexer import quote, read_groups


def test_what_stands_before_the_end_is_typed():
    for query, expected in (
        ("", Typed(0, 0, "", "")),
        ("lake ", Typed(5, 5, "", "")),
        ("lak", Typed(0, 3, "", "lak")),
        ("lake cam", Typed(5, 8, "", "cam")),
        ("-lak", Typed(1, 4, "", "lak")),
        ("lake -", Typed(6, 6, "", "")),
        ("(lak", Typed(1, 4, "", "lak")),
        ("lake|su", Typed(5, 7, "", "su")),
        ('"new yo', Typed(0, 7, "", "new yo")),
        ('"new york"', Typed(0, 10, "", "new york")),
        ("camera:", Typed(7, 7, "camera", "")),
        ("CAMERA:ca", Typed(7, 9, "camera", "ca")),
        ('camera:"canon e', Typed(7, 15, "camera", "canon e")),
        ("tags:be", Typed(5, 7, "keywords", "be")),
        ("city:Paris|Lon", Typed(11, 14, "city", "Lon")),
        ("city:!Lon", Typed(6, 9, "city", "Lon")),
        ('city:"Paris"|"New Y', Typed(13, 19, "city", "New Y")),
        (r'city:"a\"b|c', Typed(5, 12, "city", 'a"b|c')),
        ("keywords:a&b", Typed(11, 12, "keywords", "b")),
        ("title:a&b", Typed(6, 9, "title", "a&b")),
        ("nosuch:x", Typed(0, 8, "", "nosuch:x")),
        ("color:red)", Typed(10, 10, "", "")),
    ):
        assert find_typed(query, len(query)) == expected


def test_the_word_around_the_position_is_replaced():
    for query, at, expected in (
        ("lake camera:can year:2020", 14, Typed(12, 15, "camera", "ca")),
        ("lake camera:can year:2020", 2, Typed(0, 4, "", "la")),
        ('city:"New Yo" lake', 12, Typed(5, 13, "city", "New Yo")),
        ("lake", -5, Typed(0, 4, "", "")),
        ("lake", 99, Typed(0, 4, "", "lake")),
        ("日本 x", 2, Typed(0, 2, "", "日本")),
    ):
        found = find_typed(query, at)
        assert found == (expected if at > 0 else Typed(0, 0, "", "")), query


@given(st.text(alphabet='ab :"\\|&()-!*é\n', max_size=40), st.integers(-2, 45))
def test_any_text_at_any_position_has_something_typed_inside_of_it(query, at):
    found = find_typed(query, at)
    assert 0 <= found.start <= found.end <= len(query)


@given(st.text(min_size=1, max_size=20).filter(str.strip))
def test_a_quoted_value_is_read_as_it_was(value):
    ((found,),) = read_groups(quote(value), "|!-*&", empties=True)
    assert (found.text, found.negated) == (value, False)
