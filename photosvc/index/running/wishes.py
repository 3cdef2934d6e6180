"""Wishes: any process may ask for a folder to be indexed; the one indexer takes the wishes and deletes them when done.

A wish is never lost: its row stays until a run that began after it has finished, also when the indexer is killed.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from sqlalchemy import and_, delete, func, or_, select
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError
from photosvc.core.paths import clean_name
from photosvc.index.running.run_lock import cancel_run
from photosvc.index.scanning.scan import MAX_PATH, is_too_long
from photosvc.models import IndexWish
from photosvc.models.database.inserts import insert_into

#: Folders that may wait; further wishes become a wish for all originals, so that the table stays small.
MOST_WAITING: Final = 1000


@dataclass(frozen=True, slots=True)
class Wish:
    """A folder to look at."""

    folder: str
    """Relative to the originals, in the form of `core.paths.clean_name`; empty for all originals."""
    force: bool = False
    """Whether to read unchanged files again."""
    number: int = 0
    """Tells the wishes for one folder apart."""


def wish(session: Session, now: datetime, folder: str = "", *, force: bool = False) -> None:
    """Ask for a folder to be indexed, in the write transaction of the session; equal wishes become one.

    Args:
        session: in a write transaction; the caller commits.
        now: the present.
        folder: relative to the originals, as on disk; empty for all of them. It need not exist: when it does not,
            the next folder above it that exists is looked at.
        force: read unchanged files again.

    Raises:
        InvalidValueError: the folder is absolute, contains `..`, or has a longer path than scans look at.

    """
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts or "\x00" in folder:
        msg = "a folder to index is relative to the originals and below them"
        raise InvalidValueError(msg, field="path")
    name = clean_name("/".join(path.parts))
    if is_too_long(name):
        msg = f"a path to index has at most {MAX_PATH} bytes"
        raise InvalidValueError(msg, field="path")
    waiting = session.scalar(select(func.count()).select_from(IndexWish)) or 0
    if waiting >= MOST_WAITING and session.get(IndexWish, name) is None:
        name = ""
    new = insert_into(IndexWish, session).values(folder=name, force=force, number=secrets.randbits(62), created_at=now)
    session.execute(
        new.on_conflict_do_update(
            index_elements=["folder"],
            set_={"number": new.excluded.number, "force": or_(IndexWish.force, new.excluded.force)},
        )
    )


def waiting(session: Session) -> Sequence[Wish]:
    """All wishes, those for folders above others first."""
    rows = session.execute(select(IndexWish.folder, IndexWish.force, IndexWish.number).order_by(IndexWish.folder))
    return [Wish(*row) for row in rows]


def fulfil(session: Session, done: Sequence[Wish]) -> None:
    """Delete wishes after a run, in the write transaction of the session; what was wished meanwhile stays."""
    for one in done:
        session.execute(delete(IndexWish).where(and_(IndexWish.folder == one.folder, IndexWish.number == one.number)))


def stop(session: Session, now: datetime) -> bool:
    """Ask the index run that is going on to stop, and delete the wishes to index everything or to read files again.

    What the run has indexed stays, as do wishes for the folders of new uploads. In the write transaction; whether there
    was anything to stop.
    """
    gone: Any = session.execute(delete(IndexWish).where(or_(IndexWish.folder == "", IndexWish.force)))
    return cancel_run(session, now) or gone.rowcount > 0
