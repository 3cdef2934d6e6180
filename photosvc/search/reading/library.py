"""The state of the library: its number, entity tags and versions made from it, and values cached until it changes.

Entity tags (RFC 9110 section 8.8.3) are made from the state number, so that they change with the library. It changes
with private photos too, so it makes no tags for callers who do not see these: they get tags of whole bodies.
"""

import hashlib
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import ConflictError
from photosvc.models import OPEN_STATE, PROJECTION_VERSION, STATE, LibraryState, SearchRow
from photosvc.models.counters import SETTLED
from photosvc.models.statements import Prepared, prepare_statement
from photosvc.search.limits import waiting_for

if TYPE_CHECKING:
    from photosvc.search.reading.request import SearchRequest

Value = TypeVar("Value")
#: While an index run writes, a cached value serves for so many seconds, or so many times the time of reading it.
_FRESH_SECONDS: Final = 5.0
_FRESH_TIMES: Final = 10


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(state: int, request: "SearchRequest", *, sees_private: bool) -> str | None:
    """Return the entity tag of a page in this state of the library; None if its seed was drawn at random.

    None also for callers who do not see private photos, as for `state_tag`.
    """
    return page_key(state, request, sees_private=True) if request.repeats and sees_private else None


def page_key(state: int, request: "SearchRequest", *, sees_private: bool) -> str:
    """Return the digest of all that a page follows from: the library, the request with its day, and the rights."""
    return _tag(state, request, sees_private, today=request.today)


def plan_key(state: int, *made_of: object) -> str:
    """Return the digest of all that a plan follows from: the library, the resolved query and how its rows are read."""
    return _digest(state, *made_of)


def library_state(connection: Connection, *, sees_private: bool = True) -> int:
    """Return the state number of the library, a random number that differs after each change.

    For callers who do not see private photos, it stays the same after changes of these.
    """
    return _number(connection, STATE if sees_private else OPEN_STATE)


def highest_file(session: Session) -> int:
    """Return the highest id of a file that searches can find; 0 if there is none."""
    return session.scalar(select(func.max(SearchRow.file_id))) or 0


def _number(connection: Connection, name: str) -> int:
    """Return a number of the library; 0 before it is first set."""
    ((number,),) = _state(connection.dialect).run(connection, {"name": name}) or [(0,)]
    return int(number)


def state_tag(connection: Connection, *made_of: object, sees_private: bool, today: date) -> str | None:
    """Return the entity tag of an answer made from the library's state, the day and `made_of`.

    Pass requests and queries whole, so that the tag contains all their fields, also those that are added one day.

    None for callers who do not see private photos: `web.responses` tags their answers by the body.
    """
    return _tag(library_state(connection), *made_of, today=today) if sees_private else None


def _tag(state: int, *made_of: object, today: date) -> str:
    # The filter of a smart album may say `last week`.
    return _digest(state, today.toordinal(), *made_of)


def _digest(*made_of: object) -> str:
    text = repr((PROJECTION_VERSION, *made_of))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def version_of(connection: Connection, expected: str = "", *, sees_private: bool) -> str:
    """Return the version of the library, which differs after any change that the caller may see.

    Raises:
        ConflictError: it is not the expected one.
    """
    version = f"{library_state(connection, sees_private=sees_private):x}"
    if expected and expected != version:
        raise ConflictError("the library has changed: ask for the months again and use their version", field="version")
    return version


class _Cached(NamedTuple, Generic[Value]):
    """A value, the numbers `STATE` and `SETTLED` when it was read, and the time until which it serves an index run."""

    state: int
    settled: int
    until: float
    value: Value


class CachedValue(Generic[Value]):
    """A cached value of the library, one for callers who see private photos and one for others.

    One thread reads it, and others that need it wait for that one. While an index run goes on, a value may be
    `_FRESH_SECONDS` old, or `_FRESH_TIMES` as old as reading it takes.

    Args:
        read: takes a connection and the keyword `sees_private`.
    """

    def __init__(self, read: Callable[..., Value], clock: Clock = SYSTEM_CLOCK) -> None:
        self._read = read
        self._clock = clock
        self._cached: dict[bool, _Cached[Value]] = {}
        self._reading = {True: Lock(), False: Lock()}

    def read(self, connection: Connection, *, sees_private: bool) -> Value:
        """Return the value for the present state of the library.

        Raises:
            SearchEndedError: the search must end before another thread has read the value.
        """
        cached = self._serving(connection, sees_private=sees_private)
        if cached is None:
            with waiting_for(connection, self._reading[sees_private]):
                cached = self._serving(connection, sees_private=sees_private)
                if cached is None:
                    state, settled = _number(connection, STATE), _number(connection, SETTLED)
                    began = self._clock.monotonic()
                    value = self._read(connection, sees_private=sees_private)
                    ended = self._clock.monotonic()
                    until = ended + max(_FRESH_SECONDS, _FRESH_TIMES * (ended - began))
                    cached = self._cached[sees_private] = _Cached(state, settled, until, value)
        return cached.value

    def _serving(self, connection: Connection, *, sees_private: bool) -> "_Cached[Value] | None":
        """Return the cached value if it still serves; without a state number, no change is noticed."""
        cached = self._cached.get(sees_private)
        if cached is None or not (state := _number(connection, STATE)):
            return None
        in_run = self._clock.monotonic() < cached.until
        serves = cached.state == state or (in_run and cached.settled == _number(connection, SETTLED))
        return cached if serves else None
