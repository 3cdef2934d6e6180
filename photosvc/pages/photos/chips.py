"""The filters of a query, each with the query that is left without it."""

from dataclasses import dataclass
from typing import Final

from photosvc.query.lexer import TokenKind, tokens
from photosvc.query.parser import NEGATION_WORD, OPERATOR_WORDS

_MOST: Final = 20
_EITHER_WORDS: Final = frozenset(word for word, kind in OPERATOR_WORDS.items() if kind is TokenKind.EITHER)


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter of the query."""

    name: str
    value: str
    negated: bool
    rest: str
    """The query without it."""


def chips_of(query: str) -> list[Chip]:
    """The filters outside of groups and alternatives of a valid query, in order."""
    found, depth = list[Chip](), 0
    known = list(tokens(query))
    if any(token.kind is TokenKind.EITHER or token.text.lower() in _EITHER_WORDS for token in known):
        return []
    for before, token in zip([None, *known], known, strict=False):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if token.kind is TokenKind.FILTER and depth == 0 and len(found) < _MOST:
            sign = before if before and (before.kind is TokenKind.NEGATE or before.text == NEGATION_WORD) else None
            start = sign.start if sign else token.start
            rest = f"{query[:start].rstrip()} {query[token.end :].lstrip()}".strip()
            found.append(Chip(token.key, token.text[len(token.key) + 1 :], sign is not None, rest))
    return found
