"""Hints for a search that found nothing: similar words of the library, and the part of the query that excluded all.

Each hint is a query that finds photos which the caller may see. Looking for them is bounded: by the number of words
that are compared, by the photos that are counted for each query, and by the work of the database. The work is counted
in steps and not in seconds, so that the load of the machine changes no hint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, func, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.message import counted
from photosvc.core.text import names_like
from photosvc.models import Keyword, SearchRow, SearchText, photo_keywords
from photosvc.models.statements import begins
from photosvc.query.fold import words
from photosvc.query.lexer import Token, TokenKind, close_quote
from photosvc.query.nodes import excerpt
from photosvc.query.parser import read_tokens, split_order, understand
from photosvc.query.spoken import SPOKEN_WORDS
from photosvc.search.limits import Steps, expected_steps, within_steps
from photosvc.search.reading.compile import visible
from photosvc.search.reading.photos import find_photos, parse_query
from photosvc.search.reading.request import last_value
from photosvc.search.reading.suggest import Names, is_used

#: Photos that are counted for each hint; answers say when there are more.
MOST_COUNTED: Final = 100
MOST_HINTS: Final = 3
#: Terms of a query that are left out one by one, and words that are compared with those of the library.
_MOST_PARTS: Final = 8
_MOST_TYPOS: Final = 4
#: Similar words that are tried for each word.
_MOST_TRIED: Final = 2
_SHORTEST: Final = 4
_SLIPS: Final = 2
#: The most letters that a similar word is shorter than the typed one.
_MOST_SHORTER: Final = 1
#: The photos added last whose words are compared, and the keywords.
_RECENT: Final = 1000
_MOST_KEYWORDS: Final = 5000
#: The work of all counts together.
_MOST_STEPS: Final = 100
_LONGEST_HEADER: Final = 400
_PRINTED: Final = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


@dataclass(frozen=True, slots=True)
class Hint:
    """A query that finds photos."""

    kind: str
    """`word`: a similar word; `part`: without a part of the query."""
    text: str
    """The query."""
    label: str
    """The hint for people."""
    count: int
    more: bool
    """True if the query finds more photos than `count`."""
    without: str = ""
    """The part of the query that this one is without."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A term of a query outside of groups, or a group."""

    start: int
    end: int
    word: str
    """The word, if the part is one that means only itself."""


def find_hints(
    connection: Connection,
    pairs: Sequence[tuple[str, str]],
    names: Names,
    *,
    sees_private: bool,
    today: date,
) -> list[Hint]:
    """Return hints for a search that found nothing, the best first."""
    query = last_value(pairs, "q")
    try:
        query = split_order(close_quote(query))[0].strip()
        parts = _parts(query, today)
    except InvalidValueError:
        return []
    others = [pair for pair in pairs if pair[0] != "q"]
    search = _VariantCounter(connection, others, sees_private=sees_private, today=today)
    hints: list[Hint] = []
    with within_steps(connection, search.steps):
        hints.extend(_similar(search, query, parts, names))
        hints.extend(_without(search, query, parts))
    return sorted(hints, key=lambda hint: (hint.kind != "word", -hint.count))[:MOST_HINTS]


def may_have_hints(pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether a search has words, which alone have hints: without them, no names need be read for it."""
    return bool(last_value(pairs, "q"))


def finds(connection: Connection, pairs: Sequence[tuple[str, str]], *, sees_private: bool, today: date) -> bool:
    """Return whether a search finds any photo; one that is not valid does not."""
    search = _VariantCounter(connection, pairs[1:], sees_private=sees_private, today=today)
    counts: list[int | None] = []
    with within_steps(connection, search.steps):
        counts.append(search.count(pairs[0][1], most=0))
    return counts != [0]  # it may take too many steps to tell


def header_of(hints: Sequence[Hint]) -> str:
    """Return the hints as the value of a header: printable ASCII characters, others percent-encoded."""
    text = quote("; ".join(hint.label for hint in hints), safe=_PRINTED)
    return text if len(text) <= _LONGEST_HEADER else text[: text.rfind(";", 0, _LONGEST_HEADER)]


class _VariantCounter:
    """Counts of the photos that variants of a query find."""

    def __init__(
        self, connection: Connection, others: Sequence[tuple[str, str]], *, sees_private: bool, today: date
    ) -> None:
        self.connection = connection
        self.sees_private = sees_private
        self._today = today
        self._others = others
        self.steps = Steps(_MOST_STEPS)

    def count(self, query: str, *, alone: bool = False, most: int = MOST_COUNTED) -> int | None:
        """Return how many photos a query finds, at most one more than `most`; None if counting them costs too much.

        With `alone`, the other parameters of the search do not count.
        """
        pairs = [("q", query), *([] if alone else self._others)]
        try:
            photo_query = parse_query(pairs, self._today, sees_private=self.sees_private)
            photos = find_photos(self.connection, photo_query, rows_needed=max(most, 1))
        except (InvalidValueError, NotFoundError):
            return 0
        photo_ids: Any = photos.select(SearchRow.photo_id).distinct().limit(most + 1).subquery()
        counting = select(func.count()).select_from(photo_ids)
        on_postgresql = self.connection.dialect.name == "postgresql"
        if on_postgresql and not self.steps.take(expected_steps(self.connection, counting)):
            return None
        return self.connection.scalar(counting) or 0


def _parts(query: str, today: date) -> list[_Part]:
    """Return the terms of a query that all must match; none if it has alternatives."""
    tokens, depth = read_tokens(query), 0
    for token in tokens:
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if not depth and token.kind is TokenKind.EITHER:
            return []
    spoken = {meaning.start: meaning.end for meaning in understand(query, today)}
    return [part for part in _terms(tokens, spoken) if part.end > part.start]


def _terms(tokens: Sequence[Token], spoken: dict[int, int]) -> Iterator[_Part]:
    depth, start, end = 0, None, 0
    for token in tokens:
        if token.start < end or (depth == 0 and token.kind is TokenKind.BOTH):
            continue  # it belongs to words that mean a filter, or is an `and`
        start = token.start if start is None else start
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if depth or token.kind is TokenKind.NEGATE:
            continue
        end = spoken.get(token.start, token.end)
        plain = token.kind is TokenKind.WORD and start == token.start and token.start not in spoken
        yield _Part(start, end, token.text if plain else "")
        start = None


def _similar(search: _VariantCounter, query: str, parts: Sequence[_Part], names: Names) -> Iterator[Hint]:
    """Yield the query with a similar word of the library in place of one that no photo has."""
    known: frozenset[str] = frozenset()
    for part in [part for part in parts if len(part.word) >= _SHORTEST][:_MOST_TYPOS]:
        folded = words(part.word)
        if len(folded) != 1 or search.count(part.word, alone=True, most=0) != 0:
            continue
        known = known or _vocabulary(search, names)
        for word in _near(folded[0], [*known, *_keywords(search, folded[0])]):
            text = query[: part.start] + word + query[part.end :]
            if count := search.count(text):
                yield _hint("word", text, f"did you mean {word}?", count)
                break


def _near(typed: str, known: Sequence[str]) -> list[str]:
    """Return the known words that are nearest to the typed one.

    Slips at both of the first two letters are rare, and a slip loses one letter at most: few words are left to compare.
    """
    first, letters, length = typed[:2], frozenset(typed), len(typed)
    likely = {
        word
        for word in known
        if word[0] in first
        and -_MOST_SHORTER <= len(word) - length <= _SLIPS
        and len(letters.difference(word)) <= _SLIPS
    }
    return names_like(typed, likely, _MOST_TRIED)


def _vocabulary(search: _VariantCounter, names: Names) -> frozenset[str]:
    """Return words of the photos added last, of the names of values, and words that mean a filter."""
    seen = visible(sees_private=search.sees_private)
    query = select(SearchText.words).join(SearchRow, SearchRow.photo_id == SearchText.photo_id)
    query = query.where(seen, SearchRow.is_first).order_by(SearchRow.newest_key.desc()).limit(_RECENT)
    named = (value.folded for values in names.values() for value in values[:_MOST_KEYWORDS])
    return SPOKEN_WORDS.union(" ".join((*search.connection.scalars(query), *named)).split())


def _keywords(search: _VariantCounter, word: str) -> list[str]:
    """Return keywords that begin with the same letter."""
    of_photo = photo_keywords.c.keyword_id == Keyword.id, SearchRow.photo_id == photo_keywords.c.photo_id
    query = select(Keyword.folded).where(
        begins(Keyword.folded, word[0]), is_used(*of_photo, sees_private=search.sees_private)
    )
    query = query.order_by(Keyword.folded).limit(_MOST_KEYWORDS)
    return [keyword for keyword in search.connection.scalars(query) if keyword.isalnum()]


def _without(search: _VariantCounter, query: str, parts: Sequence[_Part]) -> Iterator[Hint]:
    """Yield the query without each of its parts, as far as it then finds photos."""
    if len(parts) < 2:
        return
    # Words are found fast, so the parts without which only words remain come first.
    for part in sorted(parts[:_MOST_PARTS], key=lambda part: bool(part.word)):
        text = " ".join(f"{query[: part.start]} {query[part.end :]}".split()).strip()
        if count := search.count(text):
            photos = counted(min(count, MOST_COUNTED), "photo")
            more = "more than " * (count > MOST_COUNTED)
            without = excerpt(query[part.start : part.end])[1:-1]
            yield replace(_hint("part", text, f"{more}{photos} without {without}", count), without=without)


def _hint(kind: str, text: str, label: str, count: int) -> Hint:
    return Hint(kind, text, label, min(count, MOST_COUNTED), count > MOST_COUNTED)
