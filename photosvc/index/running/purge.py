"""Purge: mark files that are gone from the folder of originals, or remove their rows; originals are never touched."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Table, and_, delete, func, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError
from photosvc.core.problems import Reason
from photosvc.index.describing.describe import describe
from photosvc.index.places import Gazetteer
from photosvc.index.running.run_lock import Lease, run_lock
from photosvc.index.running.summary import Summary
from photosvc.index.scanning.scan import FoundFile, is_gone, is_hidden, scan, start_folder
from photosvc.index.sidecars.links import sidecars_of
from photosvc.index.storing.batches import BatchWriter
from photosvc.index.storing.catalog import Catalog
from photosvc.models import ORIGINALS_ROOT, TABLE_PREFIX, AlbumPhoto, Base, File, Photo, PhotoChange, RejectedFile
from photosvc.models.database.among import among
from photosvc.models.database.transactions import begin_write, lock_library
from photosvc.pictures.cache.folder import PictureCache
from photosvc.search.projection.project import project
from photosvc.settings import Settings

#: Rows of a transaction: others must not wait for the write lock for long.
_BATCH: Final = 50
#: Ids in one query.
_MANY: Final = 500
_EXAMPLES: Final = 5
_UNLOADED: Final = {"synchronize_session": False}


@dataclass(slots=True)
class Survey:
    """What is gone. Ids are kept in arrays: 8 bytes for each file."""

    files: "array[int]" = field(default_factory=lambda: array("q"))
    """Ids of files of the library that the disk does not have."""
    unmarked: "array[int]" = field(default_factory=lambda: array("q"))
    """Those of them that are not marked as missing yet."""
    photos: "array[int]" = field(default_factory=lambda: array("q"))
    """Ids of photos that have no other file."""
    edited: int = 0
    """Photos among them that people have edited."""
    favorites: int = 0
    in_albums: int = 0
    examples: list[str] = field(default_factory=list)
    """Names of the first files."""
    moved: int = 0
    """Files, not counted elsewhere, that were moved or have a copy: an index run is due, and recognises them."""


@dataclass(slots=True)
class Removed:
    """What was removed."""

    files: int = 0
    photos: int = 0
    thumbnails: int = 0
    """Derived pictures, of any kind, that left the cache."""


def survey(session: Session, settings: Settings) -> Survey:
    """Compare the files of the library with the disk; changes nothing.

    Raises:
        NotFoundError: the folder of originals does not exist.
        ConflictError: it has no file of the library, as when the disk is not mounted.

    """
    start_folder(settings.originals, "")
    found = Survey()
    present = False
    unmarked: dict[int, Any] = {}
    columns = (File.id, File.photo_id, File.name, File.missing, File.size, File.mtime_ns)
    rows = select(*columns).where(File.root == ORIGINALS_ROOT)
    rows = rows.order_by(File.photo_id, File.id).execution_options(yield_per=1000)
    for photo_id, files in groupby(session.execute(rows), key=lambda row: row.photo_id):
        gone_all = True
        for row in files:
            if not is_gone(settings.originals, row.name):
                present, gone_all = present or not is_hidden(row.name), False  # the trash is no sign of the originals
                continue
            found.files.append(row.id)
            if not row.missing:
                unmarked[row.id] = row
        if gone_all:
            found.photos.append(photo_id)
    if found.files and not present:
        msg = "None of the library's files is in the folder of originals: is the disk mounted?"
        raise ConflictError(msg)
    moved = {row.id: row.photo_id for row in _moved(session, settings.originals, unmarked.values())}
    moved |= _copied(session, settings.originals, set(found.files))
    found.moved = len(moved)
    found.files = array("q", (one for one in found.files if one not in moved))
    found.unmarked = array("q", (one for one in unmarked if one not in moved))
    with_moved = set(moved.values())
    found.photos = array("q", (one for one in found.photos if one not in with_moved))
    named = select(File.name).where(File.id.in_(found.files[:_EXAMPLES])).order_by(File.photo_id, File.id)
    found.examples.extend(session.scalars(named))
    without_files = select(Photo.id).where(Photo.id.not_in(select(File.photo_id)))
    found.photos.extend(session.scalars(without_files))
    for ids in _batches(found.photos, _MANY):
        photos = select(func.count()).select_from(Photo).where(Photo.id.in_(ids))
        found.edited += session.scalar(photos.where(Photo.edited_at.is_not(None))) or 0
        found.favorites += session.scalar(photos.where(Photo.favorite)) or 0
        members = select(AlbumPhoto.photo_id).where(AlbumPhoto.hidden.is_(False))
        found.in_albums += session.scalar(photos.where(Photo.id.in_(members))) or 0
    session.rollback()
    return found


def _moved(session: Session, root: Path, gone: Iterable[Any]) -> Iterator[Any]:
    """Those of these files whose size and time a file has that was never indexed."""
    wanted = defaultdict(list)
    for row in gone:
        wanted[row.size, row.mtime_ns].append(row)
    for file in scan(root) if wanted else ():
        if isinstance(file, FoundFile) and (file.size, file.mtime_ns) in wanted:
            known = (
                select(table.name).where(table.root == ORIGINALS_ROOT, table.name == file.name)
                for table in (File, RejectedFile)
            )
            if all(session.scalar(query) is None for query in known):
                yield from wanted.pop((file.size, file.mtime_ns))


def _copied(session: Session, root: Path, gone: Collection[int]) -> dict[int, int]:
    """Id and photo of those of these files whose content is on disk under the name of a known duplicate.

    The next index run gives that name to their rows, with all that people wrote.
    """
    same = (File.root == RejectedFile.root, File.name == RejectedFile.detail)
    query = select(RejectedFile.name, File.id, File.photo_id).join(File, and_(*same))
    query = query.where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.reason == Reason.DUPLICATE.value)
    rows = session.execute(query.execution_options(yield_per=1000))
    return {row.id: row.photo_id for row in rows if row.id in gone and not is_gone(root, row.name)}


def mark(session: Session, settings: Settings, clock: Clock, found: Survey) -> int:
    """Mark the files of the survey as missing, which hides photos without other files; gives how many were marked.

    Raises:
        ConflictError: an index run is going on.

    """
    summary = Summary()
    with run_lock(session, settings, clock) as lease:
        writer = BatchWriter(session, settings.originals, clock, summary, lease=lease)
        for ids in _batches(found.unmarked, _MANY):
            names = session.scalars(select(File.name).where(File.id.in_(ids))).all()
            session.rollback()
            writer.mark_missing(name for name in names if is_gone(settings.originals, name))
    return summary.missing


def remove(session: Session, settings: Settings, clock: Clock, cache: PictureCache, found: Survey) -> Removed:
    """Remove the files of the survey that are still gone, the photos without files, and their derived pictures.

    Raises:
        ConflictError: an index run is going on.

    """
    total = Removed()
    with run_lock(session, settings, clock) as lease:
        for ids in _batches(found.files, _BATCH):
            _begin(session, lease)
            rows = session.execute(select(File.id, File.name, File.hash, File.photo_id).where(File.id.in_(ids))).all()
            rows = [row for row in rows if is_gone(settings.originals, row.name)]
            _delete_files(session, [row.id for row in rows], [row.name for row in rows])
            total.files += len(rows)
            total.photos += _bring_up_to_date(session, clock, {row.photo_id for row in rows})
            hashes = {row.hash for row in rows}
            hashes.difference_update(session.scalars(select(File.hash).where(File.hash.in_(hashes))))
            session.commit()
            total.thumbnails += cache.remove_all(hashes)
        for ids in _batches(found.photos, _BATCH):
            _begin(session, lease)
            total.photos += _bring_up_to_date(session, clock, set(ids))
            session.commit()
    return total


def _begin(session: Session, lease: Lease | None) -> None:
    begin_write(session)
    lock_library(session)
    if lease is not None:
        lease.check(session)


def _delete_files(session: Session, ids: Collection[int], names: Collection[str]) -> None:
    delete_rows(session, File.__table__, ids)
    # A duplicate was rejected because of the file that is gone now; the next run must look at it again.
    duplicate = RejectedFile.reason == Reason.DUPLICATE.value
    session.execute(
        delete(RejectedFile).where(RejectedFile.root == ORIGINALS_ROOT, duplicate, RejectedFile.detail.in_(names))
    )
    session.expunge_all()


def _bring_up_to_date(session: Session, clock: Clock, ids: Collection[int]) -> int:
    """Describe and project the photos that still have files and delete the others; gives the number of those."""
    left = set(session.scalars(select(File.photo_id).where(File.photo_id.in_(ids))))
    gone = set(session.scalars(select(Photo.id).where(Photo.id.in_(ids)))) - left
    uids = select(Photo.uid).where(Photo.id.in_(gone))
    session.execute(delete(PhotoChange).where(PhotoChange.photo_uid.in_(uids)), execution_options=_UNLOADED)
    delete_rows(session, Photo.__table__, gone)
    catalog = Catalog(session, Gazetteer.load())
    sidecars = sidecars_of(session, left)
    for photo in session.scalars(select(Photo).where(Photo.id.in_(left))):
        describe(photo, sidecars, catalog, clock())
    if left or gone:
        project(session, [*left, *gone])
    session.expunge_all()
    return len(gone)


def delete_rows(session: Session, table: Any, ids: Collection[int]) -> None:  # noqa: ANN401 - of any model
    """Delete rows and all that belong to them; a host's database may not cascade. `project` deletes the search rows."""
    connection = session.connection()
    for column in (*_owned_by(table), table.c.id):
        connection.execute(delete(column.table).where(among(session, column, ids)))


def _owned_by(table: Table) -> Iterator[Column[Any]]:
    for other in Base.metadata.sorted_tables:
        if not other.name.startswith(TABLE_PREFIX + "search_"):
            for key in other.foreign_keys:
                if key.column.table is table and key.ondelete == "CASCADE":
                    yield key.parent


def _batches(ids: Sequence[int], size: int) -> Iterator[list[int]]:
    source = iter(ids)
    while batch := list(islice(source, size)):
        yield batch
