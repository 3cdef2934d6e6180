"""When the originals were indexed last."""

from datetime import UTC, datetime
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.models import LibraryState
from photosvc.models.database.inserts import insert_into

#: Rows of the library's state: seconds since 1970 of the end of the last run, and of the last over all originals.
_ENDED: Final = "indexed_at"
_WHOLE: Final = "scanned_at"


class LastRun(NamedTuple):
    """Ends of the last runs; None before the first."""

    ended_at: datetime | None
    whole_at: datetime | None
    """Of the last one that looked at all originals."""


def note_run(session: Session, now: datetime, *, whole: bool) -> None:
    """Keep that a run has ended, in the write transaction of the session."""
    rows = [{"name": name, "value": int(now.timestamp())} for name in ((_ENDED, _WHOLE) if whole else (_ENDED,))]
    added = insert_into(LibraryState, session)
    session.execute(
        added.values(rows).on_conflict_do_update(index_elements=["name"], set_={"value": added.excluded.value})
    )


def last_run(session: Session) -> LastRun:
    """The ends of the last runs."""
    query = select(LibraryState.name, LibraryState.value).where(LibraryState.name.in_((_ENDED, _WHOLE)))
    found = {name: datetime.fromtimestamp(value, UTC) for name, value in session.execute(query)}
    return LastRun(found.get(_ENDED), found.get(_WHOLE))
