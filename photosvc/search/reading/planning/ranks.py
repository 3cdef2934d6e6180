"""How the photos that words find share out over the ranks of the order `relevance`.

A frequent word mostly stands at the same place in all its photos: in the title, or among the keywords. So nearly all of
them have one of few ranks. Photos of such a frequent rank are found by walking the order until a page is full; those of
all other ranks are few, and sorted. Sorting all of them would read every row: 240 ms for 73,000 photos of a million.
Where the best rank that there can be is frequent, the others are not even looked for until a page reaches them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from sqlalchemy import Connection, func, select

from photosvc.models import SearchText
from photosvc.query.nodes import Node
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.word_index import in_index
from photosvc.search.reading.conditions.word_points import most_points, points, without_ranks
from photosvc.search.word_text import Term

#: Photos whose ranks show which are frequent, and the share of them that a frequent rank has.
_SAMPLE: Final = 300
_FREQUENT: Final = 0.1
#: Photos of all other ranks that are sorted.
_MOST_SORTED: Final = 5000


@dataclass(frozen=True, slots=True)
class Tier:
    """Photos with neighbouring ranks."""

    low: int
    """The lowest of their ranks."""
    high: int
    """The highest of them."""
    photos: tuple[int, ...] | None
    """Their ids; None for all photos of one frequent rank, `low`."""


@dataclass(frozen=True, slots=True)
class BestFirst:
    """All photos of the best rank, and the tiers behind them, which are found when they are asked for."""

    first: Tier
    find_others: Callable[[], Iterable[Tier]]

    def __iter__(self) -> Iterator[Tier]:
        """The tiers, best ranks first."""
        yield self.first
        yield from self.find_others()


def tiers(words: Node, ranked: Sequence[Term], context: Context, connection: Connection) -> Iterable[Tier]:
    """The photos that the full-text index finds, best ranks first; `()` when the ranks are too many.

    Args:
        words: a query of words, `And` and `Or` alone.
        ranked: the terms that the order ranks by.
        context: the database.
        connection: where the ranks are read: the text of each of the photos is.

    """
    rank = points(ranked, context).label("rank")
    found = select(SearchText.photo_id, rank).where(in_index(words, context))
    sample = found.limit(_SAMPLE).subquery()
    counts = connection.execute(select(sample.c.rank, func.count()).group_by(sample.c.rank)).all()
    least = _FREQUENT * sum(count for _, count in counts)
    frequent = sorted((value for value, count in counts if count >= least), reverse=True)

    def others() -> Sequence[tuple[int, int]]:
        among = in_index(without_ranks(words, ranked, frequent), context)
        rest = select(SearchText.photo_id, rank).where(among, rank.not_in(frequent)).limit(_MOST_SORTED + 1)
        return sorted(((value, photo) for photo, value in connection.execute(rest)), reverse=True)

    def behind_best() -> Iterable[Tier]:
        rest = others()
        if len(rest) <= _MOST_SORTED:
            return _between(frequent[1:], rest)
        among = in_index(without_ranks(words, ranked, [best]), context)
        ids = connection.scalars(select(SearchText.photo_id).where(among, rank < best))
        return (Tier(0, best - 1, tuple(ids)),)

    best = most_points(ranked)
    if frequent and frequent[0] == best:
        return BestFirst(Tier(best, best, None), behind_best)
    rest = others()
    return tuple(_between(frequent, rest)) if len(rest) <= _MOST_SORTED else ()


def _between(frequent: Sequence[int], others: Sequence[tuple[int, int]]) -> Iterator[Tier]:
    """The frequent ranks, and between them the other photos: pairs of a rank and an id; both by falling rank."""
    start = 0
    for value in (*frequent, -1):
        above = list(takewhile(lambda pair: pair[0] > value, others[start:]))  # noqa: B023 - used before it changes
        start += len(above)
        if above:
            yield Tier(above[-1][0], above[0][0], tuple(photo for _, photo in above))
        if value >= 0:
            yield Tier(value, value, None)
