"""A pool of worker processes for untrusted decoding: an item that kills its worker costs that item only.

Processes start when there is work and may end when idle. A thread owns each of them, because Linux ends the children
of a thread together with it.
"""

import pickle
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Final, Generic, Protocol, Self, TypeVar, cast

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import PhotosvcError
from photosvc.workers.process import Worker, WorkerStartError
from photosvc.workers.protocol import Answers

Item = TypeVar("Item")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

#: Items of `run` for each worker: it begins the next one while the caller takes its result.
_IN_ADVANCE: Final = 2
_FAREWELL_SECONDS: Final = 1.0
_NO_LIMIT: Final = 1 << 30
_END: Final = object()


class WorkersBusyError(PhotosvcError):
    """All workers are busy; try again soon."""


class Pool(Protocol[Item, Result_co]):
    """A context manager that applies a function to items in other processes, of this machine or of others."""

    def __enter__(self) -> Self:
        """Return the pool."""

    def __exit__(self, *_: object) -> None:
        """End its processes, or leave them to others."""

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result_co | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish; see `WorkerPool.run`."""


class WorkerPool(Generic[Item, Result]):
    """Child processes that apply a function to items, each to one item at a time.

    Args:
        function: takes one item. Defined at the top level of a module other than `__main__`, or a `partial` of
            such a function. Items (at most 32 KiB each) must be picklable.
        result: the type of its results: of dataclasses, lists, tuples, texts, numbers, bytes and times.
        workers: most processes; at least one is used.
        timeout: seconds an item may take, without the time to read its file, see `process.seconds_for`.
        memory_bytes: address space that a worker may map in addition to that at its start.
        queued: items that may wait in addition to those in progress.
        each_owner: items of one owner that may wait or be in progress; None: only the limit for all owners applies.
        in_advance: items that `run` takes in advance for each process, which goes on while the caller stores results.
        idle_seconds: seconds without work after which a process ends.
    """

    def __init__(
        self,
        function: Callable[[Item], Result],
        *,
        result: type[Result],
        workers: int,
        timeout: float = 60,
        memory_bytes: int = 2 << 30,
        queued: int = _NO_LIMIT,
        each_owner: int | None = None,
        in_advance: int = _IN_ADVANCE,
        idle_seconds: float = _NO_LIMIT,
    ) -> None:
        self._function = pickle.dumps(function)
        self._answers = Answers(result)
        self._size = max(1, workers)
        self._timeout = timeout
        self._memory_bytes = memory_bytes
        self._most = self._size + queued
        self._each_owner = self._most if each_owner is None else each_owner
        self._in_advance = in_advance * self._size
        self._idle_seconds = idle_seconds
        self._waiting: deque[tuple[Item, Future[Result]]] = deque()
        self._unfinished_of = Counter[str]()
        self._changed = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._busy: set[Worker] = set()
        """The workers that have an item."""
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, item: Item, owner: str = "") -> Future[Result]:
        """Hand an item to the workers; the future ends with its result, or a `PhotosvcError`.

        A future that is cancelled before a worker has begun makes room for other items.

        Args:
            item: the argument of the function.
            owner: the name of the owner, who has a share of the queue.

        Raises:
            WorkersBusyError: the limit for items is reached, of this owner or of all.
            WorkerStartError: no thread can be started.
        """
        future: Future[Result] = Future()
        with self._changed:
            if self._unfinished_of.total() >= self._most or self._unfinished_of[owner] >= self._each_owner:
                raise WorkersBusyError
            if self._idle:
                self._changed.notify()
            if len(self._threads) < self._size and len(self._waiting) >= self._idle:
                self._start_thread()
            self._unfinished_of[owner] += 1
            self._waiting.append((item, future))
        future.add_done_callback(partial(self._finished, owner))
        return future

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish.

        An item is taken from `items` only when there is room in the queue. Errors that `items` raises pass through.
        Items that no worker has begun are dropped then, and also when the caller stops early.

        Raises:
            WorkerStartError: no child starts, or none can import the function.
        """
        source, has_more = iter(items), True
        done: SimpleQueue[Future[Result]] = SimpleQueue()
        submitted: dict[Future[Result], Item] = {}
        try:
            while True:
                while has_more and len(submitted) < self._in_advance:
                    if has_more := (item := next(source, _END)) is not _END:
                        future = self.submit(cast("Item", item))
                        submitted[future] = cast("Item", item)
                        future.add_done_callback(done.put)
                if not submitted:
                    return
                future = done.get()
                finished, error = submitted.pop(future), future.exception()
                if error is None:
                    yield finished, future.result()
                elif isinstance(error, PhotosvcError) and not isinstance(error, WorkerStartError):
                    yield finished, error
                else:
                    raise error
        finally:
            for future in submitted:
                future.cancel()

    def close(self) -> None:
        """End all processes, and drop all items; there may be no further ones."""
        with self._changed:
            self._is_closed = True
            for _, future in list(self._waiting):
                future.cancel()
            for worker in self._busy:
                worker.kill()
            threads = list(self._threads)
            self._changed.notify_all()
        for thread in threads:
            thread.join()

    def _start_thread(self) -> None:
        try:
            thread = threading.Thread(target=self._serve, name="photosvc-worker", daemon=True)
            thread.start()
        except RuntimeError as error:  # the system has no room for one
            if not self._threads:
                raise WorkerStartError(f"Worker processes cannot start ({error}).") from None
        else:
            self._threads.add(thread)

    def _finished(self, owner: str, future: Future[Result]) -> None:
        with self._changed:
            self._unfinished_of[owner] -= 1
            self._unfinished_of = +self._unfinished_of  # owners without an item are forgotten
            if future.cancelled():  # else cancelled items could pile up
                self._waiting = deque(work for work in self._waiting if work[1] is not future)

    def _serve(self) -> None:
        """Run a thread: it owns one process, replaces it when it dies, and ends it when idle."""
        worker: Worker | None = None
        while (work := self._next()) is not None:
            item, future = work
            try:
                if worker is None or not worker.is_alive:  # killed while idle, not by this item
                    if worker is not None:
                        worker.end()
                    worker = Worker(self._function, self._timeout, self._memory_bytes)
                result = self._ask(worker, item)
            except BaseException as error:  # noqa: BLE001 - after any error, the caller must not wait for ever
                future.set_exception(error)
            else:
                future.set_result(result)
        if worker is not None:
            worker.end(_FAREWELL_SECONDS)

    def _next(self) -> tuple[Item, Future[Result]] | None:
        """Return the next item that a caller still waits for; None if there is none for `idle_seconds`."""
        with self._changed:
            end = SYSTEM_CLOCK.monotonic() + self._idle_seconds
            while True:
                while self._waiting:
                    item, future = self._waiting.popleft()
                    if future.set_running_or_notify_cancel():
                        return item, future
                left = end - SYSTEM_CLOCK.monotonic()
                if left <= 0 or self._is_closed:
                    self._threads.discard(threading.current_thread())
                    return None
                self._idle += 1
                self._changed.wait(left)
                self._idle -= 1

    def _ask(self, worker: Worker, item: Item) -> Result:
        with self._changed:
            if self._is_closed:  # `close` kills workers that have an item, and has not seen this one
                raise WorkersBusyError
            self._busy.add(worker)
        try:
            return worker.ask(item, self._answers)
        finally:
            self._busy.discard(worker)
