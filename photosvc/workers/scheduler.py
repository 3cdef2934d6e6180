"""Workers on other machines, by dask.distributed: pools with the interface of `WorkerPool`.

Each batch of items is a task. Only workers that have proved that they have the same version and see the originals get
tasks, also those that join later. When a worker is gone, dask gives its tasks to others. The items of a batch that was
lost several times go alone; one that goes alone and is lost again counts as one that kills its reader, which a later
run tries again.
"""

import logging
import pickle
import queue
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count, islice
from typing import Any, Final, Generic, Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Reason
from photosvc.workers.process import WorkerDiedError
from photosvc.workers.protocol import Answers
from photosvc.workers.remote import BATCHES, MOST_ITEMS, Landmarks, UnfitError, Work, work

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Loggers of dask that report workers and schedulers that are gone; `report` and errors do so in a sentence.
_TALKATIVE: Final = ("distributed", "distributed.client", "distributed.comm", "distributed.core", "tornado.application")
#: Seconds within which a scheduler must answer.
_ANSWER: Final = 10
#: Seconds between two looks at the workers of the scheduler.
_LOOK: Final = 0.5
#: Seconds for which a run waits for a worker that it can use.
PATIENCE: Final = 30.0
#: Seconds of work that a batch should have.
_BATCH_SECONDS: Final = 0.5
#: Losses after which the files of a batch go alone, and after which a file that goes alone is blamed.
_LOSSES = 2


class SchedulerError(PhotosvcError):
    """The scheduler, or all of its workers, cannot be used."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 60


@dataclass(slots=True)
class Scheduler:
    """A scheduler with its workers, as one process sees them; made by `connected`."""

    address: str
    client: Any
    landmarks: Landmarks
    report: Callable[[str], None]
    """Called with a sentence about each worker that cannot be used."""
    fit: dict[str, int] = field(default_factory=dict, init=False)
    """The addresses of the workers that can be used, and their threads."""
    _refused: set[str] = field(default_factory=set, init=False)
    _look_at: float = field(default=0.0, init=False)
    _fit_at: float = field(default_factory=SYSTEM_CLOCK.monotonic, init=False)

    def pool(
        self, function: Callable[[Item], Result], *, result: type[Result], timeout: float, memory_bytes: int
    ) -> "SchedulerPool[Item, Result]":
        """Return a pool that applies a function to items; the arguments are those of `WorkerPool`."""
        return SchedulerPool(self, Work(pickle.dumps(function), result, timeout, memory_bytes, self.landmarks))

    def look(self) -> None:
        """Find out which workers there are, and try those that are new.

        Raises:
            SchedulerError: the scheduler does not answer, or there has been no worker to use for too long.
        """
        now = SYSTEM_CLOCK.monotonic()
        if now < self._look_at:
            return
        present = self._ask(self.client.scheduler.ncores)
        new = [address for address in present if address not in self.fit and address not in self._refused]
        self.fit = {address: present[address] for address in self.fit if address in present}
        self._refused &= present.keys()
        for address, found in (self._try(new) if new else {}).items():
            if found:
                self.refuse(address, found)
            else:
                self.fit[address] = present[address]
        now = SYSTEM_CLOCK.monotonic()
        self._look_at = now + _LOOK
        if self.fit:
            self._fit_at = now
        elif now - self._fit_at > PATIENCE:
            raise SchedulerError(f"The scheduler {self.address} has no worker that can be used.")

    def refuse(self, address: str, reason: str) -> None:
        """Give a worker no more work."""
        self.fit.pop(address, None)
        self._refused.add(address)
        self.report(f"The worker {address} is not used: it {reason}.")

    def _try(self, addresses: list[str]) -> Mapping[str, str]:
        """Return for each of these workers why it cannot be used, empty if it can; those that are gone are left out."""
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
class _Batch(Generic[Item]):
    """Items that one worker gets together."""

    items: list[Item]
    is_alone: bool = False
    """True for one suspected item, beside which no worker has anything else."""
    losses: int = 0
    """The number of times that it was lost with all workers that it may go to."""
    workers: frozenset[str] = frozenset()
    """The addresses of the workers that may have it."""
    future: Any = None
    """The future of dask; None before and after the batch is with a worker."""


class SchedulerPool(Generic[Item, Result]):
    """A pool of workers on other machines.

    Args:
        given: the function, and the limits of the processes that apply it.
    """

    def __init__(self, scheduler: Scheduler, given: Work) -> None:
        self._scheduler = scheduler
        self._given = given
        self._answers = Answers[Any](given.result)
        self._numbers = count()
        self._seconds = 0.1  # of an item
        self._running: dict[int, _Batch[Item]] = {}
        self._again: deque[_Batch[Item]] = deque()
        """Batches to give once more; suspected items come first."""
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish; see `WorkerPool.run`.

        Raises:
            SchedulerError: the scheduler is gone, or there has been no worker to use for too long.
        """
        source, has_more = iter(items), True
        try:
            while True:
                self._scheduler.look()
                for number in [one for one, batch in self._running.items() if not batch.workers & self._fit]:
                    yield from self._return(self._running.pop(number), lost=True)
                while len(self._running) < self._most():
                    batch = self._again.popleft() if self._again else self._next(source)
                    if batch is None:
                        has_more = False
                        break
                    self._give(batch)
                if not (has_more or self._running or self._again):
                    return
                try:
                    number = self._done.get(timeout=_LOOK)
                except queue.Empty:
                    continue
                if (finished := self._running.pop(number, None)) is not None:
                    yield from self._outcome(finished)
        finally:
            for batch in self._running.values():
                batch.future.cancel()
            self._running.clear()
            self._again.clear()

    def _most(self) -> int:
        """Return how many batches may be with the workers."""
        most = BATCHES * sum(self._scheduler.fit.values())
        return min(1, most) if any(one.is_alone for one in (*self._running.values(), *self._again)) else most

    @property
    def _fit(self) -> frozenset[str]:
        return frozenset(self._scheduler.fit)

    def _next(self, source: Iterator[Item]) -> _Batch[Item] | None:
        size = min(MOST_ITEMS, max(1, round(_BATCH_SECONDS / self._seconds)))
        items = list(islice(source, size))
        return _Batch(items) if items else None

    def _give(self, batch: _Batch[Item]) -> None:
        number, batch.workers = next(self._numbers), self._fit
        # A key of its own for each try: dask would answer a second try with the first one's result or loss.
        batch.future = self._scheduler.client.submit(
            work, self._given, batch.items, workers=[*batch.workers], pure=False
        )
        self._running[number] = batch
        batch.future.add_done_callback(lambda _: self._done.put(number))

    def _outcome(self, batch: _Batch[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield the items of a batch that has ended, with their results; a batch that failed is given to others."""
        try:
            answers, seconds = batch.future.result(timeout=_ANSWER)
            results = [self._answers.read(answer) for answer in answers]
        except UnfitError as error:
            self._scheduler.refuse(*error.args)
        except msgspec.MsgspecError:
            raise SchedulerError("A worker sends answers of another kind.") from None
        except Exception:  # noqa: BLE001 - dask gave it up with its workers: it has many errors for that
            yield from self._return(batch, lost=True)
            return
        else:
            batch.future.cancel()
            self._seconds = max(1e-3, (self._seconds + seconds / len(results)) / 2)
            yield from zip(batch.items, results, strict=True)
            return
        yield from self._return(batch, lost=False)

    def _return(self, batch: _Batch[Item], *, lost: bool) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Let other workers have a batch; after several losses, give its items alone, and then give an item up."""
        batch.future.cancel()
        batch.losses += lost
        if batch.losses < _LOSSES and batch.is_alone:
            self._again.appendleft(batch)
        elif batch.losses < _LOSSES:
            self._again.append(batch)
        elif not batch.is_alone:
            self._again.extendleft(_Batch([item], is_alone=True) for item in batch.items)
        else:
            yield batch.items[0], WorkerDiedError(Reason.KILLED, "SIGKILL")
