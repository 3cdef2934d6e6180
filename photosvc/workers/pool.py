"""A pool of worker processes for untrusted decoding: an item that kills its worker costs that item only."""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from multiprocessing.connection import wait
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import msgspec

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import FileProblemError, Reason, signal_symbol
from photosvc.workers.answers import Answers
from photosvc.workers.child import OUT_OF_MEMORY
from photosvc.workers.process import Worker

Item = TypeVar("Item")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

_LEAST_QUEUE = 2  # items sent to one worker: it begins the next item while the pool reads its answer
_QUEUE_SECONDS = 0.3  # seconds of work that may be sent: the worker continues while the caller stores results
_MAX_FAILED_STARTS = 3
_EXIT_SECONDS = 1.0
_END = object()


class WorkerTimeoutError(FileProblemError):
    """The file took too long to read."""


class WorkerDiedError(FileProblemError):
    """The reader of the file crashed or was killed."""


class WorkerStartError(PhotosvcError):
    """Worker processes cannot start."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 10


class Pool(Protocol[Item, Result_co]):
    """A context manager that applies a function to items in other processes: those of this machine, or of others."""

    def __enter__(self) -> Self:
        """Return the pool."""

    def __exit__(self, *_: object) -> None:
        """End its processes, or leave them to others."""

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result_co | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish; see `WorkerPool.run`."""


class WorkerPool(Generic[Item, Result]):
    """A pool of processes that apply a function to many items, and are replaced when they die or take too long.

    Use it as a context manager, from one thread: Linux kills the children when the thread that started them ends.

    Args:
        function: takes one item. Defined at the top level of a module other than `__main__`, or a `partial` of
            such a function. Items (at most 32 KiB each) must be picklable.
        result: the type of its results: of dataclasses, lists, tuples, texts, numbers, bytes and times.
        workers: the number of processes; at least one is used.
        timeout: seconds an item may take, without the time to read its file, see `seconds_for`.
        memory_bytes: address space that a worker may map in addition to that at its start.
        queue: most items that a quick worker is sent in advance; a slow one never has more than two.
    """

    def __init__(
        self,
        function: Callable[[Item], Result],
        *,
        result: type[Result],
        workers: int,
        timeout: float = 60,
        memory_bytes: int = 2 << 30,
        queue: int = _LEAST_QUEUE,
    ) -> None:
        self._function = pickle.dumps(function)
        self._answers = Answers(result)
        self._size = max(1, workers)
        self._queue = queue
        self._timeout = timeout
        self._memory_bytes = memory_bytes
        self._workers: list[Worker[Item]] = []
        self._returned: deque[Item] = deque()  # items whose worker ended before it began them
        self._failed_starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.connection.close()  # all idle workers exit at the same time
        for worker in self._workers:
            worker.end(patience=0 if worker.pending else _EXIT_SECONDS)
        self._workers.clear()

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish; one run at a time.

        An item is taken from `items` only when a worker can accept it. Errors that `items` raises pass through. Items
        in progress are dropped then, and also when the caller stops early.

        Raises:
            WorkerStartError: no child starts, or none can import the function.
        """
        if self._busy():
            raise RuntimeError("another run of this pool is in progress")
        source = iter(items)
        more = True
        try:
            while True:
                while more or self._returned:
                    worker = self._free_worker()  # asked once for each item: the limit of a worker changes with time
                    if worker is None and len(self._workers) >= self._size:
                        break
                    item = self._returned.popleft() if self._returned else next(source, _END)
                    if item is _END:
                        more = False
                    else:
                        (worker or self._start()).give(cast("Item", item))
                if not (busy := self._busy()):
                    return
                for worker, has_answered in self._answering(busy):
                    yield from self._outcome(worker, has_answered=has_answered)
        finally:
            self._returned.clear()
            for worker in self._busy():
                self._discard(worker)

    def _busy(self) -> list[Worker[Item]]:
        return [worker for worker in self._workers if worker.pending]

    def _free_worker(self) -> Worker[Item] | None:
        """Return the least busy worker that may get more; None if a new one should get the next item, or none may."""
        free = [worker for worker in self._workers if self._may_get_more(worker)]
        worker = min(free, key=lambda worker: len(worker.pending), default=None)
        has_work = worker is not None and bool(worker.pending)
        return None if has_work and len(self._workers) < self._size else worker

    def _may_get_more(self, worker: Worker[Item]) -> bool:
        quick = int(min(self._queue, worker.rate * _QUEUE_SECONDS))
        return worker.has_room and len(worker.pending) < max(_LEAST_QUEUE, quick)

    def _start(self) -> Worker[Item]:
        self._workers.append(start_worker(self._function, self._timeout, self._memory_bytes))
        return self._workers[-1]

    @staticmethod
    def _answering(busy: list[Worker[Item]]) -> list[tuple[Worker[Item], bool]]:
        """Wait for answers; return the workers that answered, and with False those past their deadline."""
        timeout = min(worker.deadline for worker in busy) - SYSTEM_CLOCK.monotonic()
        ready = wait([worker.connection for worker in busy], max(0, timeout))
        now = SYSTEM_CLOCK.monotonic()
        looked_at = ((worker, worker.connection in ready) for worker in busy)
        return [(worker, has_answered) for worker, has_answered in looked_at if has_answered or worker.deadline <= now]

    def _outcome(self, worker: Worker[Item], *, has_answered: bool) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield the item of a worker that answered, died or timed out, and its outcome; nothing for a start message."""
        had_started = worker.started
        if not has_answered:
            error: PhotosvcError = WorkerTimeoutError(Reason.TIMEOUT, f"{worker.seconds:g}")
            self._discard(worker)
        else:
            try:
                answer: Any = worker.receive(self._answers) if had_started else worker.receive_start()
            except (EOFError, OSError, msgspec.MsgspecError):  # a dead child, or one that sends what is no answer
                error = death_of(self._discard(worker, patience=_EXIT_SECONDS))
            else:
                if had_started:
                    yield worker.done(), cast("Result | PhotosvcError", answer)
                elif answer is not None:
                    raise WorkerStartError(f"Worker processes cannot start ({answer}).")
                else:
                    self._failed_starts = 0
                return
        if had_started:
            item = worker.done()
            self._returned.extend(worker.pending)
            yield item, error
        else:
            self._returned.extend(worker.pending)
            self._failed_starts += 1
            if self._failed_starts == _MAX_FAILED_STARTS:
                raise WorkerStartError

    def _discard(self, worker: Worker[Item], patience: float = 0) -> int:
        """Remove a worker from the pool and end it; return its exit code."""
        self._workers.remove(worker)
        return worker.end(patience)


def start_worker(function: bytes, timeout: float, memory_bytes: int) -> Worker[Any]:
    """Start a process; the arguments are those of `Worker`.

    Raises:
        WorkerStartError: the system refuses to start one.
    """
    try:
        return Worker(function, timeout, memory_bytes)
    except OSError as error:
        raise WorkerStartError(f"Worker processes cannot start ({error.strerror}).") from None


def death_of(code: int) -> WorkerDiedError:
    """Return the error of a worker that ended with this exit code; negative for a signal."""
    if code == OUT_OF_MEMORY:
        return WorkerDiedError(Reason.OUT_OF_MEMORY)
    if code < 0:
        return WorkerDiedError(Reason.KILLED, signal_symbol(-code))
    return WorkerDiedError(Reason.CRASHED)
