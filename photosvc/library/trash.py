"""Originals on their way into the trash and back: the photos and files that people delete and restore.

The originals move into the trash or stay in place; their rows wait, hidden, and keep their UIDs and all that people
entered until the originals return under their former names. The names of originals that stay are kept as rejected
files, so that an index run does not add them again, except one with `--force`.
"""

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import bindparam, delete, not_, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.paths import clamped_time, disk_name
from photosvc.core.problems import Reason
from photosvc.core.vocabulary import parse_kinds
from photosvc.core.words import in_portions
from photosvc.index.catalog import Catalog
from photosvc.index.mirror import add_placeholder, remove_placeholder
from photosvc.index.places import Gazetteer
from photosvc.index.quality import hide_photos
from photosvc.index.requested import gathered, wish
from photosvc.index.scan import GONE_FOLDER, TRASH_FOLDER, aside_folder, disk_path
from photosvc.index.sightings import mark_due, stored_sightings
from photosvc.index.store import Store
from photosvc.library import disk
from photosvc.library.journal import FILES, Actor, Change, Difference, record
from photosvc.library.relocation import Relocation
from photosvc.library.staging_part import NameTakenError, typed_errors
from photosvc.library.trash_bucket import Moves, restoring
from photosvc.library.trash_deletion import Deletion, forget_sidecars
from photosvc.library.trash_folder import Kept, Trash, is_deletion
from photosvc.models import (
    ORIGINALS_ROOT,
    Album,
    AlbumPhoto,
    File,
    Photo,
    RejectedFile,
    Sidecar,
    UploadedFile,
    file_sidecars,
)
from photosvc.models.engine import Writing
from photosvc.models.statements import UNLOADED, Updates, among, insert_of, run_many
from photosvc.settings import Settings
from photosvc.storage.bucket import Listed

_MOVE_UPLOADED: Final = (
    update(UploadedFile.__table__)  # type: ignore[arg-type]
    .where(UploadedFile.name == bindparam("old_name"))
    .values(hash=None, name=bindparam("path"))
)
#: Columns of files that are read.
_FILE: Final = (File.id, File.root, File.name, File.size, File.mtime_ns, File.reader_version)
#: Files that are restored in one transaction.
PORTION: Final = 100
#: Files that one request restores.
MOST_RESTORED = 10_000


def originals_of(session: Session, photo_ids: Sequence[int], file_uid: str = "") -> list[str]:
    """Return the names of the originals and sidecars that `delete_photos` or `delete_file` takes, as of now."""
    shown = select(File.id, File.name).where(File.root == ORIGINALS_ROOT, File.missing.is_(False))
    found: list[Any] = []
    if file_uid:
        found += session.execute(shown.where(File.uid == file_uid)).all()
    for ids in in_portions(photo_ids):
        found += session.execute(shown.where(among(session, File.photo_id, ids))).all()
    sidecars = _own_sidecars(session, [row.id for row in found]) if found else {}
    return [*(row.name for row in found), *sidecars.values()]


def delete_photos(
    session: Session, photo_ids: Sequence[int], deletion: Deletion | None, change: Change, now: datetime
) -> int:
    """Hide these photos, move their originals into the trash, and return their number.

    They keep their UIDs, values and albums, which they have again when the originals return.

    Args:
        session: in a write transaction, within the block of `deletion`.
        photo_ids: of photos that are not hidden.
        deletion: takes the originals; None: they stay where they are.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    total, folders = 0, set()
    for ids in in_portions(photo_ids):
        # Another request may have deleted some since they were selected.
        shown = Photo.files.any(File.missing.is_(False))
        some = among(session, Photo.id, ids)
        portion = session.scalars(select(Photo.id).where(some, shown).order_by(Photo.id).with_for_update()).all()
        files = select(*_FILE).where(among(session, File.photo_id, portion), File.missing.is_(False))
        rows = session.execute(files.order_by(File.id).with_for_update()).all()
        sightings = stored_sightings(session, portion)
        record(session, change, now, {uid: (lost, {}) for uid, lost in _lost_with(session, portion).items()})
        _set_aside(session, rows, deletion, now)
        hide_photos(session, portion, now)
        mark_due(session, sightings, {})
        folders |= {row.name.rpartition("/")[0] for row in rows}
        total += len(portion)
    _wish(session, folders, now)
    session.expire_all()
    return total


def delete_file(session: Session, file: File, deletion: Deletion | None, now: datetime) -> None:
    """Hide one file, as `delete_photos` does; the caller describes, journals and projects its photo.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    session.flush()
    name = file.name
    _set_aside(session, [file], deletion, now)
    session.refresh(file, ["name", "missing"])
    _wish(session, {name.rpartition("/")[0]}, now)


def _lost_with(session: Session, photo_ids: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return the UID of each of these photos -> the values that the journal keeps of it."""
    connection = session.connection()
    columns = (Photo.id, Photo.uid, Photo.title, Photo.taken_at_local)
    rows = connection.execute(select(*columns).where(among(session, Photo.id, photo_ids))).all()
    files, albums = defaultdict(list), defaultdict(list)
    named = select(File.photo_id, File.name).where(among(session, File.photo_id, photo_ids))
    for photo_id, name in connection.execute(named):
        files[photo_id].append(name)
    members = select(AlbumPhoto.photo_id, Album.uid).join(Album, Album.id == AlbumPhoto.album_id)
    members = members.where(among(session, AlbumPhoto.photo_id, photo_ids), ~AlbumPhoto.hidden)
    for photo_id, uid in connection.execute(members):
        albums[photo_id].append(uid)
    return {
        row.uid: {
            "title": row.title,
            "taken_at_local": row.taken_at_local.isoformat(),
            "files": sorted(files[row.id]),
            "albums": sorted(albums[row.id]),
        }
        for row in rows
    }


def _set_aside(session: Session, files: Sequence[Any], deletion: Deletion | None, now: datetime) -> None:
    """Give the rows of these files names that no original has, and mark them as missing; sidecars go with originals."""
    if not files:
        return
    sidecars = _own_sidecars(session, [file.id for file in files]) if deletion is not None else {}
    kept = deletion.take([*(file.name for file in files), *sidecars.values()]) if deletion is not None else {}
    _set_sidecars_aside(session, sidecars, kept)
    gone = aside_folder()
    former = [_rejected(file, now) for file in files]
    connection = session.connection()
    names = {file.name: kept.get(file.name, f"{gone}/{file.name}") for file in files}
    updates = Updates()
    for file in files:
        updates.add(File, "id", file.id, {"name": names[file.name], "missing": True})
    updates.run(connection)
    _reject_copies(session, list(names))
    if deletion is None:
        run_many(connection, insert_of(RejectedFile), former)
        return
    names |= {name: kept.get(name, f"{gone}/{name}") for name in sidecars.values()}
    run_many(connection, _MOVE_UPLOADED, [{"old_name": name, "path": path} for name, path in names.items()])


def _rejected(file: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401 - a file or a row of one
    """Return the row by which index runs leave out an original that stays."""
    columns = ("root", "name", "size", "mtime_ns", "reader_version")
    same = {column: getattr(file, column) for column in columns}
    empty = {"detail": "", "attempts": 0, "retry_at": None}
    return {**same, **empty, "reason": Reason.REMOVED.value, "created_at": now}


def _reject_copies(session: Session, names: Sequence[str]) -> None:
    """Reject the copies of these files permanently, and delete the reasons why the files themselves were rejected."""
    rejected = delete(RejectedFile).where(among(session, RejectedFile.name, names))
    session.execute(rejected, execution_options=UNLOADED)
    duplicates = update(RejectedFile).where(RejectedFile.reason == Reason.DUPLICATE.value)
    duplicates = duplicates.where(among(session, RejectedFile.detail, names))
    session.execute(duplicates.values(reason=Reason.REMOVED.value, detail=""), execution_options=UNLOADED)


def _own_sidecars(session: Session, file_ids: Sequence[int]) -> dict[int, str]:
    """Return id -> name of the sidecars that belong to these files and to no other one that stays."""
    of_files = select(file_sidecars.c.sidecar_id).where(among(session, file_sidecars.c.file_id, file_ids))
    stays = (
        select(file_sidecars.c.sidecar_id)
        .join(File, File.id == file_sidecars.c.file_id)
        .where(file_sidecars.c.sidecar_id == Sidecar.id, not_(File.missing), ~among(session, File.id, file_ids))
        .exists()
    )
    query = select(Sidecar.id, Sidecar.name).where(Sidecar.id.in_(of_files), not_(stays))
    rows = session.execute(query.where(Sidecar.root == ORIGINALS_ROOT).order_by(Sidecar.id))
    return {row.id: row.name for row in rows}


def _set_sidecars_aside(session: Session, sidecars: Mapping[int, str], kept: Mapping[str, str]) -> None:
    """Give the rows of sidecars their names in the trash; rows of sidecars that are gone are deleted."""
    lost = [sidecar_id for sidecar_id, name in sidecars.items() if name not in kept]
    forget_sidecars(session, Sidecar.id.in_(lost))
    moved = [
        {"row": sidecar_id, "new_name": kept[name], "new_folder": kept[name].rpartition("/")[0]}
        for sidecar_id, name in sidecars.items()
        if name in kept
    ]
    if moved:
        table: Any = Sidecar.__table__
        rows = update(table).where(table.c.id == bindparam("row"))
        rows = rows.values(name=bindparam("new_name"), folder=bindparam("new_folder"))
        session.connection().execute(rows, moved)


def _wish(session: Session, folders: set[str], now: datetime) -> None:
    """Ask the indexer to look at the folders: a run in progress may have read a file before it was deleted."""
    for folder in gathered(folders):
        wish(session, now, disk_name(folder))


@dataclass(slots=True)
class Restored:
    """The result of restoring files."""

    files: list[str] = field(default_factory=list)
    """Names of the files that are back."""
    photos: list[str] = field(default_factory=list)
    """UIDs of the photos that are found again at once; the indexer reads the other files."""
    taken: list[str] = field(default_factory=list)
    """Names that other files have by now: the files in the trash stay there."""
    is_complete: bool = True
    """False if files that were to be restored are left."""


def chosen(session: Session, trash: Trash, item: str) -> list[Kept]:
    """Return the deleted files that a deletion, a name below the trash, a former name or the UID of a photo means.

    Of several files of one former name, it is the one that was deleted last. A UID also means originals that stayed in
    place.

    Raises:
        NotFoundError: there is none.
    """
    found = _chosen(session, trash, item)
    if not found:
        raise NotFoundError(f"there is no {item[:200] or 'item without a name'} in the trash", field="item")
    return found


def _chosen(session: Session, trash: Trash, item: str) -> list[Kept]:
    if is_deletion(item):
        return list(trash.files(item))
    if is_uid(item, PHOTO):
        of_photo = select(Sidecar.name).join(file_sidecars).join(File, File.id == file_sidecars.c.file_id)
        of_photo = of_photo.join(Photo, Photo.id == File.photo_id).where(Photo.uid == item).order_by(Sidecar.name)
        files = session.scalars(select(File).join(Photo).where(Photo.uid == item, File.missing).order_by(File.id)).all()
        names = [*(file.name for file in files), *session.scalars(of_photo.distinct())]
        items = [name.removeprefix(f"{TRASH_FOLDER}/") for name in names if name.startswith(f"{TRASH_FOLDER}/")]
        in_trash = [kept for one in items if (kept := trash.find(one)) is not None]
        return in_trash + [kept for file in files if (kept := _in_place(trash, file)) is not None]
    if (kept := trash.find(item)) is not None:
        return [kept]
    if is_deletion(item.partition("/")[0]):  # not a former name; to look for it in all deletions would take long
        return []
    return next(([kept] for folder in trash.deletions() if (kept := trash.find(f"{folder}/{item}"))), [])


def _in_place(trash: Trash, file: File) -> Kept | None:
    """Return the original of a deleted file, if it stayed where it is."""
    folder, _, item = file.name.removeprefix(f"{GONE_FOLDER}/").partition("/")
    if not file.name.startswith(f"{GONE_FOLDER}/") or not _is_unchanged(trash.originals, item, file):
        return None
    return Kept(folder, item, file.size, GONE_FOLDER)


def photos_of(session: Session, files: Sequence[Kept]) -> dict[str, str]:
    """Return path in the trash -> UID of the photo, for the files among these that the library knows."""
    found: dict[str, str] = {}
    for some in in_portions(files):
        query = select(File.name, Photo.uid).join(Photo).where(File.name.in_([kept.path for kept in some]))
        found |= {name: uid for name, uid in session.execute(query)}  # noqa: C416 - typed rows
    return found


def restore(
    writing: Writing,
    settings: Settings,
    files: Sequence[Kept],
    actor: Actor,
    now: datetime,
    *,
    goes_on: Callable[[], bool] = lambda: True,
) -> Restored:
    """Give files of the trash their names back, never over another file, in a transaction for each `PORTION`.

    A process that is killed before a commit leaves the files to the next index run, which recognises their content.
    Objects of a bucket are copied before a transaction, and deleted from the trash after it.

    Args:
        files: from `chosen`.
        goes_on: asked before each transaction but the first; the other files are left to another time.

    Raises:
        PhotosvcError: the disk or the store refuses it, or fails.
    """
    total, trash = Restored(), Trash(settings.originals)
    for start in range(0, len(files), PORTION):
        if start and not goes_on():
            total.is_complete = False
            break
        portion = files[start : start + PORTION]
        with (
            restoring(settings.bucket, portion) as objects,
            disk.undo_on_error() as undo,
            writing(library=True) as session,
        ):
            back, taken = [], []
            for kept in portion:
                if kept.folder == GONE_FOLDER or _bring_back(settings, kept, objects, undo):
                    back.append(kept)
                elif objects is None or kept.path in objects.taken:
                    taken.append(kept.name)
            photos = _follow(session, settings, back, objects, now)
            if photos:
                found: dict[str, Difference] = {uid: ({}, {FILES: sorted(names)}) for uid, names in photos.items()}
                record(session, Change("photos.undelete", actor), now, found)
        total.files += [kept.name for kept in back]
        total.photos += [uid for uid in photos if uid not in total.photos[-PORTION:]]
        total.taken += taken
    for deletion in {kept.deletion for kept in files if kept.folder == TRASH_FOLDER}:
        trash.drop_empty(deletion)
    return total


def _bring_back(settings: Settings, kept: Kept, objects: Moves | None, undo: ExitStack) -> bool:
    """Give a file its name back, or the placeholder of an object that was copied; return whether the name was free."""
    if objects is not None and kept.path not in objects.copied:
        return False
    try:
        disk.rename_new(settings.originals, kept.path, kept.name)
    except NameTakenError:
        if objects is None:
            return False
        # A list of the bucket may have shown the copy already.
        if not remove_placeholder(objects.bucket, objects.copied[kept.path][1]):
            objects.taken.add(kept.path)
            return False
        disk.rename_new(settings.originals, kept.path, kept.name)
    undo.callback(disk.rename_new, settings.originals, kept.name, kept.path)
    if objects is not None:
        with typed_errors():
            add_placeholder(objects.bucket, objects.copied[kept.path][1])
    return True


def _follow(
    session: Session, settings: Settings, files: Sequence[Kept], objects: Moves | None, now: datetime
) -> dict[str, list[str]]:
    """Let the rows follow; return the UIDs of their photos with the names.

    A file that the library does not know, or that changed since it was deleted, is left to the indexer.
    """
    relocation = Relocation(session, settings, now)
    names = {kept.path: kept.name for kept in files}
    # Restored objects of a bucket have other times than the deleted ones.
    moved = objects.copied if objects is not None else {}
    copies = {name: moved[path][1] for path, name in names.items() if path in moved}
    both = [*names, *names.values()]
    known = set(session.scalars(select(File.name).where(File.name.in_(both))))
    for path, name in names.items():
        if path in known and name in known:  # a file that is gone has the former name
            relocation.gone(name, is_folder=False)
    present = File.root == ORIGINALS_ROOT, File.name.in_(both), File.missing
    rows = session.scalars(select(File).where(*present)).all()
    store = Store(session, Catalog(session, Gazetteer.load()), settings.originals, now, parse_kinds(settings.stack_by))
    store.load(both)
    _rename_sidecars(session, settings, names, copies)
    photos: dict[str, list[str]] = {}
    for file in rows:
        name = names.get(file.name, file.name)
        if _is_same(settings.originals, name, file, copies):
            if (copied := copies.get(name)) is not None:
                file.mtime_ns, file.hash = copied.mtime_ns, copied.content_key
            store.rename(file, name, restack=False)
            file.missing = False
            photos.setdefault(file.photo.uid, []).append(name)
    store.finish()
    counted = set(session.scalars(select(UploadedFile.name).where(UploadedFile.name.in_(names))))
    for kept in files:
        if kept.path in counted:
            _count_again(session, kept)
    for name in {name.rpartition("/")[0]: name for name in names.values()}.values():
        relocation.changed(name)  # its folder
    return photos


def _rename_sidecars(
    session: Session, settings: Settings, names: Mapping[str, str], copies: Mapping[str, Listed]
) -> None:
    """Let the rows of sidecars follow; sidecars that changed since then are read again by the indexer."""
    own = {row.name: row for row in session.scalars(select(Sidecar).where(Sidecar.name.in_([*names, *names.values()])))}
    for path, name in names.items():
        row = own.get(path)
        if row is None:
            continue
        if name in own or not _is_same(settings.originals, name, row, copies):
            forget_sidecars(session, Sidecar.id == row.id)
        else:
            row.mtime_ns = copies[name].mtime_ns if name in copies else row.mtime_ns
            row.name, row.folder = name, name.rpartition("/")[0]
    session.flush()


def _is_same(originals: Path, name: str, file: File | Sidecar, copies: Mapping[str, Listed]) -> bool:
    """Return whether a restored file is the one that was deleted; no other program stores objects in the trash."""
    if (copied := copies.get(name)) is None:
        return _is_unchanged(originals, name, file)
    # A row that has the former name, not that of the trash, may be of another file.
    is_deleted = file.name != name or (isinstance(file, File) and file.hash == copied.content_key)
    return is_deleted and copied.size == file.size


def _is_unchanged(originals: Path, name: str, file: File | Sidecar) -> bool:
    with suppress(OSError):
        status = os.lstat(disk_path(originals, name))
        is_same = (status.st_size, clamped_time(status)) == (file.size, file.mtime_ns)
        return stat.S_ISREG(status.st_mode) and is_same
    return False


def _count_again(session: Session, kept: Kept) -> None:
    """Let a file count in the quota of its account under its name, and claim its content unless another file does."""
    content = session.scalar(select(File.hash).where(File.root == ORIGINALS_ROOT, File.name == kept.name))
    is_free = session.scalar(select(UploadedFile.id).where(UploadedFile.hash == content)) is None
    counted = update(UploadedFile).where(UploadedFile.name == kept.path)
    counted = counted.values(name=kept.name, hash=content if is_free else None)
    session.execute(counted, execution_options=UNLOADED)


def chosen_files(session: Session, trash: Trash, items: Iterable[str]) -> list[Kept]:
    """Return the files that these items mean, each once, until there are more than `MOST_RESTORED`."""
    found: dict[Kept, None] = {}
    for item in dict.fromkeys(items):
        try:
            found |= dict.fromkeys(chosen(session, trash, item))
        except NotFoundError:
            continue
        if len(found) > MOST_RESTORED:
            break
    return list(found)
