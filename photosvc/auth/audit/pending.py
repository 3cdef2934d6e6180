"""Refusals of this process: equal ones are counted for a minute, so that no flood of them fills the log or the disk.

The first of each kind is recorded at once, the number of those that followed when the minute is over. A kind is made
of the event, the name, the actor and the network. Names that no account has are kinds as well: if all of them were one
kind, the time of an answer would show which names exist. Beyond a few kinds from one network, and some from all,
refusals are counted together, so that the entries of a minute are bounded however many requests arrive.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final, TypeAlias

from photosvc.auth.audit.entry import Entry
from photosvc.auth.throttle.attempts import network_of

WINDOW: Final = timedelta(minutes=1)
#: Kinds of one network, and of all, that are counted apart.
MOST_OF_NETWORK: Final = 8
MOST_KINDS: Final = 32
#: Entries that wait for the database; beyond these the oldest are left out of it, not out of the lines.
MOST_WAITING: Final = 256

_OTHERS: Final = "others"
_ANY_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)

#: What equal refusals have in common, and a digest of the name that they showed.
_Kind: TypeAlias = tuple[Entry, str]


@dataclass(slots=True)
class Pending:
    """What is counted, and what waits for the database. Threads may share it."""

    _began: datetime | None = None
    _counts: dict[_Kind, int] = field(default_factory=dict)
    """By kind: how many followed the first."""
    _of_network: Counter[str] = field(default_factory=Counter)
    _waiting: deque[Entry] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    _lock: Lock = field(default_factory=Lock)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is counted and nothing waits."""
        return self._began is None

    def is_due(self, now: datetime) -> bool:
        """Whether the minute is over."""
        return self._began is not None and not timedelta() <= now - self._began < WINDOW

    def note(self, entry: Entry, *, typed: str = "") -> list[Entry]:
        """Count a refusal; gives what is to be told of it now, which from now on waits for the database too.

        Args:
            entry: the refusal.
            typed: a digest of the name that was shown, whether or not it exists.

        """
        with self._lock:
            told = self._end_minute(entry.created_at)
            self._began = self._began or entry.created_at
            kind, first = self._kind(entry, typed)
            if kind in self._counts:
                self._counts[kind] += 1
            else:
                self._counts[kind] = 0
                self._of_network[kind[0].address] += 1
                told.append(first)
            self._waiting.extend(told)
        return told

    def end_minute(self, now: datetime, *, early: bool = False) -> list[Entry]:
        """If the minute is over, what is to be told of it, which from now on waits for the database too.

        Args:
            now: the present.
            early: end the minute even if it is not over.

        """
        with self._lock:
            told = self._end_minute(now, early=early)
            self._waiting.extend(told)
        return told

    def take(self) -> list[Entry]:
        """Everything that waits for the database, the oldest first; the caller writes it or gives it back."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    def give_back(self, taken: Iterable[Entry], now: datetime) -> None:
        """Let what could not be written wait for the end of this minute."""
        with self._lock:
            self._waiting.extendleft(reversed(list(taken)))
            self._began = self._began or now

    def _end_minute(self, now: datetime, *, early: bool = False) -> list[Entry]:
        if not (early or self.is_due(now)):
            return []
        told = [replace(alike, created_at=now, times=count) for (alike, _typed), count in self._counts.items() if count]
        self._began = None
        self._counts.clear()
        self._of_network.clear()
        return told

    def _kind(self, entry: Entry, typed: str) -> tuple[_Kind, Entry]:
        """The kind of an entry, and what is told of the first of it."""
        alike = replace(entry, created_at=_ANY_TIME, address=network_of(entry.address), request_id="")
        is_known = (alike, typed) in self._counts
        if is_known or (len(self._counts) < MOST_KINDS and self._of_network[alike.address] < MOST_OF_NETWORK):
            return (alike, typed), entry
        address = alike.address if len(self._counts) < MOST_KINDS else ""
        others = Entry(created_at=_ANY_TIME, event=entry.event, detail=_OTHERS, address=address)
        return (others, ""), replace(others, created_at=entry.created_at)
