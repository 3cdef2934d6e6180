"""Folders that wait to be imported: requests wish for them, and the indexer imports them.

A wish stays until its run has ended, so that an indexer that was killed imports the rest at its next start.
"""

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.models import ImportWish
from photosvc.models.database.inserts import insert_into

#: Folders that may wait.
MOST_WAITING: Final = 100
_UNLOADED: Final = {"synchronize_session": False}


class TooManyImportsError(PhotosvcError):
    """Too many folders wait to be imported; ask again when some of them are done."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    retry_after = 60


@dataclass(frozen=True, slots=True)
class Wish:
    """A folder to import."""

    folder: str
    """Relative to the folder of imports, in the form of `core.paths.clean_name`; empty for all of it."""
    moves: bool
    user_id: int | None
    albums: tuple[str, ...]
    created_at: datetime
    """Tells the wishes for one folder apart."""


def wish(session: Session, new: Wish) -> None:
    """Ask for a folder to be imported, in a write transaction; it replaces an earlier wish for the same folder.

    Raises:
        TooManyImportsError: as many folders wait as may.

    """
    waiting = session.scalar(select(func.count()).select_from(ImportWish)) or 0
    if waiting >= MOST_WAITING and session.get(ImportWish, new.folder) is None:
        raise TooManyImportsError
    values = {
        "moves": new.moves,
        "user_id": new.user_id,
        "albums": " ".join(new.albums),
        "created_at": new.created_at,
    }
    row = insert_into(ImportWish, session).values(folder=new.folder, **values)
    session.execute(row.on_conflict_do_update(index_elements=["folder"], set_=values))


def waiting(session: Session) -> list[Wish]:
    """All wishes, the one that waits longest first."""
    rows = session.scalars(select(ImportWish).order_by(ImportWish.created_at, ImportWish.folder))
    return [Wish(row.folder, row.moves, row.user_id, tuple(row.albums.split()), row.created_at) for row in rows]


def next_wish(session: Session) -> Wish | None:
    """The wish that waits longest."""
    return next(iter(waiting(session)), None)


def is_wished(session: Session, one: Wish) -> bool:
    """Whether the wish was neither withdrawn nor replaced."""
    query = select(ImportWish.created_at).where(ImportWish.folder == one.folder)
    return session.scalar(query) == one.created_at


def fulfil(session: Session, one: Wish) -> None:
    """Delete a wish after its run, in a write transaction, unless it was replaced meanwhile."""
    same = (ImportWish.folder == one.folder, ImportWish.created_at == one.created_at)
    session.execute(delete(ImportWish).where(*same), execution_options=_UNLOADED)


def withdraw(session: Session) -> int:
    """Delete all wishes, in a write transaction, and so stop the run; gives their number."""
    gone: Any = session.execute(delete(ImportWish), execution_options=_UNLOADED)
    return int(gone.rowcount)
