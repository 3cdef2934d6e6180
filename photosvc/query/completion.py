"""The part of a query at a position, for suggestions; the query need not be valid."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from photosvc.query.filters import NAMES
from photosvc.query.lexer import Token, TokenKind, tokens
from photosvc.query.parser import MOST_TOKENS

#: Characters that may follow the position and still belong to the same word.
_REST: Final = re.compile(r'[^\s()"|&]*')
_MARKS: Final = re.compile(r'\\([\\"|&*])|"')
_SIGNS: Final = "!-"
_OPERATORS: Final = frozenset("|&")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A word, or an alternative in the value of a filter."""

    start: int
    end: int
    """The characters of the query that a suggestion replaces; positions are counted in code points."""
    key: str
    """The name of the filter in `FILTERS`; empty for a word."""
    text: str
    """The typed text before the position, without quotes."""


def find_fragment(query: str, at: int) -> Fragment:
    """Find the word or alternative at a position; a position outside of the query is moved to its nearest end.

    A word may become the name of a filter. In a value with several alternatives it is the last one, without a sign.
    After a blank the fragment is empty.
    """
    at = max(0, min(at, len(query)))
    before = query[:at]
    sequence = list(islice(tokens(before), MOST_TOKENS))
    last = sequence[-1] if sequence else None
    if last is None or (last.kind is not TokenKind.STRAY and last.end < at):
        return Fragment(at, at, "", "")
    rest = _REST.match(query, at)
    end = rest.end() if rest else at
    if last.kind is TokenKind.STRAY:  # a quote that is not closed yet
        end += query.startswith('"', end)
        previous = sequence[-2] if len(sequence) > 1 else None
        if previous and previous.kind is TokenKind.FILTER and previous.end == last.start:
            return _value(previous, before[previous.start :], end)
        return Fragment(last.start, end, "", before[last.start + 1 :].lstrip(_SIGNS))
    if last.kind is TokenKind.FILTER:
        return _value(last, last.text, end)
    if last.kind in {TokenKind.WORD, TokenKind.PHRASE} and last.text.strip(_SIGNS):
        return Fragment(last.start, end, "", last.text.replace('"', "").lstrip(_SIGNS))
    return Fragment(at, at, "", "")


def _value(token: Token, text: str, end: int) -> Fragment:
    """Return the last alternative in the value of a filter; `text` is the filter up to the position."""
    spec = NAMES.get(token.key.lower())
    if spec is None:
        return Fragment(token.start, end, "", text.lstrip(_SIGNS))
    operators = _OPERATORS & set(spec.operators)
    first = begin = len(token.key) + 1
    inside = escaped = False
    for number in range(first, len(text)):
        character = text[number]
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            inside = not inside
        elif character in operators and not inside:
            begin = number + 1
    if text[begin : begin + 1] and text[begin] in _SIGNS and text[begin] in spec.operators:
        begin += 1
    typed = _MARKS.sub(lambda mark: mark[1] or "", text[begin:])
    return Fragment(token.start + begin, end, spec.name, typed)
