"""Looking for look-alikes: wished for by people, done by an indexer, because it takes seconds in a large library."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Engine, delete, insert, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.library.look_alikes.duplicates import Copy, find_duplicates
from photosvc.models import LibraryState, LookAlike
from photosvc.models.database.inserts import insert_into
from photosvc.models.database.transactions import open_reader, write_session

#: Photos of a group that are kept, the best ones: the others follow when these are decided on.
MOST_KEPT: Final = 100
#: Rows of the library's state: when another look was requested, and when the last one was, in seconds since 1970.
_WISHED: Final = "look_alikes_wished"
_LOOKED: Final = "look_alikes_at"
_PORTION: Final = 1000
_UNLOADED: Final = {"synchronize_session": False}


def wish_look(session: Session, now: datetime) -> None:
    """Ask an indexer to look for look-alikes, in a write transaction."""
    _set(session, _WISHED, int(now.timestamp()))


def is_look_wished(session: Session) -> bool:
    """Whether a look was requested that has not ended."""
    return _read(session, _WISHED) is not None


def looked_at(session: Session) -> datetime | None:
    """When the last look began; None before the first."""
    seconds = _read(session, _LOOKED)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def look_if_wished(engine: Engine, clock: Clock) -> bool:
    """Look for look-alikes if that was requested, and keep their groups; gives whether it was done.

    The request stays when it is repeated during the look, or when the process is killed.
    """
    with closing(open_reader(engine)) as connection:
        wished = connection.scalar(select(LibraryState.value).where(LibraryState.name == _WISHED))
        if wished is None:
            return False
        now = clock()
        groups = find_duplicates(connection)
    with write_session(engine) as session:
        session.execute(delete(LookAlike), execution_options=_UNLOADED)
        portion: list[dict[str, Any]] = []
        for row in _rows(groups):
            portion.append(row)
            if len(portion) == _PORTION:
                session.execute(insert(LookAlike), portion)
                portion.clear()
        if portion:
            session.execute(insert(LookAlike), portion)
        _set(session, _LOOKED, int(now.timestamp()))
        done = delete(LibraryState).where(LibraryState.name == _WISHED, LibraryState.value == wished)
        session.execute(done, execution_options=_UNLOADED)
    return True


def _rows(groups: list[list[Copy]]) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(groups, 1):
        for place, copy in enumerate(group[:MOST_KEPT]):
            yield {"number": number, "place": place, "photo_id": copy.photo_id, "distance": copy.distance}


def _read(session: Session, name: str) -> int | None:
    return session.scalar(select(LibraryState.value).where(LibraryState.name == name))


def _set(session: Session, name: str, value: int) -> None:
    row = insert_into(LibraryState, session).values(name=name, value=value)
    session.execute(row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value}))
