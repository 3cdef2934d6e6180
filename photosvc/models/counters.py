"""The counters of the library: its changes, its state, and the versions by which rows were derived from its files."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, bindparam, case, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from photosvc.models.base import Base, Text
from photosvc.models.statements import insert_into

#: Name of the number of committed changes of the library.
CHANGES = "changes"
#: Name of a random number that each change draws anew: cached values stay valid as long as it is unchanged. Counting
#: would reach the same numbers by other changes after a backup was restored.
STATE = "state"
#: Name of such a number that changes of private photos leave alone: people who do not see them must not notice.
OPEN_STATE = "open_state"
#: Name of such a number that the batches of an index run leave alone, until the run ends: values of the whole library,
#: which are costly to read, may be some seconds old meanwhile.
SETTLED: Final = "settled_state"
#: Key of a session's `info` that is true while an index run writes in it.
_IN_RUN: Final = "photosvc_in_run"
#: Name of the projection version by which the search rows were written.
PROJECTION = "projection"
#: Increment it whenever the projection would give other rows for the same library; older rows are stale.
PROJECTION_VERSION = 13
#: Name of the number that stands for the rules by which files were stacked; see `index.restack`.
STACKING = "stacking"
#: Name of a number: 1 if places are estimated, 0 if not; see `index.place_estimates`.
ESTIMATES = "estimates"
#: Name of a number: 1 if pictures are looked at after index runs; see `sight`.
SIGHT: Final = "sight"
#: Name of a random number that stands for the library in the sidecars that it wrote beside its originals.
LIBRARY: Final = "library"
#: Name of the time of the last backup, in seconds since 1970.
BACKED_UP: Final = "backed_up_at"
#: Name of the time at which the watcher looked last, in seconds since 1970.
WATCHED: Final = "watched_at"


class LibraryState(Base, table="library"):
    """A counter or another number of the library, by name."""

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[int] = mapped_column(BigInteger, default=0)


def read_counter(session: Session | Connection, name: str) -> int | None:
    """Return a number of the library; None before it is first set."""
    number: int | None = session.scalar(select(LibraryState.value).where(LibraryState.name == name))
    return number


def set_counters(session: Session, numbers: Mapping[str, int]) -> None:
    """Set numbers of the library by their names, in the session's write transaction."""
    row = insert_into(LibraryState, session)
    row = row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value})
    session.connection().execute(row, [{"name": name, "value": value} for name, value in numbers.items()])


_LIBRARY: Final[Any] = LibraryState.__table__
_COUNT: Final = (
    update(_LIBRARY)
    .where(_LIBRARY.c.name.in_((CHANGES, STATE, bindparam("open_state"), bindparam("settled"))))
    .values(value=case((_LIBRARY.c.name == CHANGES, _LIBRARY.c.value + 1), else_=bindparam("state")))
)


def record_change(session: Session, *, private: bool = False) -> None:
    """Record a change of the library: draw a new state number (for ETags) and increment the change counter.

    Args:
        private: True if only callers who see private photos may notice the change.
    """
    state, in_run = secrets.randbits(62), session.info.get(_IN_RUN, False)
    values = {"state": state, "open_state": STATE if private else OPEN_STATE, "settled": STATE if in_run else SETTLED}
    if session.connection().execute(_COUNT, values).rowcount < 4 - private - in_run:
        first = {CHANGES: 1, PROJECTION: PROJECTION_VERSION, STATE: state, OPEN_STATE: state, SETTLED: state}
        known = set(session.scalars(select(LibraryState.name)))
        session.add_all(LibraryState(name=name, value=value) for name, value in first.items() if name not in known)
        session.flush()


@contextmanager
def in_index_run(session: Session) -> Iterator[None]:
    """Let the changes that the block records in this session leave `SETTLED` alone; `settle` ends them."""
    session.info[_IN_RUN] = True
    try:
        yield
    finally:
        session.info[_IN_RUN] = False


def settle(session: Session) -> None:
    """Draw a new number `SETTLED` at the end of an index run that changed the library, in a write transaction.

    `STATE` changes with it: answers from older values had its last number in their entity tags.
    """
    if read_counter(session, STATE) != read_counter(session, SETTLED):
        state = secrets.randbits(62)
        set_counters(session, {STATE: state, SETTLED: state})
