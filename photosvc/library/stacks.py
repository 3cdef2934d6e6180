"""Stacks by hand: photos that a person puts together into one, and takes apart.

The files of the other photos move into the first one. Each file remembers its former photo (`File.stacked_from`), which
stays as a row without files: no search shows it, index runs do not divide the stack, and purging keeps it. It gets its
files back, with all that people entered about it, when the stack is taken apart.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.vocabulary import MANUAL
from photosvc.index.photo_changes import PhotoChanges
from photosvc.index.restack import inherit, new_photo
from photosvc.index.shared_rows import SharedRows
from photosvc.index.stack_rules import MAX_FILES
from photosvc.library.edits import (
    AREAS,
    FILES,
    NAMES,
    ORIENTATIONS,
    PRIMARY,
    STACKED,
    decided,
    restore_values,
    snapshot,
    undo,
)
from photosvc.library.journal import Change, values_of
from photosvc.library.unit_of_work import changing
from photosvc.media.formats import split_name
from photosvc.models import File, Photo, PhotoChange
from photosvc.models.statements import in_portions

#: `Photo.stack` of a photo that a person took out of stacks.
UNSTACKED: Final = -1
#: `File.primary_src` of a file that a person had chosen in its former photo.
_CHOSEN_BEFORE: Final = "former"
#: Values that belong to files, which leave the photo with them.
_OF_FILES: Final = frozenset((FILES, STACKED, ORIENTATIONS, NAMES, AREAS))


def stack(session: Session, shared_rows: SharedRows, photos: Sequence[Photo], change: Change, now: datetime) -> None:
    """Put photos together into the first one, whose file shows the stack, in the session's write transaction.

    Args:
        photos: from `unit_of_work.load_photos`, in the order of the person.

    Raises:
        InvalidValueError: there are less than two photos, or a visitor sent one.
        ConflictError: they have too many files.
    """
    target, *others = photos
    if not others:
        raise InvalidValueError("select at least two photos", field="photos")
    files = [file for photo in photos for file in photo.files]
    if len(files) > MAX_FILES:
        raise ConflictError(f"a stack has at most {MAX_FILES} files", field="photos")
    if sent := next((file for file in files if file.contributed), None):
        raise InvalidValueError(
            f"a visitor or contributor sent {sent.name}: it stays a photo of its own", field="photos"
        )
    changes = PhotoChanges(session, shared_rows, now)
    changes.remember(others)
    with changing(session, shared_rows, [target], change, now):
        _join(session, target, others)
    changes.describe(others)
    changes.project(others)


def unstack(session: Session, shared_rows: SharedRows, file: File, now: datetime) -> Photo:
    """Take a file out of its photo, in the session's write transaction, and return the photo that it becomes.

    A file that a person stacked goes back to its former photo, with the other files of that. If it is one of the photo
    that the stack begins with, the others go back, and stay a stack. Another file becomes a photo of its own, which
    begins with people's decisions about the photo that it leaves: private stays private, albums keep both.

    Raises:
        ConflictError: the file is the only one of its photo.
    """
    left = file.photo
    if not any(other is not file and not other.missing and not other.sidecar for other in left.files):
        raise ConflictError("the file is the only one of its photo")
    leaving = [other for other in left.files if file.stacked_from and _last(other) not in ("", left.uid)]
    if leaving:
        files = [other for other in leaving if _last(file) in (left.uid, _last(other))]
        first, *others = _take_apart(session, shared_rows, left, files, now)
        if others:
            _join(session, first, others)
            changes = PhotoChanges(session, shared_rows, now)
            changes.describe([first, *others])
            changes.project([first, *others])
        return first
    changes = PhotoChanges(session, shared_rows, now)
    changes.remember([left])
    photo = _photo_of(session, file, left, now)
    photo.stack = UNSTACKED
    file.photo, file.unstacked, file.stacked_from = photo, True, ""
    _settle(left)
    session.flush()
    changes.describe([left, photo])
    changes.project([left, photo])
    return photo


def undo_change(shared_rows: SharedRows, photo: Photo, entry: PhotoChange, now: datetime) -> None:
    """Undo a change of a photo inside `unit_of_work.changing`; that of a stack takes the stack apart.

    Raises:
        ConflictError: as `edits.undo`; or the stack changed since.
    """
    before, after = values_of(entry.before), values_of(entry.after)
    stacked = dict(after.get(STACKED, {}).items() - before.get(STACKED, {}).items())
    if not stacked:
        undo(shared_rows, photo, before, after)
        return
    files = [file for file in photo.files if stacked.get(file.uid) == file.stacked_from]
    present = snapshot(photo)
    before, after = ({name: some[name] for name in some if name not in _OF_FILES} for some in (before, after))
    names = list(decided(before, after))
    if len(files) < len(stacked) or any(present[name] != after[name] for name in names):
        raise ConflictError("the stack changed since then: take its files out one after the other", field="Files")
    restored = {name: before[name] for name in names}
    primary = {PRIMARY: restored.pop(PRIMARY)} if PRIMARY in restored else {}
    restore_values(photo, restored, shared_rows)  # such as private, which the others get from this photo
    _take_apart(shared_rows.session, shared_rows, photo, files, now)
    restore_values(photo, primary, shared_rows)


def stacked_photos(session: Session) -> dict[int, int]:
    """Return the id of each photo without files that a person stacked -> the id of the photo that has its files."""
    stacks: dict[str, int] = {}
    for photo_id, chain in session.execute(select(File.photo_id, File.stacked_from).where(File.stacked_from != "")):
        stacks |= dict.fromkeys(chain.split(), photo_id)
    found: dict[int, int] = {}
    for uids in in_portions(list(stacks)):
        for photo_id, uid in session.execute(select(Photo.id, Photo.uid).where(Photo.uid.in_(uids))):
            if photo_id != stacks[uid]:
                found[photo_id] = stacks[uid]
    return found


def _take_apart(
    session: Session, shared_rows: SharedRows, left: Photo, files: Collection[File], now: datetime
) -> list[Photo]:
    """Give files back to their former photos, and return these."""
    changes = PhotoChanges(session, shared_rows, now)
    homes: dict[str, Photo] = {}
    for file in files:
        uid = _last(file)
        if uid == left.uid:
            continue
        file.stacked_from = file.stacked_from.rpartition(" ")[0]
        if uid not in homes:
            former = session.scalars(select(Photo).where(Photo.uid == uid)).first()
            homes[uid] = former or _photo_of(session, file, left, now)
        home = homes[uid]
        home.private |= left.private
        if left.archived_at is not None and home.archived_at is None:
            home.archived_at, home.archived_src = left.archived_at, left.archived_src
        file.photo = home
        if file.primary_src and _last(file) in ("", uid):
            file.primary_src = MANUAL
    photos = list(homes.values())
    changes.remember([left, *photos])
    _settle(left)
    session.flush()
    changes.describe([left, *photos])
    changes.project([left, *photos])
    return photos


def _photo_of(session: Session, file: File, left: Photo, now: datetime) -> Photo:
    """Add a photo for a file, with people's decisions about the photo that it leaves."""
    folder, base, _ = split_name(file.name)
    photo = new_photo(folder, base, now)
    session.add(photo)
    session.flush()
    inherit(session, photo, left)
    return photo


def _join(session: Session, target: Photo, others: Sequence[Photo]) -> None:
    """Move the files of photos into another one, which shows what it showed."""
    for photo in (target, *others):
        for file in photo.files:
            if photo is not target or not file.stacked_from:
                file.stacked_from = f"{file.stacked_from} {photo.uid}".lstrip()
            if file.primary and photo is target:
                file.primary_src = MANUAL
            elif file.primary_src:
                file.primary_src = _CHOSEN_BEFORE
    for other in others:
        inherit(session, target, other)
        for file in list(other.files):
            file.photo = target
    target.stack = max(target.stack, 0)
    session.flush()


def _settle(photo: Photo) -> None:
    """Let the files of a photo go if it has none of another photo any more, so that no decision holds them together."""
    if all(_last(file) in ("", photo.uid) for file in photo.files):
        for file in photo.files:
            file.stacked_from = file.stacked_from.rpartition(" ")[0]


def _last(file: File) -> str:
    """Return the UID of the photo that a stacked file belonged to; empty if no person stacked it."""
    return file.stacked_from.rpartition(" ")[2]
