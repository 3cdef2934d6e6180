"""The admission gate: the only limit on how many requests of one account, and of all, are in progress at the same time.

Each request of a principal takes a place; it takes another one when it turns out to be costly: its search takes long,
its answer or its body is large, it writes, or changes many photos. Accounts have shares, so that none keeps the others
from being answered. The places are those of one process.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from http import HTTPStatus
from typing import Final

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.slots import Slots
from photosvc.settings import Settings

#: Assumed threads of a server that does not report their number.
_THREADS: Final = 16
#: Changes of many photos at the same time.
_BATCHES: Final = 2
#: Requests that wait to send or receive a large file.
_WAITING: Final = 4
#: Seconds for which a request waits until another one of its account ends: in total, and since the last one ended.
_PATIENCE: Final = 1.0
_STILL: Final = 0.25


class Cost(Enum):
    """The kinds of work that are limited."""

    PLAIN = auto()
    """Any request with a principal."""
    COSTLY = auto()
    """A search that takes long."""
    TRANSFER = auto()
    """A large answer, until the client has received it."""
    RECEIVE = auto()
    """Files that arrive."""
    BATCH = auto()
    """A change with many transactions."""
    WRITE = auto()
    """A write transaction, or waiting for its lock."""


#: The messages if all places are taken, and if the account has taken its share; seconds until the next try; the name
#: of the limit.
_REFUSALS: Final = {
    Cost.PLAIN: (
        "The server has too many such requests: try again in a moment.",
        "You have too many such requests in progress: wait until one is complete.",
        1,
        "requests",
    ),
    Cost.TRANSFER: (
        "The server is sending too many large answers: try again in a moment.",
        "You are downloading several large files already: wait until one is complete.",
        10,
        "transfers",
    ),
    Cost.RECEIVE: (
        "The server is receiving too many files: try again in a moment.",
        "You are sending several files already: wait until one is complete.",
        5,
        "uploads",
    ),
    Cost.BATCH: (
        "The server is changing too many selections of photos: try again in a moment.",
        "You are changing many photos already: wait until that is complete.",
        5,
        "batches",
    ),
}


class NotAdmittedError(PhotosvcError):
    """The server, or the account, has too many such requests in progress: try again in a moment."""


class AdmissionGate:
    """The places of this process for each kind of work.

    Args:
        settings: with the numbers of transfers, of requests that receive files, and of costly searches.
        clock: of the waits.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        transfers, searches = settings.transfers, settings.costly_searches
        self.places: Final = {
            Cost.COSTLY: Slots(max(1, searches * 2 // 3), searches, clock=clock),
            Cost.TRANSFER: Slots(settings.transfers_each, transfers, waiting=_WAITING, clock=clock),
            Cost.RECEIVE: Slots(settings.uploads, settings.uploads, waiting=_WAITING, clock=clock),
            Cost.BATCH: Slots(1, _BATCHES, clock=clock),
            Cost.PLAIN: Slots(1, clock=clock),
            Cost.WRITE: Slots(1, clock=clock),
        }
        self.let_serve(_THREADS)

    def let_serve(self, threads: int) -> None:
        """Share out the threads of the process: half of them to one account, and half to requests that write.

        One account has at most three quarters of the places for writing. A further eighth of the threads writes for
        requests without a principal, which sign in or ask for a token, so that no account keeps others from signing in.
        """
        half = max(1, threads // 2)
        self.places[Cost.PLAIN].limit(half)
        write = self.places[Cost.WRITE]
        write.limit(max(1, threads * 3 // 8), half, reserved=max(1, threads // 8), waiting=max(4, half - 3))

    def enter(self, owner: str) -> Callable[[], None]:
        """Take a place for a request of this owner; return the function that frees it.

        While its requests end one after the other, a client may send many at once: each waits a little for its turn.

        Raises:
            NotAdmittedError: the owner has too many requests in progress.
        """
        return self.take(Cost.PLAIN, owner, patience=_PATIENCE, still=_STILL)

    def take(self, cost: Cost, owner: str, *, patience: float = 0, still: float = math.inf) -> Callable[[], None]:
        """Take a place for costly work, as `Slots.take` does; return the function that frees it, to be called once.

        Raises:
            NotAdmittedError: with 503, all places are taken; with 429, the owner has taken its own.
        """
        if (free := self.places[cost].take(owner, patience=patience, still=still)) is not None:
            return free
        busy, too_many, retry_after, limit = _REFUSALS[cost]
        if self.places[cost].are_all_taken:
            error = NotAdmittedError(busy, status=HTTPStatus.SERVICE_UNAVAILABLE, retry_after=retry_after)
        else:
            error = NotAdmittedError(too_many, status=HTTPStatus.TOO_MANY_REQUESTS, retry_after=retry_after)
        error.limit = limit
        raise error

    @contextmanager
    def holding(self, cost: Cost, owner: str, *, patience: float = 0) -> Iterator[None]:
        """Hold a place of `take` inside the block."""
        free = self.take(cost, owner, patience=patience)
        try:
            yield
        finally:
            free()
