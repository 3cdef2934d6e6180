"""Workers of index runs that outlive a run: to start one takes longer than most runs of tests."""

import sys
from typing import Any, ClassVar, Self

from photosvc.workers import process
from photosvc.workers.pool import WorkerPool

_KEPT = 4


class LastingPool(WorkerPool[Any, Any]):
    """A pool that leaves its idle workers to the next one with the same function, limits and environment."""

    _left: ClassVar[dict[object, Self]] = {}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        limits = (self._function, self._in_advance, self._size, self._timeout, self._memory_bytes)
        self._key = (*limits, tuple(sys.path), tuple(process._environment().items()))
        self._used = self

    def __enter__(self) -> Self:
        self._used = self._left.pop(self._key, self)
        return self._used

    def __exit__(self, *_: object) -> None:
        if self._used._unfinished_of.total():
            self._used.close()
        else:
            self.end_idle(_KEPT - 1)
            self._left[self._key] = self._used

    @classmethod
    def end_idle(cls, kept: int) -> None:
        """End the workers of all pools but the last ones."""
        while len(cls._left) > kept:
            cls._left.pop(next(iter(cls._left))).close()
