"""Candidates, the photos that the index of one condition finds, and their number.

The full-text index of PostgreSQL tells about how many photos have a word.

Photos of words that may also mean a filter, such as `december`, need no word. Those with one are ranked and sorted; all
others have the rank 0, and are found as if no rank counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, func, select
from sqlalchemy.util import memoized_property

from photosvc.models import FileKey, SearchRow, SearchText
from photosvc.models.search import WORD_TERMS
from photosvc.models.search_values import Term
from photosvc.models.statements import run_text
from photosvc.query.nodes import Node, Not, Or, Word, conjunction, disjunction, terms
from photosvc.search.reading import words as word_index
from photosvc.search.reading.columns import Context, select_ids

#: Values that a row of a walk is compared with as fast as it is read.
_LIGHT_VALUES = 8
_MATCHING: Final = f"FROM {SearchText.__tablename__} WHERE {WORD_TERMS} @@ %(asked)s::tsquery"
#: PostgreSQL expects a number by the shares of words in its statistics.
_ESTIMATE: Final = f"EXPLAIN (FORMAT JSON) SELECT 1 {_MATCHING}"
_FOUND: Final = f"SELECT photo_id {_MATCHING} LIMIT %(most)s"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The photos that the index of some conjuncts finds: all that match, and maybe further ones."""

    parts: tuple[Node, ...]
    """The conjuncts that the index was asked for."""
    photos: Any
    """The SELECT of their ids."""
    exact: tuple[Node, ...] = ()
    """The conjuncts that all candidates match; they are not checked again."""
    scanned: bool = False
    """True if the whole index is read to find them."""


class Counter:
    """A counter of candidates up to a limit."""

    def __init__(self, connection: Connection, rows_needed: int, values: int) -> None:
        self.rows_needed = rows_needed
        self._connection = connection
        self._weight = max(1, values // _LIGHT_VALUES)

    @memoized_property  # without a lock: see `Search.plan`
    def photos(self) -> int:
        """Return the highest photo id, as a measure of the size of the library."""
        newest = self._connection.scalar(select(func.max(SearchRow.newest_key)).where(SearchRow.listed)) or 0
        return FileKey.unpack_photo_id(newest)

    @memoized_property
    def limit(self) -> int:
        """Return the most candidates that are sorted faster than the order is walked (see `plan`)."""
        return math.isqrt(self.rows_needed * (self.photos + 1) * self._weight) // 2

    def count(self, candidates: Candidates) -> int:
        """Count the candidates, at most one more than the limit."""
        some = candidates.photos.limit(self.limit + 1).subquery()
        return self._connection.scalar(select(func.count()).select_from(some)) or 0

    def find(self, candidates: Candidates, context: Context) -> tuple[Candidates, int]:
        """Return the candidates and their number; an index that is read as a whole is read only once."""
        if not candidates.scanned:
            return candidates, self.count(candidates)
        ids = self._connection.scalars(candidates.photos.limit(self.limit + 1)).all()
        return replace(candidates, photos=select_ids(ids, context)), len(ids)


def estimate(asked: str, connection: Connection) -> int:
    """Return how many photos PostgreSQL expects of a text search, by its statistics and in half a millisecond."""
    ((plans,),) = run_text(connection, _ESTIMATE, {"asked": asked})
    return int(plans[0]["Plan"]["Plan Rows"])


def find_by_index(asked: str, most: int, connection: Connection) -> list[int]:
    """Return at most `most` photos that a text search of PostgreSQL finds by the full-text index alone.

    Left to itself it reads the whole table when it expects many, as it does of any of several words that no photo has.
    """
    run_text(connection, "SET LOCAL enable_seqscan = off", {})
    rows = run_text(connection, _FOUND, {"asked": asked, "most": most})
    run_text(connection, "SET LOCAL enable_seqscan = on", {})
    return [row[0] for row in rows]


@dataclass(frozen=True, slots=True)
class Tier:
    """Photos with ranks, or all photos without one, in the order by relevance."""

    node: Node
    """The condition that they match."""
    photos: Any = None
    """The SELECT of the ids of photos with ranks; None for the tier of those without."""


def mixed_tiers(parts: Sequence[Node], ranked: Sequence[Term], context: Context) -> tuple[Tier, ...]:
    """Return the photos of words that may also mean a filter: first those with a word, then the others, without rank.

    `()` when other words are asked for.
    """
    mixed = [part for part in parts if isinstance(part, Or) and word_index.is_mixed(part, context)]
    typed = [one for part in mixed for one in part.parts if isinstance(one, Word)]
    if context.opened or not typed or len(typed) < len(ranked):
        return ()
    asked = disjunction(typed)
    others = [
        disjunction([one for one in part.parts if not isinstance(one, Word)])
        if isinstance(part, Or) and part in mixed
        else part
        for part in parts
    ]
    best = Tier(conjunction(parts), word_index.matching(asked, context))
    return best, Tier(conjunction([*others, Not(asked)]))


def expected(parts: Sequence[Node], context: Context, connection: Connection, counter: Counter) -> Candidates | None:
    """Return the photos that the words of these conjuncts find, if PostgreSQL expects few.

    Of frequent words it would compare the index's text of each row that it walks, which costs more than a substring. It
    may expect far too many photos of any of several words, as it knows the shares of frequent words only.
    """
    found, words = with_words(parts, context), word_index.needed(parts)
    if found is None or words is None:
        return None
    asked = word_index.as_tsquery(words)
    number = estimate(asked, connection)
    if number > counter.limit and terms(words) > 1:
        ids = find_by_index(asked, counter.limit + 1, connection)
        number = len(ids)
        found = replace(found, photos=select_ids(ids, context))
    return found if number <= counter.limit else None


def with_words(parts: Sequence[Node], context: Context) -> Candidates | None:
    """Return the photos that the words of these conjuncts find, however many; None without words."""
    words = word_index.needed(parts)
    if words is None:
        return None
    exact = tuple(part for part in parts if word_index.is_words(part))
    return Candidates((words,), word_index.matching(words, context), exact)
