"""The photos in the trash that one account deleted: their list, and their permanent deletion."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, Select, exists, func, not_, select
from sqlalchemy.orm import Session, aliased

from photosvc.core.clock import Clock
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library import originals
from photosvc.library.storage_errors import ParentMissingError
from photosvc.library.trash.folder import Trash, TrashedFile, time_of
from photosvc.library.trash.restoring import PORTION, Emptied, chosen_files, forget_files, patience
from photosvc.models import ORIGINALS_ROOT, File, Photo, PhotoChange
from photosvc.models.engine import Writing
from photosvc.models.statements import begins, in_portions
from photosvc.search.reading.files import FILE_COLUMNS, SeenFile

#: The most photos of an account that are listed.
MOST_LISTED: Final = 20_000
_DELETED: Final = "photos.delete"
_IN_TRASH: Final = (File.root == ORIGINALS_ROOT, File.missing, begins(File.name, f"{TRASH_FOLDER}/"))


def deleted_photos(connection: Connection, actor_uid: str) -> list[SeenFile]:
    """Return the main file of each photo in the trash that an account deleted, the last deletion first."""
    rows = connection.execute(_of(actor_uid).order_by(File.name.desc()).limit(MOST_LISTED)).all()
    files = sorted((SeenFile(*row) for row in rows), key=lambda file: (file.photo_id, not file.primary))
    firsts = [next(same) for _, same in groupby(files, key=lambda file: file.photo_id)]
    return sorted(firsts, key=lambda file: (deleted_at(file), file.photo_id), reverse=True)


def deleted_file(connection: Connection, content_hash: str) -> SeenFile | None:
    """Return a file in the trash with this SHA-1; None if there is none."""
    query = select(*FILE_COLUMNS).join(Photo, Photo.id == File.photo_id).where(*_IN_TRASH, File.hash == content_hash)
    row = connection.execute(query.limit(1)).first()
    return None if row is None else SeenFile(*row)


def deleted_at(file: SeenFile) -> datetime:
    """Return the time at which a file in the trash was deleted."""
    return time_of(file.name.removeprefix(f"{TRASH_FOLDER}/"))


def days_left(file: SeenFile, days: int, now: datetime) -> int | None:
    """Return the number of days, the last one included, that a file stays in the trash; None without an end."""
    if not days:
        return None
    return max(1, -(-(deleted_at(file) + timedelta(days=days) - now) // timedelta(days=1)))


def delete_own(writing: Writing, trash: Trash, actor_uid: str, photo_uids: Sequence[str], clock: Clock) -> Emptied:
    """Delete these photos for good if the account deleted them; photos stay hidden until the same content returns.

    No portion is begun after 20 seconds.

    Raises:
        PhotosvcError: the disk refuses it, or fails; the remaining files stay in the trash.
    """
    total, goes_on = Emptied(), patience(clock)
    for portion in in_portions(photo_uids, PORTION):
        if not goes_on():
            total.is_complete = False
            break
        with writing(library=True) as session:
            files = _files_of(session, trash, actor_uid, portion)
            forget_files(session, [file.path for file in files])
        for file in files:
            with suppress(ParentMissingError):  # somebody else restored or deleted it just now
                originals.remove_file(trash.originals, file.path)
            total.files, total.size = total.files + 1, total.size + file.size
        for deletion in {file.deletion for file in files}:
            trash.drop_empty(deletion)
    return total


def _files_of(session: Session, trash: Trash, actor_uid: str, photo_uids: Sequence[str]) -> list[TrashedFile]:
    own = session.scalars(_of(actor_uid).with_only_columns(Photo.uid).where(Photo.uid.in_(photo_uids)).distinct())
    return [file for file in chosen_files(session, trash, own.all()) if file.folder == TRASH_FOLDER]


def _of(actor_uid: str) -> Select[Any]:
    """Return the query for the files in the trash of photos whose last deletion this account made."""
    latest, other = aliased(PhotoChange), aliased(File)
    last = select(func.max(latest.id)).where(latest.photo_uid == Photo.uid, latest.action == _DELETED)
    last = last.correlate(Photo)
    own = exists().where(PhotoChange.id == last.scalar_subquery(), PhotoChange.actor_uid == actor_uid)
    present = exists().where(other.photo_id == Photo.id, not_(other.missing), not_(other.sidecar))
    return select(*FILE_COLUMNS).join(Photo, Photo.id == File.photo_id).where(*_IN_TRASH, own, not_(present))
