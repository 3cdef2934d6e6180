"""Emptying the trash: originals are deleted for good, the last thing that can happen to them."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, func, literal, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError
from photosvc.library.trash.deletion import Writing, finish_deletions
from photosvc.library.trash.folder import Trash
from photosvc.library.trash.names import GONE_FOLDER, TRASH_FOLDER, time_of, within
from photosvc.models import File, Sidecar, UploadedFile, file_sidecars
from photosvc.settings import Settings

#: Rows of one statement.
_PORTION: Final = 500
_UNLOADED: Final = {"synchronize_session": False}
#: Seconds after which a request begins no further deletion.
_PATIENCE: Final = 20.0
#: Later than everything in the trash.
END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Emptied:
    """What was deleted for good."""

    files: int = 0
    size: int = 0
    """Bytes."""
    is_complete: bool = True
    """Whether all was deleted that was to be."""


def older(trash: Trash, before: datetime) -> Iterator[str]:
    """The deletions from before this time."""
    return (deletion for deletion in trash.deletions() if time_of(deletion) < before)


def count(trash: Trash, before: datetime) -> Emptied:
    """What `empty` would delete."""
    total = Emptied()
    for deletion in older(trash, before):
        for kept in trash.files(deletion):
            total.files, total.size = total.files + 1, total.size + kept.size
    return total


def empty(writing: Writing, trash: Trash, before: datetime, *, goes_on: Callable[[], bool] = lambda: True) -> Emptied:
    """Delete what was deleted before this time for good; photos stay hidden until the same content returns.

    Args:
        writing: begins a write transaction, one for each deletion.
        trash: of the originals.
        before: the time.
        goes_on: asked before each deletion; the others are left to another time.

    Raises:
        PhotosvcError: the disk refuses it.

    """
    total = Emptied()
    for deletion in list(older(trash, before)):
        if not goes_on():
            total.is_complete = False
            break
        files = list(trash.files(deletion))
        with writing() as session:
            _forget(session, deletion)
        trash.delete(deletion)
        total.files, total.size = total.files + len(files), total.size + sum(kept.size for kept in files)
    return total


def empty_in_request(writing: Writing, trash: Trash, before: datetime, *, expected: int | None = None) -> Emptied:
    """`empty`, for at most 20 seconds, and only what people were told of.

    Args:
        writing: begins a write transaction, one for each deletion.
        trash: of the originals.
        before: the time.
        expected: how many files there were; None: any number.

    Raises:
        ConflictError: there are more or fewer by now; nothing is deleted.
        PhotosvcError: the disk refuses it.

    """
    if expected is not None and (found := count(trash, before).files) != expected:
        msg = f"Nothing was deleted: there are {found} files by now, not {expected}."
        raise ConflictError(msg, field="expected")
    end = time.monotonic() + _PATIENCE
    return empty(writing, trash, before, goes_on=lambda: time.monotonic() < end)


def _forget(session: Session, deletion: str) -> None:
    """Give the rows names that no file has, and count the files in no quota."""
    counted = delete(UploadedFile).where(UploadedFile.name.startswith(within(deletion), autoescape=True))
    session.execute(counted, execution_options=_UNLOADED)
    gone = update(File).where(File.name.startswith(within(deletion), autoescape=True))
    forget_sidecars(session, Sidecar.name.startswith(within(deletion), autoescape=True))
    gone = gone.values(name=literal(GONE_FOLDER) + func.substr(File.name, len(TRASH_FOLDER) + 1))
    session.execute(gone, execution_options=_UNLOADED)


def forget_sidecars(session: Session, *which: ColumnElement[bool]) -> None:
    """Delete the rows of these sidecars, and what they belong to."""
    ids = session.scalars(select(Sidecar.id).where(*which)).all()
    for start in range(0, len(ids), _PORTION):
        some = ids[start : start + _PORTION]
        linked = delete(file_sidecars).where(file_sidecars.c.sidecar_id.in_(some))
        session.execute(linked, execution_options=_UNLOADED)
        session.execute(delete(Sidecar).where(Sidecar.id.in_(some)), execution_options=_UNLOADED)


def sweep(writing: Writing, settings: Settings, now: datetime) -> Emptied:
    """What an indexer does from time to time: recover what killed processes left, delete what is old enough."""
    finish_deletions(writing, settings)
    if settings.readonly or not settings.trash_days:
        return Emptied()
    return empty(writing, Trash(settings.originals), now - timedelta(days=settings.trash_days))
