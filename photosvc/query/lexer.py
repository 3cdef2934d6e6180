"""The lexer of queries; each character belongs to one token, up to a quote that is not closed."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from photosvc.query.nodes import InvalidQueryError

LONGEST_QUERY = 4096


class TokenKind(StrEnum):
    """The kind of a token."""

    OPEN = "open"
    CLOSE = "close"
    EITHER = "either"
    BOTH = "both"
    NEGATE = "negate"
    FILTER = "filter"
    PHRASE = "phrase"
    WORD = "word"
    STRAY = "stray"


class Token(NamedTuple):
    """A piece of the query and its position; for a filter also its key, as written and without the colon.

    A named tuple, because one query may have thousands.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    key: str = ""


#: `alternatives` reads the quotes and backslashes inside a value. A key starts with a letter, so that 12:30 is a word;
#: a colon before two slashes makes an address, which is a word too. A sign with nothing after it is punctuation.
#: Possessive repeats keep the scan linear.
_TOKEN = re.compile(
    r"""
      (?P<blank>\s++)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<either>\|++)
    | (?P<both>&++)
    | (?P<filter>(?P<key>[^\W\d_][\w-]*+):(?!//)(?:"(?:[^"\\]|\\.)*+"|\\[\\"|&*]|[^\s()"])*+)
    | (?P<phrase>"(?:[^"\\]|\\.)*+")
    | (?P<negate>[-!]++(?=[^\s)|&]))
    | (?P<word>[^\s()|&"]++)
    | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_KINDS = {kind.value: kind for kind in TokenKind}


def check(text: str, field: str) -> None:
    """Refuse text that is too long, or contains characters that no database can store.

    Raises:
        InvalidQueryError: the text is refused.
    """
    if len(text) > LONGEST_QUERY:
        raise InvalidQueryError(f"{field} has {len(text)} characters; {LONGEST_QUERY} are allowed", field=field)
    if found := _UNPRINTABLE.search(text):
        raise InvalidQueryError(f"{field} holds a control character", field=field, position=found.start())


def close_quote(text: str) -> str:
    """Return the text with a last quote that is not closed closed at its end."""
    if '"' not in text:
        return text
    opened = next((token for token in tokens(text) if token.kind is TokenKind.STRAY), None)
    if opened is None:
        return text
    slashes = len(text) - len(text.rstrip("\\"))
    return text + "\\" * (slashes % 2) + '"'


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text` from left to right, without blanks, up to an unclosed quote.

    Reading stops there because for each further quote the rest of the text would be searched again.
    """
    for match in _TOKEN.finditer(text):
        kind = _KINDS.get(match.lastgroup or "")
        if kind is not None:
            start, end = match.span()
            yield Token(kind, text[start:end], start, end, match["key"] or "")
            if kind is TokenKind.STRAY:
                return
