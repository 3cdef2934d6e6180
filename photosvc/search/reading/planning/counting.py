"""Candidates, the photos that the index of one condition finds, and how many they are."""

import math
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.util import memoized_property

from photosvc.models import FileKey, SearchRow
from photosvc.query.nodes import Node
from photosvc.search.reading.conditions.columns import select_ids
from photosvc.search.reading.conditions.context import Context

#: Values that a row of a walk is compared with as fast as it is read.
_LIGHT_VALUES = 8


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
    """Whether the whole index is read to find them."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many candidates some conjuncts have; an index of files counts the files of the photos."""

    parts: tuple[Node, ...]
    count: int
    limit: int
    """The most candidates that are sorted; counting stops at one more."""


class Counter:
    """Counts candidates up to a limit, and records what it counted."""

    def __init__(self, connection: Connection, rows_needed: int, values: int) -> None:
        self.counted: list[Counted] = []
        self.rows_needed = rows_needed
        self._connection = connection
        self._weight = max(1, values // _LIGHT_VALUES)

    @memoized_property  # without a lock: see `Search.plan`
    def photos(self) -> int:
        """The highest photo id, as a measure of the size of the library."""
        newest = self._connection.scalar(select(func.max(SearchRow.newest_key)).where(SearchRow.listed)) or 0
        return FileKey.unpack_photo_id(newest)

    @memoized_property
    def limit(self) -> int:
        """The most candidates for which sorting them is faster than walking the order (see `plan`)."""
        return math.isqrt(self.rows_needed * (self.photos + 1) * self._weight) // 2

    def count(self, candidates: Candidates) -> int:
        """The number of candidates, at most one more than the limit."""
        some = candidates.photos.limit(self.limit + 1).subquery()
        return self.record(candidates, self._connection.scalar(select(func.count()).select_from(some)) or 0)

    def find(self, candidates: Candidates, context: Context) -> tuple[Candidates, int]:
        """The candidates and their number; an index that is read as a whole is read only once."""
        if not candidates.scanned:
            return candidates, self.count(candidates)
        ids = self._connection.scalars(candidates.photos.limit(self.limit + 1)).all()
        return replace(candidates, photos=select_ids(ids, context)), self.record(candidates, len(ids))

    def record(self, candidates: Candidates, count: int) -> int:
        """Note how many candidates there are; gives their number."""
        self.counted.append(Counted(candidates.parts, count, self.limit))
        return count
