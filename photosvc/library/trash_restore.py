"""The restoring of originals: they get their former names back, and their photos keep people's values and UIDs.

Requests name files, deletions or photos, or restore everything in the trash.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.paths import clamped_time
from photosvc.core.vocabulary import parse_kinds
from photosvc.core.words import in_portions
from photosvc.index.catalog import Catalog
from photosvc.index.places import Gazetteer
from photosvc.index.scan import GONE_FOLDER, disk_path
from photosvc.index.store import Store
from photosvc.library import disk
from photosvc.library.journal import FILES, Actor, Change, record
from photosvc.library.relocation import Relocation
from photosvc.library.staging_part import NameTakenError
from photosvc.library.trash_deletion import forget_sidecars
from photosvc.library.trash_folder import TRASH_FOLDER, Kept, Trash, is_deletion
from photosvc.models import ORIGINALS_ROOT, File, Photo, Sidecar, UploadedFile, file_sidecars
from photosvc.models.engine import Writing
from photosvc.models.statements import UNLOADED
from photosvc.settings import Settings

#: Files that are restored in one transaction.
PORTION: Final = 100
#: Files that one request restores.
MOST_RESTORED = 10_000


@dataclass(slots=True)
class Restored:
    """The result of restoring files."""

    files: list[str] = field(default_factory=list)
    """Names of the files that are back."""
    photos: list[str] = field(default_factory=list)
    """UIDs of the photos that are found again at once; the indexer reads the other files."""
    taken: list[str] = field(default_factory=list)
    """Names that other files have by now: the files in the trash stay there."""


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
        items = [name.removeprefix(trash.prefix) for name in names if name.startswith(trash.prefix)]
        in_trash = [kept for one in items if (kept := trash.find(one)) is not None]
        return in_trash + [kept for file in files if (kept := _in_place(trash, file)) is not None]
    if (kept := trash.find(item)) is not None:
        return [kept]
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
        names = [kept.path for kept in some]
        query = select(File.name, Photo.uid).join(Photo).where(File.name.in_(names))
        found |= {name: uid for name, uid in session.execute(query)}  # noqa: C416 - typed rows
    return found


def restore(writing: Writing, settings: Settings, files: Sequence[Kept], actor: Actor, now: datetime) -> Restored:
    """Give files of the trash their names back, never over another file, in a transaction for each `PORTION`.

    A process that is killed before a commit leaves the files to the next index run, which recognises their content.

    Args:
        writing: begins a write transaction.
        files: from `chosen`.
        actor: for the journal.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    total, trash = Restored(), Trash(settings.originals)
    for start in range(0, len(files), PORTION):
        with disk.undo_on_error() as undo, writing(library=True) as session:
            done = _restore(session, settings, files[start : start + PORTION], (actor, now), undo)
        total.files += done.files
        total.photos += [uid for uid in done.photos if uid not in total.photos[-PORTION:]]
        total.taken += done.taken
    for deletion in {kept.deletion for kept in files if kept.folder == TRASH_FOLDER}:
        trash.drop_empty(deletion)
    return total


def _restore(
    session: Session, settings: Settings, files: Sequence[Kept], by: tuple[Actor, datetime], undo: ExitStack
) -> Restored:
    actor, now = by
    done, back = Restored(), []
    for kept in files:
        if kept.folder == GONE_FOLDER:
            back.append(kept)
            continue
        try:
            disk.rename_new(settings.originals, kept.path, kept.name)
        except NameTakenError:
            done.taken.append(kept.name)
        else:
            undo.callback(disk.rename_new, settings.originals, kept.name, kept.path)
            back.append(kept)
    done.files = [kept.name for kept in back]
    photos = _follow(session, settings, back, now)
    done.photos = list(photos)
    if photos:
        change = Change("photos.undelete", actor)
        record(session, change, now, {uid: ({}, {FILES: sorted(names)}) for uid, names in photos.items()})
    return done


def _follow(session: Session, settings: Settings, files: Sequence[Kept], now: datetime) -> dict[str, list[str]]:
    """Let the rows follow; return the UIDs of their photos with the names.

    A file that the library does not know, or that changed since it was deleted, is left to the indexer.
    """
    relocation = Relocation(session, settings, now)
    names = {kept.path: kept.name for kept in files}
    for name in _in_the_way(session, names):
        relocation.gone(name, is_folder=False)
    either = File.name.in_([*names, *names.values()])
    rows = session.scalars(select(File).where(File.root == ORIGINALS_ROOT, either, File.missing)).all()
    store = Store(session, Catalog(session, Gazetteer.load()), settings.originals, now, parse_kinds(settings.stack_by))
    store.load([*names, *names.values()])
    _rename_sidecars(session, settings, names)
    photos: dict[str, list[str]] = {}
    for file in rows:
        name = names.get(file.name, file.name)
        if _is_unchanged(settings.originals, name, file):
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


def _rename_sidecars(session: Session, settings: Settings, names: Mapping[str, str]) -> None:
    """Let the rows of sidecars follow; sidecars that changed since then are read again by the indexer."""
    own = {row.name: row for row in session.scalars(select(Sidecar).where(Sidecar.name.in_([*names, *names.values()])))}
    for path, name in names.items():
        row = own.get(path)
        if row is None:
            continue
        if name in own or not _is_unchanged(settings.originals, name, row):
            forget_sidecars(session, Sidecar.id == row.id)
        else:
            row.name, row.folder = name, name.rpartition("/")[0]
    session.flush()


def _in_the_way(session: Session, names: Mapping[str, str]) -> list[str]:
    """Return the former names, by the names in the trash, that the library has for other files, which are gone."""
    found = set(session.scalars(select(File.name).where(File.name.in_([*names, *names.values()]))))
    return [name for path, name in names.items() if path in found and name in found]


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


def every_file(trash: Trash) -> Iterator[Kept]:
    """Return all files in the trash, those that were deleted last first."""
    return (kept for deletion in trash.deletions() for kept in trash.files(deletion))


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
