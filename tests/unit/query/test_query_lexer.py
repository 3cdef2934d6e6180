"""The tokens of the lexer: their kinds and spans, without a lost character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.query.lexer import LONGEST_QUERY, Token, TokenKind, check_text, close_quote, tokens
from photosvc.query.nodes import InvalidQueryError
from tests.helpers.examples import examples


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind.value, token.text) for token in tokens(text)]


def test_tokens_know_their_place_and_key() -> None:
    assert list(tokens('-Color:red "a b"')) == [
        Token(TokenKind.NEGATE, "-", 0, 1),
        Token(TokenKind.FILTER, "Color:red", 1, 10, "Color"),
        Token(TokenKind.PHRASE, '"a b"', 11, 16),
    ]


def test_each_piece_has_its_kind() -> None:
    for text, expected in (
        ("a|b||c", [("word", "a"), ("either", "|"), ("word", "b"), ("either", "||"), ("word", "c")]),
        ("a&b", [("word", "a"), ("both", "&"), ("word", "b")]),
        ("(a)", [("open", "("), ("word", "a"), ("close", ")")]),
        ("well-known", [("word", "well-known")]),
        ("!a -(", [("negate", "!"), ("word", "a"), ("negate", "-"), ("open", "(")]),
        ("a - b !", [("word", "a"), ("word", "-"), ("word", "b"), ("word", "!")]),
        ("(-)", [("open", "("), ("word", "-"), ("close", ")")]),
        ("12:30", [("word", "12:30")]),
        ("http://x", [("word", "http://x")]),
        ("file-name:x", [("filter", "file-name:x")]),
        ('album:"A (b) c"|x)', [("filter", 'album:"A (b) c"|x'), ("close", ")")]),
        (r'title:"say \"hi\" \\"', [("filter", r'title:"say \"hi\" \\"')]),
        (r"title:\"x", [("filter", r"title:\"x")]),
        ("path:a\\", [("filter", "path:a\\")]),
        ('a "b', [("word", "a"), ("stray", '"')]),
        ('title:"b', [("filter", "title:"), ("stray", '"')]),
        ("größe:5", [("filter", "größe:5")]),
    ):
        assert kinds(text) == expected


@examples(300)
@given(st.text(alphabet='ab:*|&!-()"\\ \n\té', max_size=60))
def test_no_character_up_to_an_unclosed_quote_is_lost(text: str) -> None:
    at = 0
    for token in tokens(text):
        if token.kind is TokenKind.STRAY:
            return
        assert not text[at : token.start].strip()
        assert text[token.start : token.end] == token.text
        at = token.end
    assert not text[at:].strip()


def test_nothing_is_read_behind_a_quote_that_is_not_closed() -> None:
    for text in ('\\"' * 2048, '"a\\' * 1365):
        assert [token.kind for token in tokens(text)][-1] is TokenKind.STRAY
        assert len(list(tokens(text))) <= 2


def test_text_may_be_as_long_as_the_cap_and_no_longer() -> None:
    check_text("x" * LONGEST_QUERY, "q")
    with pytest.raises(InvalidQueryError, match="q has 4,097 characters; 4,096 are allowed") as caught:
        check_text("x" * (LONGEST_QUERY + 1), "q")
    assert caught.value.field == "q"


def test_characters_that_no_database_stores_are_refused() -> None:
    for character in ("\x00", "\x1f", "\x7f", "\ud800"):
        with pytest.raises(InvalidQueryError) as caught:
            check_text("ab" + character, "title")
            pytest.fail(f"{character!r} is not refused")
        assert (caught.value.field, caught.value.position) == ("title", 2), character
        assert caught.value.message == "title holds a control character (character 3)", character


def test_blanks_are_no_control_characters() -> None:
    check_text("a\tb\r\nc", "q")


def test_a_page_closes_the_last_quote_of_a_query():
    for typed, closed in (
        ('lake "sea', 'lake "sea"'),
        ('"lake\\', '"lake\\\\"'),
        ('"lake"', '"lake"'),
        ("lake", "lake"),
    ):
        assert close_quote(typed) == closed
