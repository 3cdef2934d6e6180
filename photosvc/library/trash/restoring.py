"""Files of the trash: restored or permanently deleted, on request or because of their age."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import ColumnElement, delete, func, literal, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.files import clean_name, disk_name, is_as_known
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.message import Message
from photosvc.index.exclusions import is_hidden
from photosvc.index.scan import GONE_FOLDER, TRASH_FOLDER, disk_path
from photosvc.index.store import Store
from photosvc.library import originals
from photosvc.library.edits import FILES, Difference
from photosvc.library.journal import Author, Change, record
from photosvc.library.originals import Relocation
from photosvc.library.staging import require_writable
from photosvc.library.storage_errors import NameRefusedError, NameTakenError, ParentMissingError
from photosvc.library.trash.deletion import finish_deletions, forget_sidecars
from photosvc.library.trash.folder import Trash, TrashedFile, deletion_prefix, is_deletion, time_of
from photosvc.models import ORIGINALS_ROOT, File, Photo, Sidecar, UploadedFile, file_sidecars
from photosvc.models.engine import Writing
from photosvc.models.statements import UNLOADED, among, begins, in_portions
from photosvc.settings import Settings

#: Files that are restored in one transaction.
PORTION: Final = 100
#: Files that one request restores.
MOST_RESTORED = 10_000
#: Seconds after which a request begins no further deletion or restoration.
_PATIENCE: Final = 20.0
#: Most items that an error lists.
_NAMED: Final = 10
#: A time later than all deletions.
END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


def open_trash(writing: Writing, settings: Settings) -> Trash:
    """Return the trash of originals that may be changed, after `finish_deletions`.

    Raises:
        PermissionDeniedError: the originals are read-only.
    """
    require_writable(settings)
    finish_deletions(writing, settings)
    return Trash(settings.originals)


def patience(clock: Clock) -> Callable[[], bool]:
    """Return a function that returns whether the request may begin a further part of its work."""
    end = clock.monotonic() + _PATIENCE
    return lambda: clock.monotonic() < end


@dataclass(slots=True)
class Restored:
    """The result of restoring files."""

    files: list[str] = field(default_factory=list)
    """Names of the restored files."""
    photos: list[str] = field(default_factory=list)
    """UIDs of the photos that are visible at once; the indexer reads the other files."""
    taken: list[str] = field(default_factory=list)
    """Names that other files have by now: the files of these names stay in the trash."""
    is_complete: bool = True
    """False if the time limit left some files in the trash."""


def files_of_item(session: Session, trash: Trash, item: str) -> list[TrashedFile]:
    """Return the deleted files that an item stands for.

    An item is a deletion, a name below the trash, a former name or the UID of a photo. A former name stands for the
    file of this name that was deleted last. A UID also stands for originals that stayed in place.

    Raises:
        NotFoundError: there is none.
    """
    try:
        item.encode()
    except UnicodeEncodeError:  # a name as it is on the disk, with bytes that are not UTF-8
        item = clean_name(item)
    if not (files := _chosen(session, trash, item)):
        raise NotFoundError(f"there is no {item[:200] or 'item without a name'} in the trash", field="item")
    return files


def _chosen(session: Session, trash: Trash, item: str) -> list[TrashedFile]:
    if is_deletion(item):
        return list(trash.files(item))
    if is_uid(item, PHOTO):
        of_photo = select(Sidecar.name).join(file_sidecars).join(File, File.id == file_sidecars.c.file_id)
        of_photo = of_photo.join(Photo, Photo.id == File.photo_id).where(Photo.uid == item).order_by(Sidecar.name)
        files = session.scalars(select(File).join(Photo).where(Photo.uid == item, File.missing).order_by(File.id)).all()
        names = [*(file.name for file in files), *session.scalars(of_photo.distinct())]
        items = [name.removeprefix(f"{TRASH_FOLDER}/") for name in names if name.startswith(f"{TRASH_FOLDER}/")]
        in_trash = [trashed for one in items if (trashed := trash.find(one)) is not None]
        return in_trash + [trashed for file in files if (trashed := _in_place(trash, file)) is not None]
    if (trashed := trash.find(item)) is not None:
        return [trashed]
    if is_deletion(item.partition("/")[0]):  # no former name: spare the search in all deletions
        return []
    root, former = os.fspath(trash.originals), disk_name(item)
    places = (folder for folder in trash.deletions() if os.path.lexists(f"{root}/{deletion_prefix(folder)}{former}"))
    return next(([trashed] for folder in places if (trashed := trash.find(f"{folder}/{item}"))), [])


def _in_place(trash: Trash, file: File) -> TrashedFile | None:
    """Return the original of a deleted file if it stayed in place."""
    folder, _, item = file.name.removeprefix(f"{GONE_FOLDER}/").partition("/")
    if not file.name.startswith(f"{GONE_FOLDER}/") or not _is_as_known(trash.originals, item, file):
        return None
    return TrashedFile(folder, item, file.size, GONE_FOLDER)


def chosen_files(session: Session, trash: Trash, items: Iterable[str]) -> list[TrashedFile]:
    """Return the files that these items stand for, each once, until there are more than `MOST_RESTORED`."""
    files: dict[TrashedFile, None] = {}
    for item in dict.fromkeys(items):
        try:
            files |= dict.fromkeys(files_of_item(session, trash, item))
        except NotFoundError:
            continue
        if len(files) > MOST_RESTORED:
            break
    return list(files)


def under_name(files: Sequence[TrashedFile], name: str) -> list[TrashedFile]:
    """Return the only one of these files, to be restored under another name.

    Raises:
        InvalidValueError: they are several, its original is still in its place, or the name has another extension.
        NameRefusedError: index runs would not read a file of this name.
    """
    if len(files) > 1:
        items = ", ".join(file.item for file in files[:_NAMED])
        raise InvalidValueError(f"only one file gets another name: restore one after the other ({items})", field="as")
    (file,) = files
    if file.folder == GONE_FOLDER:
        raise InvalidValueError(f"{file.name} is still in its place: restore it without another name", field="as")
    originals.checked_name(name)
    if is_hidden(name):
        raise NameRefusedError(f"index runs leave out {name}: choose another name", field="as")
    extension = PurePosixPath(file.name).suffix
    if PurePosixPath(name).suffix.lower() != extension.lower():
        raise InvalidValueError(f"the name of {file.name} must end with {extension or 'no extension'}", field="as")
    return [replace(file, new_name=name)]


def photos_of(session: Session, files: Sequence[TrashedFile]) -> dict[str, str]:
    """Return path in the trash -> UID of the photo, for the files that the library knows."""
    uids: dict[str, str] = {}
    for portion in in_portions(files):
        query = select(File.name, Photo.uid).join(Photo).where(File.name.in_([file.path for file in portion]))
        uids |= {name: uid for name, uid in session.execute(query)}  # noqa: C416 - typed rows
    return uids


def restore_files(
    writing: Writing,
    settings: Settings,
    files: Sequence[TrashedFile],
    actor: Author,
    now: datetime,
    *,
    goes_on: Callable[[], bool] = lambda: True,
) -> Restored:
    """Give files of the trash their former or new names, never over another file, in a transaction for each `PORTION`.

    If the process is killed before a commit, the next index run recognises the files by their content.

    Args:
        files: from `files_of_item`.
        goes_on: called before each transaction but the first; False ends the work.

    Raises:
        PhotosvcError: the disk refuses it, or fails.
    """
    total, trash = Restored(), Trash(settings.originals)
    for start in range(0, len(files), PORTION):
        if start and not goes_on():
            total.is_complete = False
            break
        portion = files[start : start + PORTION]
        with originals.undo_on_error() as undo, writing(library=True) as session:
            restored, taken = [], []
            for file in portion:
                if file.folder == GONE_FOLDER or _bring_back(settings, file, undo):
                    restored.append(file)
                elif trash.find(file.item) is not None:  # else another process restored it meanwhile
                    taken.append(file.target)
            photos = _follow(session, settings, restored, now)
            if photos:
                differences: dict[str, Difference] = {
                    uid: ({}, {FILES: sorted(names)}) for uid, names in photos.items()
                }
                record(session, Change("photos.undelete", actor), now, differences)
        total.files += [file.target for file in restored]
        total.photos += [uid for uid in photos if uid not in total.photos[-PORTION:]]
        total.taken += taken
    for deletion in {file.deletion for file in files if file.folder == TRASH_FOLDER}:
        trash.drop_empty(deletion)
    return total


def restore_in_request(
    writing: Writing, settings: Settings, files: Sequence[TrashedFile], actor: Author, clock: Clock
) -> Restored:
    """Restore at most `MOST_RESTORED` of the files as `restore_files` does, beginning no portion after 20 seconds."""
    done = restore_files(writing, settings, files[:MOST_RESTORED], actor, clock(), goes_on=patience(clock))
    done.is_complete = done.is_complete and len(files) <= MOST_RESTORED
    return done


def _bring_back(settings: Settings, file: TrashedFile, undo: ExitStack) -> bool:
    """Give a file its former or new name; return false if another file has it, or that of a folder around it."""
    try:
        originals.rename_new(settings.originals, file.path, file.target)
    except (NameTakenError, ParentMissingError):
        return False
    undo.callback(originals.rename_new, settings.originals, file.target, file.path)
    return True


def _follow(session: Session, settings: Settings, files: Sequence[TrashedFile], now: datetime) -> dict[str, list[str]]:
    """Let the rows follow; return UID of the photo -> names of its restored files.

    Files that are unknown to the library, or changed since they were deleted, are left to the indexer.
    """
    relocation = Relocation(session, settings, now)
    names = {file_in_trash.path: file_in_trash.target for file_in_trash in files}
    both = [*names, *names.values()]
    known = set(session.scalars(select(File.name).where(File.name.in_(both))))
    for path, name in names.items():
        if path in known and name in known:  # the row of a missing file has the former name
            relocation.gone(name, is_folder=False)
    present = File.root == ORIGINALS_ROOT, File.name.in_(both), File.missing
    rows = session.scalars(select(File).where(*present)).all()
    store = Store.of(session, settings, now)
    store.load(both)
    _rename_sidecars(session, settings, names)
    photos: dict[str, list[str]] = {}
    for file in rows:
        name = names.get(file.name, file.name)
        if _is_as_known(settings.originals, name, file):
            store.rename(file, name, restack=False)
            file.missing = False
            photos.setdefault(file.photo.uid, []).append(name)
    store.finish()
    counted = set(session.scalars(select(UploadedFile.name).where(UploadedFile.name.in_(names))))
    for file_in_trash in files:
        if file_in_trash.path in counted:
            _count_again(session, file_in_trash)
    for name in {name.rpartition("/")[0]: name for name in names.values()}.values():
        relocation.changed(name)  # requests an index of the folder around it
    return photos


def _rename_sidecars(session: Session, settings: Settings, names: Mapping[str, str]) -> None:
    """Let the rows of sidecars follow; the indexer reads changed sidecars again."""
    rows = {
        row.name: row for row in session.scalars(select(Sidecar).where(Sidecar.name.in_([*names, *names.values()])))
    }
    for path, name in names.items():
        if (row := rows.get(path)) is None:
            continue
        if name in rows or not _is_as_known(settings.originals, name, row):
            forget_sidecars(session, Sidecar.id == row.id)
        else:
            row.name, row.folder = name, name.rpartition("/")[0]
    session.flush()


def _is_as_known(originals: Path, name: str, file: File | Sidecar) -> bool:
    with suppress(OSError):
        return is_as_known(os.lstat(disk_path(originals, name)), file.size, file.mtime_ns)
    return False


def _count_again(session: Session, file: TrashedFile) -> None:
    """Count a file in the quota of its account under its name, and claim its content unless another file does."""
    content = session.scalar(select(File.hash).where(File.root == ORIGINALS_ROOT, File.name == file.target))
    is_free = session.scalar(select(UploadedFile.id).where(UploadedFile.hash == content)) is None
    counted = update(UploadedFile).where(UploadedFile.name == file.path)
    counted = counted.values(name=file.target, hash=content if is_free else None)
    session.execute(counted, execution_options=UNLOADED)


@dataclass(slots=True)
class Emptied:
    """The result of emptying the trash."""

    files: int = 0
    size: int = 0
    """Bytes."""
    is_complete: bool = True
    """False if the time limit left some deletions."""


def older_deletions(trash: Trash, before: datetime) -> list[str]:
    """Return the deletions before this time."""
    return [deletion for deletion in trash.deletions() if time_of(deletion) < before]


def count_files(trash: Trash, deletions: Iterable[str]) -> Emptied:
    """Return the numbers of files and bytes that `empty_trash` would delete."""
    total = Emptied()
    for deletion in deletions:
        for file in trash.files(deletion):
            total.files, total.size = total.files + 1, total.size + file.size
    return total


def empty_trash(
    writing: Writing, trash: Trash, deletions: Sequence[str], *, goes_on: Callable[[], bool] = lambda: True
) -> Emptied:
    """Delete the files of these deletions permanently; photos stay hidden until the same content returns.

    Args:
        writing: begins a write transaction, one for each deletion.
        goes_on: called before each deletion; False ends the work.

    Raises:
        PhotosvcError: the disk refuses it, or fails; the remaining files stay in the trash.
    """
    total = Emptied()
    for deletion in deletions:
        if not goes_on():
            total.is_complete = False
            break
        files = list(trash.files(deletion))
        with writing(library=True) as session:
            _forget(session, partial(begins, prefix=deletion_prefix(deletion)))
        trash.delete(deletion)
        total.files, total.size = total.files + len(files), total.size + sum(file.size for file in files)
    return total


def empty_in_request(
    writing: Writing, trash: Trash, before: datetime, clock: Clock, *, expected: int | None = None
) -> Emptied:
    """Empty the trash for at most 20 seconds.

    Args:
        expected: the number of files that a page showed.

    Raises:
        ConflictError: the trash has another number of files than `expected`; nothing is deleted.
        PhotosvcError: the disk refuses it.
    """
    deletions = older_deletions(trash, before)
    if expected is not None and (number := trash.count(deletions)) != expected:
        msg = Message(
            "Nothing was deleted: there are {found} files by now, not {expected}.", found=number, expected=expected
        )
        raise ConflictError(msg, field="expected")
    return empty_trash(writing, trash, deletions, goes_on=patience(clock))


def forget_files(session: Session, paths: Sequence[str]) -> None:
    """Do for these names in the trash what `empty_trash` does in a transaction."""
    for portion in in_portions(paths):
        _forget(session, partial(among, session, values=portion))


def _forget(session: Session, which: Callable[[InstrumentedAttribute[str]], ColumnElement[bool]]) -> None:
    """Free the names of the rows, and count the files in no quota; `which` returns the condition of a name."""
    counted = delete(UploadedFile).where(which(UploadedFile.name))
    session.execute(counted, execution_options=UNLOADED)
    gone = update(File).where(which(File.name))
    forget_sidecars(session, which(Sidecar.name))
    gone = gone.values(name=literal(GONE_FOLDER) + func.substr(File.name, len(TRASH_FOLDER) + 1))
    session.execute(gone, execution_options=UNLOADED)


def sweep_trash(writing: Writing, settings: Settings, now: datetime) -> Emptied:
    """Recover unfinished deletions of killed processes, and delete files permanently after `PHOTOSVC_TRASH_DAYS`."""
    finish_deletions(writing, settings)
    if settings.readonly or not settings.trash_days:
        return Emptied()
    trash = Trash(settings.originals)
    return empty_trash(writing, trash, older_deletions(trash, now - timedelta(days=settings.trash_days)))


def kept_until(file: TrashedFile, settings: Settings) -> datetime | None:
    """Return the time at which `sweep_trash` deletes a file; None if it stays until the trash is emptied."""
    if settings.readonly or not settings.trash_days:
        return None
    return file.deleted_at + timedelta(days=settings.trash_days)
