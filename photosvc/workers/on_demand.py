"""Workers for requests: started when there is work, ended when idle, never more work than they can finish in time.

A thread owns each child process, because Linux ends the children of a thread together with it. A caller waits for its
own item; when the queue is full it is refused at once.
"""

import pickle
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

import msgspec

from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Reason
from photosvc.workers.answers import Answers
from photosvc.workers.pool import WorkerStartError, WorkerTimeoutError, death_of
from photosvc.workers.process import Worker

Item = TypeVar("Item")
Result = TypeVar("Result")
Answer = TypeVar("Answer")

_FAREWELL_SECONDS = 1.0


class WorkersBusyError(PhotosvcError):
    """All workers are busy; try again soon."""


class OnDemandWorkers(Generic[Item, Result]):
    """Applies a function to items in child processes, an item at a time each.

    Args:
        function: takes one item; found by name in a module. Items, at most 32 KiB each, can be pickled.
        result: the type of its results, as for `WorkerPool`.
        workers: processes at most.
        queued: items that may wait in addition to those under way.
        timeout: seconds an item may take.
        memory_bytes: what a worker may map on top of what it holds when it starts.
        idle_seconds: after so long without work a process ends.

    """

    def __init__(
        self,
        function: Callable[[Item], Result],
        *,
        result: type[Result],
        workers: int,
        queued: int,
        timeout: float,
        memory_bytes: int,
        idle_seconds: float = 30,
    ) -> None:
        self._function = pickle.dumps(function)
        self._answers = Answers(result)
        self._size = workers
        self._queued = queued
        self._timeout = timeout
        self._memory_bytes = memory_bytes
        self._idle_seconds = idle_seconds
        self._waiting: deque[tuple[Item, Future[Result]]] = deque()
        self._changed = threading.Condition()
        self._unfinished = 0
        self._threads = 0
        self._idle = 0

    def submit(self, item: Item) -> Future[Result]:
        """Hand an item to the workers; the future ends with its result, or a `PhotosvcError`.

        One that is cancelled before a worker has begun with it makes room for others.

        Raises:
            WorkersBusyError: as many items wait as may.
            WorkerStartError: no thread can be started.

        """
        future: Future[Result] = Future()
        with self._changed:
            if self._unfinished >= self._size + self._queued:
                raise WorkersBusyError
            if len(self._waiting) < self._idle:
                self._changed.notify()
            elif self._threads < self._size:
                self._start_thread()
            self._unfinished += 1
            self._waiting.append((item, future))
        future.add_done_callback(self._finished)
        return future

    def _start_thread(self) -> None:
        try:
            threading.Thread(target=self._serve, name="photosvc-worker", daemon=True).start()
        except RuntimeError as error:  # the system has no room for one
            if not self._threads:
                raise WorkerStartError(f"Worker processes cannot start ({error}).") from None
        else:
            self._threads += 1

    def _finished(self, future: Future[Result]) -> None:
        with self._changed:
            self._unfinished -= 1
            if future.cancelled():  # else those that wait no more could become many
                self._waiting = deque(one for one in self._waiting if one[1] is not future)

    def _next(self) -> tuple[Item, Future[Result]] | None:
        """The next item that a caller still waits for; None after too long without one."""
        with self._changed:
            end = time.monotonic() + self._idle_seconds
            while True:
                while self._waiting:
                    item, future = self._waiting.popleft()
                    if future.set_running_or_notify_cancel():
                        return item, future
                left = end - time.monotonic()
                if left <= 0:
                    self._threads -= 1
                    return None
                self._idle += 1
                self._changed.wait(left)
                self._idle -= 1

    def _serve(self) -> None:
        """A thread's life: one process, replaced when it dies, ended when idle."""
        worker: Worker[Item] | None = None
        while (work := self._next()) is not None:
            item, future = work
            try:
                if worker is not None and not worker.is_alive:  # killed while idle, not by this item
                    worker.end()
                    worker = None
                worker = worker or self._start()
                worker.give(item)
                result = self._answer(worker)
            except PhotosvcError as error:
                worker = _living(worker)
                future.set_exception(error)
            except BaseException as error:  # noqa: BLE001 - after any error, the caller must not wait for ever
                if worker is not None:
                    worker.end()
                worker = None
                future.set_exception(error)
            else:
                future.set_result(result)
        if worker is not None:
            worker.end(_FAREWELL_SECONDS)

    def _start(self) -> Worker[Item]:
        try:
            worker = Worker[Item](self._function, self._timeout, self._memory_bytes)
        except OSError as error:
            raise WorkerStartError(f"Worker processes cannot start ({error.strerror}).") from None
        problem = self._receive(worker, worker.receive_start)
        if problem is not None:
            worker.end()
            raise WorkerStartError(f"Worker processes cannot start ({problem}).")
        return worker

    def _answer(self, worker: Worker[Item]) -> Result:
        answer = self._receive(worker, lambda: worker.receive(self._answers))
        worker.done()
        if isinstance(answer, PhotosvcError):
            raise answer
        return answer

    def _receive(self, worker: Worker[Item], receive: Callable[[], Answer]) -> Answer:
        if not worker.connection.poll(max(0.0, worker.deadline - time.monotonic())):
            worker.end()
            raise WorkerTimeoutError(Reason.TIMEOUT, f"{self._timeout:g}")
        try:
            return receive()
        except (EOFError, OSError, msgspec.MsgspecError):  # a dead child, or one that sends what is no answer
            raise death_of(worker.end(_FAREWELL_SECONDS)) from None


def _living(worker: Worker[Item] | None) -> Worker[Item] | None:
    """The worker, unless it owes an answer and so was ended."""
    return worker if worker is not None and not worker.pending else None
