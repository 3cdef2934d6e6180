"""Workers of index runs that outlive a run: to start one takes longer than most runs of tests."""

import sys
from threading import current_thread, main_thread
from typing import Any, ClassVar, Self

from photosvc.workers import process
from photosvc.workers.pool import WorkerPool

_KEPT = 4


class LastingPool(WorkerPool[Any, Any]):
    """A pool that leaves its idle workers to the next one with the same function, limits and environment."""

    _idle: ClassVar[dict[object, list[process.Worker[Any]]]] = {}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        limits = (self._function, self._size, self._timeout, self._memory_bytes)
        self._key = (*limits, tuple(sys.path), tuple(process._environment().items()))

    def __enter__(self) -> Self:
        if current_thread() is main_thread():
            self._workers = [worker for worker in self._idle.pop(self._key, ()) if worker.is_alive]
        return self

    def __exit__(self, *error: object) -> None:
        # Linux ends the workers with the thread that started them.
        if current_thread() is main_thread() and not self._busy():
            self.end_idle(_KEPT - 1)
            self._idle[self._key] = self._workers
        else:
            super().__exit__(*error)

    @classmethod
    def end_idle(cls, kept: int) -> None:
        """End the workers of all pools but the last ones."""
        while len(cls._idle) > kept:
            for worker in cls._idle.pop(next(iter(cls._idle))):
                worker.end(patience=1)
