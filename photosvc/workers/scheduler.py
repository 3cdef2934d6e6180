"""Workers on other machines, by dask.distributed: pools with the interface of `WorkerPool`.

A task of dask is a few items, because each task costs the scheduler and this process milliseconds. Workers of dask let
processes of their own read the files: a file that kills its reader costs that file, and not the worker. Workers get
tasks once they have proved that they have the same version and see the originals. When a worker is gone, dask gives its
tasks to others. Items that are lost with all of their workers go alone; an item that is lost again counts as one that
kills its reader, which a later run tries again.

Both sides of a connection run pickled code of the other one: only machines that trust each other may reach a scheduler.
"""

import logging
import os
import pickle
import queue
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from typing import Any, Final, Generic, Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from photosvc import __version__
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Reason
from photosvc.workers.pool import WorkerPool
from photosvc.workers.process import WorkerDiedError, WorkerStartError
from photosvc.workers.protocol import Answers, write_error, write_result

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Loggers of dask that report workers and schedulers that are gone; `report` and errors do so in a sentence.
_TALKATIVE: Final = ("distributed", "distributed.client", "distributed.comm", "distributed.core", "tornado.application")
#: Seconds within which a scheduler must answer.
_ANSWER: Final = 10
#: Seconds between two updates of the workers of the scheduler.
_LOOK: Final = 0.5
#: Seconds for which a run waits for a worker that it can use.
PATIENCE: Final = 30.0
#: Items of a task.
_ITEMS: Final = 8
#: Tasks for each thread of the workers: it begins the next one while the results of the last one travel.
_TASKS: Final = 2
#: Losses after which an item is blamed; it goes alone after the first one.
_LOSSES: Final = 3
#: Most names of originals by which a worker proves that it sees them.
_NAMES: Final = 32


class SchedulerError(PhotosvcError):
    """The scheduler, or all of its workers, cannot be used."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 60


class UnfitError(Exception):
    """The worker cannot be used; its arguments are the address of the worker and the end of the sentence about it."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """The means by which a worker proves that it has the same program and originals as the process that asks."""

    version: str
    folder: str
    """The folder of originals, which has the same path on all machines."""
    names: tuple[str, ...]
    """Some of the names in it; a folder in which nothing is mounted has none of them."""

    @classmethod
    def of(cls, folder: str) -> Self:
        """Return the landmarks of this machine."""
        with os.scandir(folder) as entries:
            return cls(__version__, folder, tuple(sorted(entry.name for entry in islice(entries, _NAMES))))

    def unfitness(self) -> str:
        """Return why this machine cannot be used; empty if it can."""
        if __version__ != self.version:
            return f"runs photosvc {__version__}, not {self.version}"
        has_names = not self.names or any(os.path.lexists(f"{self.folder}/{name}") for name in self.names)
        if not has_names or not os.path.isdir(self.folder):  # noqa: PTH112 - a path of another machine
            return f"does not see the originals in {self.folder}"
        return ""


@dataclass(frozen=True, slots=True)
class Work:
    """The function to apply to items, and the limits of the processes that do."""

    function: bytes
    """Pickled."""
    result: Any
    """The type of its results."""
    timeout: float
    memory_bytes: int
    landmarks: Landmarks


def apply_work(work: Work, items: Sequence[object]) -> list[bytes]:
    """Apply the function to items in processes of a dask worker, and return an answer for each.

    Raises:
        UnfitError: this machine cannot be used.
    """
    from distributed import get_worker

    worker = get_worker()
    if reason := work.landmarks.unfitness():
        raise UnfitError(worker.address, reason)
    processes, answers = _processes(work, worker.state.nthreads), []
    for future in [processes.submit(item) for item in items]:
        try:
            answers.append(write_result(future.result()))
        except WorkerStartError as error:
            raise UnfitError(worker.address, f"cannot work: {error.message}") from None
        except PhotosvcError as error:
            answers.append(write_error(error))
    return answers


@lru_cache(maxsize=4)
def _processes(work: Work, threads: int) -> WorkerPool[Any, Any]:
    """Return the processes for this work, which end by themselves soon after it."""
    function = pickle.loads(work.function)  # noqa: S301 - from the process that asks, as all of a task
    return WorkerPool(
        function,
        result=work.result,
        workers=threads,
        timeout=work.timeout,
        memory_bytes=work.memory_bytes,
        idle_seconds=30,
    )


@dataclass(slots=True)
class Scheduler:
    """A scheduler with its workers, as one process sees them; made by `connected`."""

    address: str
    client: Any
    landmarks: Landmarks
    report: Callable[[str], None]
    """Called with a sentence about each worker that cannot be used."""
    _threads: dict[str, int] = field(default_factory=dict, init=False)
    """The addresses of the workers, and the threads to use of each: none of one that cannot be used."""
    _look_at: float = field(default=0.0, init=False)
    _fit_at: float = field(default_factory=SYSTEM_CLOCK.monotonic, init=False)

    @property
    def fit(self) -> Mapping[str, int]:
        """Return the addresses of the workers that can be used, and their threads."""
        return {address: threads for address, threads in self._threads.items() if threads}

    def pool(
        self, function: Callable[[Item], Result], *, result: type[Result], timeout: float, memory_bytes: int
    ) -> "SchedulerPool[Item, Result]":
        """Return a pool that applies a function to items; see `WorkerPool` for the arguments."""
        return SchedulerPool(self, Work(pickle.dumps(function), result, timeout, memory_bytes, self.landmarks))

    def look(self) -> None:
        """Update the workers of the scheduler, and try new ones.

        Raises:
            SchedulerError: the scheduler does not answer, or there has been no worker to use for too long.
        """
        now = SYSTEM_CLOCK.monotonic()
        if now < self._look_at:
            return
        present = self._ask(self.client.scheduler.ncores)
        new = [address for address in present if address not in self._threads]
        self._threads = {address: threads for address, threads in self._threads.items() if address in present}
        for address, unfitness in (self._try(new) if new else {}).items():
            self._threads[address] = present[address]
            if unfitness:
                self.refuse(address, unfitness)
        now = SYSTEM_CLOCK.monotonic()
        self._look_at = now + _LOOK
        if self.fit:
            self._fit_at = now
        elif now - self._fit_at > PATIENCE:
            raise SchedulerError(f"The scheduler {self.address} has no worker that can be used.")

    def refuse(self, address: str, reason: str) -> None:
        """Give a worker no more work."""
        self._threads[address] = 0
        self.report(f"The worker {address} is not used: it {reason}.")

    def _try(self, addresses: list[str]) -> Mapping[str, str]:
        """Return for each worker why it cannot be used, empty if it can; workers that are gone are left out."""
        options = {"workers": addresses, "on_error": "return", "wait": True}
        answers = self._ask(self.client._run, self.landmarks.unfitness, **options)  # noqa: SLF001 - `run` has no limit
        return {
            address: str(answer) if isinstance(answer, str) else "cannot run photosvc"
            for address, answer in answers.items()
            if not isinstance(answer, OSError)
        }

    def _ask(self, question: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - of dask
        try:
            return self.client.sync(question, *arguments, **options, callback_timeout=_ANSWER)
        except (OSError, TimeoutError, ValueError) as error:
            raise SchedulerError(f"The scheduler {self.address} does not answer any more.") from error


@contextmanager
def connected(address: str, folder: str, report: Callable[[str], None]) -> Iterator[Scheduler]:
    """Connect to a scheduler for the block.

    Args:
        address: `tcp://host:port`, or `tls://host:port` with the certificates of dask's configuration.
        folder: the originals, whose path is the same on all machines.
        report: called with a sentence about each worker that cannot be used.

    Raises:
        SchedulerError: dask.distributed is not installed, or there is no scheduler at this address.
    """
    try:
        from distributed import Client
    except ImportError:
        raise SchedulerError("A scheduler needs the extra \"cluster\": pip install 'photosvc[cluster]'") from None
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        _knock(address)
        client = Client(address, timeout=_ANSWER, set_as_default=False, name="photosvc")
    except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
        raise SchedulerError(f"No scheduler of dask answers at {address}.") from error
    try:
        yield Scheduler(address, client, Landmarks.of(folder), report)
    finally:
        client.close(timeout=_ANSWER)


def _knock(address: str) -> None:
    """Connect and hang up: an attempt of dask's own client that fails takes 20 seconds, and prints a traceback later.

    Raises:
        OSError: no program listens there, or the certificates do not fit.
        SchedulerError: dask's configuration has no certificates.
    """
    from distributed.security import Security

    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), _ANSWER) as plain:
        if parts.scheme == "tls":
            context = Security().get_connection_args("client").get("ssl_context")
            if context is None:
                msg = "A scheduler at tls:// needs certificates: dask's configuration has none (distributed.comm.tls)."
                raise SchedulerError(msg)
            context.wrap_socket(plain).close()


@dataclass(slots=True, eq=False)
class _Task(Generic[Item]):
    """Items on their way to a worker."""

    items: list[Item]
    losses: int = 0
    """The number of times that it was lost with all workers that it may go to; above 0, it has one item."""
    workers: frozenset[str] = frozenset()
    """The addresses of the workers that may have it."""
    future: Any = None
    """The future of dask; None before and after a worker has it."""


class SchedulerPool(Generic[Item, Result]):
    """A pool of workers on other machines."""

    def __init__(self, scheduler: Scheduler, work: Work) -> None:
        self._scheduler = scheduler
        self._work = work
        self._answers = Answers[Any](work.result)
        self._running: dict[str, _Task[Item]] = {}
        """Tasks by their key."""
        self._again: deque[_Task[Item]] = deque()
        """Tasks to submit once more; those that were lost come first."""
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish; see `WorkerPool.run`.

        Raises:
            SchedulerError: the scheduler is gone, or there has been no worker to use for too long.
        """
        from distributed.client import ClosedClientError

        source, has_more = iter(items), True
        try:
            while True:
                self._scheduler.look()
                fit = self._scheduler.fit.keys()
                for key in [key for key, task in self._running.items() if not task.workers & fit]:
                    yield from self._lose(self._running.pop(key))
                while len(self._running) < self._room():
                    task = self._again.popleft() if self._again else _Task(list(islice(source, _ITEMS)))
                    if not task.items:
                        has_more = False
                        break
                    self._submit(task)
                if not (has_more or self._running or self._again):
                    return
                try:
                    finished = self._running.pop(self._done.get(timeout=_LOOK), None)
                except queue.Empty:
                    continue
                if finished is not None:
                    yield from self._outcome(finished)
        finally:
            for task in self._running.values():
                with suppress(ClosedClientError):  # the scheduler has gone, and its tasks with it
                    task.future.cancel()
            self._running.clear()
            self._again.clear()

    def _room(self) -> int:
        """Return how many tasks may be with the workers; an item that was lost before is there alone."""
        most = _TASKS * sum(self._scheduler.fit.values())
        return min(1, most) if any(task.losses for task in (*self._running.values(), *self._again)) else most

    def _submit(self, task: _Task[Item]) -> None:
        task.workers = frozenset(self._scheduler.fit)
        # `pure=False` makes a key for each try: dask would answer a second try with the first one's result or loss.
        task.future = self._scheduler.client.submit(
            apply_work, self._work, task.items, workers=[*task.workers], pure=False
        )
        self._running[task.future.key] = task
        task.future.add_done_callback(lambda future: self._done.put(future.key))

    def _outcome(self, task: _Task[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield the items of a task that has ended, with their results; a task that failed goes to other workers."""
        try:
            answers = task.future.result(timeout=_ANSWER)
            results = [self._answers.read(answer, item) for answer, item in zip(answers, task.items, strict=True)]
        except UnfitError as error:
            self._scheduler.refuse(*error.args)
            task.future.cancel()
            self._again.append(task)
        except msgspec.MsgspecError:
            raise SchedulerError("A worker sends answers of another kind.") from None
        except Exception:  # noqa: BLE001 - dask gave it up with its workers: it has many errors for that
            yield from self._lose(task)
        else:
            task.future.cancel()
            yield from zip(task.items, results, strict=True)

    def _lose(self, task: _Task[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Let other workers have the items of a task whose workers are gone; blame an item after several losses."""
        task.future.cancel()
        losses = task.losses + 1
        if losses < _LOSSES:
            self._again.extendleft(_Task([item], losses) for item in task.items)
        else:
            yield task.items[0], WorkerDiedError(Reason.KILLED, "SIGKILL")
