"""A pool of worker processes for untrusted decoding: an item that kills its worker costs that item only."""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Generic, Self, TypeVar, cast

from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import FileProblemError, Reason, signal_symbol
from photosvc.workers.child import OUT_OF_MEMORY
from photosvc.workers.process import Worker

Item = TypeVar("Item")
Result = TypeVar("Result")

_AT_HAND = 2  # items at one worker: it goes on while the caller stores results
_MAX_FAILED_STARTS = 3
_FAREWELL_SECONDS = 1.0
_NO_MORE = object()


class WorkerTimeoutError(FileProblemError):
    """The file took too long to read."""


class WorkerDiedError(FileProblemError):
    """The file made its reader crash."""


class WorkerStartError(PhotosvcError):
    """Worker processes cannot start."""


class WorkerPool(Generic[Item, Result]):
    """Applies a function to many items in processes that are replaced when they die or take too long.

    Use it as a context manager, from one thread: Linux ends the children with the thread that started them.

    Args:
        function: takes one item; found by name in a module other than `__main__` (a `partial` of such a one is
            fine). Items, at most 32 KiB each, and results can be pickled.
        workers: processes; at least one is used.
        timeout: seconds an item may take.
        memory_bytes: what a worker may map on top of what it holds when it starts.

    """

    def __init__(
        self, function: Callable[[Item], Result], *, workers: int, timeout: float = 60, memory_bytes: int = 2 << 30
    ) -> None:
        self._function = pickle.dumps(function)
        self._size = max(1, workers)
        self._timeout = timeout
        self._memory_bytes = memory_bytes
        self._workers: list[Worker[Item]] = []
        self._returned: deque[Item] = deque()  # items whose worker was lost before it began them
        self._failed_starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.connection.close()  # all idle ones leave at once
        for worker in self._workers:
            worker.end(patience=0 if worker.pending else _FAREWELL_SECONDS)
        self._workers.clear()

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Each item with its result, or the error in its place, as they come; one run at a time.

        Takes items only as workers have room for them. What `items` raises passes through; what is under way then,
        or when the caller stops early, is dropped.

        Raises:
            WorkerStartError: no child starts, or none can import the function.

        """
        if self._busy():
            raise RuntimeError("this pool is in the middle of another run")
        source = iter(items)
        more = True
        try:
            while True:
                while (more or self._returned) and self._has_room():
                    item = self._returned.popleft() if self._returned else next(source, _NO_MORE)
                    if item is _NO_MORE:
                        more = False
                    else:
                        self._least_busy().give(cast("Item", item))
                if not (busy := self._busy()):
                    return
                for worker in self._answering(busy):
                    yield from self._outcome(worker)
        finally:
            self._returned.clear()
            for worker in self._busy():
                self._discard(worker)

    def _busy(self) -> list[Worker[Item]]:
        return [worker for worker in self._workers if worker.pending]

    def _has_room(self) -> bool:
        return len(self._workers) < self._size or any(len(worker.pending) < _AT_HAND for worker in self._workers)

    def _least_busy(self) -> Worker[Item]:
        """The worker with the fewest items, but rather a new one than a second item for one."""
        worker = min(self._workers, key=lambda worker: len(worker.pending), default=None)
        if worker and (not worker.pending or len(self._workers) == self._size):
            return worker
        return self._start()

    def _start(self) -> Worker[Item]:
        try:
            worker = Worker[Item](self._function, self._timeout, self._memory_bytes)
        except OSError as error:
            raise WorkerStartError(f"Worker processes cannot start ({error.strerror}).") from None
        self._workers.append(worker)
        return worker

    @staticmethod
    def _answering(busy: list[Worker[Item]]) -> list[Worker[Item]]:
        """Wait until workers have something to say, or until a time limit; both kinds."""
        patience = min(worker.deadline for worker in busy) - time.monotonic()
        speaking = wait([worker.connection for worker in busy], max(0, patience))
        now = time.monotonic()
        return [worker for worker in busy if worker.connection in speaking or worker.deadline <= now]

    def _outcome(self, worker: Worker[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """What a worker that speaks, died or ran out of time yields: one item, or none at its start."""
        began = worker.started
        if not worker.connection.poll():
            self._discard(worker)
            error: PhotosvcError = WorkerTimeoutError(Reason.TIMEOUT, f"{self._timeout:g}")
        else:
            try:
                answer = worker.receive()
            except Exception:  # noqa: BLE001 - a dead or garbled child: unpickling may raise anything
                error = _death(self._discard(worker, patience=_FAREWELL_SECONDS))
            else:
                if began:
                    yield worker.pending.popleft(), cast("Result | PhotosvcError", answer)
                elif answer is not None:
                    raise WorkerStartError(f"Worker processes cannot start ({answer}).")
                else:
                    self._failed_starts = 0
                return
        if began:
            victim = worker.pending.popleft()
            self._returned.extend(worker.pending)
            yield victim, error
        else:
            self._returned.extend(worker.pending)
            self._failed_starts += 1
            if self._failed_starts == _MAX_FAILED_STARTS:
                raise WorkerStartError

    def _discard(self, worker: Worker[Item], patience: float = 0) -> int:
        """Take a worker out of the pool and end it; its exit code."""
        self._workers.remove(worker)
        return worker.end(patience)


def _death(code: int) -> WorkerDiedError:
    if code == OUT_OF_MEMORY:
        return WorkerDiedError(Reason.OUT_OF_MEMORY)
    if code < 0:
        return WorkerDiedError(Reason.KILLED, signal_symbol(-code))
    return WorkerDiedError(Reason.CRASHED)
