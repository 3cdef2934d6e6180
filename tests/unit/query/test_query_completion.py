"""The part of a query at a position, for queries that need not be valid yet."""

from hypothesis import given
from hypothesis import strategies as st

from photosvc.query.completion import Fragment, find_fragment
from photosvc.query.lexer import quote, read_alternatives


def test_the_fragment_is_the_text_before_the_end():
    for query, expected in (
        ("", Fragment(0, 0, "", "")),
        ("lake ", Fragment(5, 5, "", "")),
        ("lak", Fragment(0, 3, "", "lak")),
        ("lake cam", Fragment(5, 8, "", "cam")),
        ("-lak", Fragment(1, 4, "", "lak")),
        ("lake -", Fragment(6, 6, "", "")),
        ("(lak", Fragment(1, 4, "", "lak")),
        ("lake|su", Fragment(5, 7, "", "su")),
        ('"new yo', Fragment(0, 7, "", "new yo")),
        ('"new york"', Fragment(0, 10, "", "new york")),
        ("camera:", Fragment(7, 7, "camera", "")),
        ("CAMERA:ca", Fragment(7, 9, "camera", "ca")),
        ('camera:"canon e', Fragment(7, 15, "camera", "canon e")),
        ("tags:be", Fragment(5, 7, "keywords", "be")),
        ("city:Paris|Lon", Fragment(11, 14, "city", "Lon")),
        ("city:!Lon", Fragment(6, 9, "city", "Lon")),
        ('city:"Paris"|"New Y', Fragment(13, 19, "city", "New Y")),
        (r'city:"a\"b|c', Fragment(5, 12, "city", 'a"b|c')),
        ("keywords:a&b", Fragment(11, 12, "keywords", "b")),
        ("title:a&b", Fragment(6, 9, "title", "a&b")),
        ("nosuch:x", Fragment(0, 8, "", "nosuch:x")),
        ("color:red)", Fragment(10, 10, "", "")),
    ):
        assert find_fragment(query, len(query)) == expected


def test_the_word_around_the_position_is_replaced():
    for query, at, expected in (
        ("lake camera:can year:2020", 14, Fragment(12, 15, "camera", "ca")),
        ("lake camera:can year:2020", 2, Fragment(0, 4, "", "la")),
        ('city:"New Yo" lake', 12, Fragment(5, 13, "city", "New Yo")),
        ("lake", -5, Fragment(0, 4, "", "")),
        ("lake", 99, Fragment(0, 4, "", "lake")),
        ("日本 x", 2, Fragment(0, 2, "", "日本")),
    ):
        found = find_fragment(query, at)
        assert found == (expected if at > 0 else Fragment(0, 0, "", "")), query


@given(st.text(alphabet='ab :"\\|&()-!*é\n', max_size=40), st.integers(-2, 45))
def test_any_text_at_any_position_has_something_typed_inside_of_it(query, at):
    found = find_fragment(query, at)
    assert 0 <= found.start <= found.end <= len(query)


@given(st.text(min_size=1, max_size=20).filter(str.strip))
def test_a_quoted_value_is_read_as_it_was(value):
    ((found,),) = read_alternatives(quote(value), "|!-*&", empties=True)
    assert (found.text, found.negated) == (value, False)
