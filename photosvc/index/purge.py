"""The purge of files that are gone from the originals: rows are marked or removed; originals are never touched."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError
from photosvc.core.problems import Reason
from photosvc.index.batches import BatchWriter
from photosvc.index.exclusions import is_hidden
from photosvc.index.identity import Contents
from photosvc.index.mounts import absent_disks, disk_numbers
from photosvc.index.photo_changes import PhotoChanges, mark_cameras
from photosvc.index.requests import run_lock
from photosvc.index.run_log import Summary
from photosvc.index.scan import ScannedFile, is_gone, scan, start_folder
from photosvc.index.shared_rows import SharedRows
from photosvc.jobs.lease import Lease
from photosvc.models import ORIGINALS_ROOT, AlbumPhoto, File, Photo, PhotoChange, RejectedFile
from photosvc.models.engine import begin_write
from photosvc.models.schema import delete_cascading
from photosvc.models.statements import UNLOADED, in_portions
from photosvc.pictures.cache import PictureCache
from photosvc.settings import Settings

#: Rows of a transaction: others must not wait for the write lock for long.
_BATCH: Final = 50
_EXAMPLES: Final = 5


@dataclass(slots=True)
class Survey:
    """The files and photos that are gone."""

    files: list[int] = field(default_factory=list)
    """Ids of files of the library that the disk does not have."""
    unmarked: list[int] = field(default_factory=list)
    """Ids of the files among them that are not marked as missing yet."""
    photos: list[int] = field(default_factory=list)
    """Ids of photos that have no other file."""
    edited: int = 0
    """Photos among them that people have edited."""
    favorites: int = 0
    in_albums: int = 0
    examples: list[str] = field(default_factory=list)
    """Names of the first files."""
    absent: frozenset[str] = frozenset()
    """Folders whose disk, which was mounted in an earlier run, is not mounted: their files count as gone."""
    disks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Numbers of the disks that the originals are on."""
    moved: int = 0
    """Files, not counted elsewhere, that were moved or have a copy: an index run is due and recognises them."""


@dataclass(slots=True)
class Removed:
    """The numbers of rows and thumbnails that were removed."""

    files: int = 0
    photos: int = 0
    thumbnails: int = 0
    """Derived pictures, of any kind, that left the cache."""


def survey(session: Session, settings: Settings) -> Survey:
    """Compare the files of the library with the disk, and change nothing.

    Raises:
        NotFoundError: the folder of originals does not exist.
        ConflictError: it has no file of the library, as when the disk is not mounted, or a disk went or came meanwhile.
    """
    start_folder(settings.originals, "")
    surveyed = Survey(disks=disk_numbers(settings.originals), absent=absent_disks(session, settings.originals))
    present = False
    by_size: defaultdict[int, list[int]] = defaultdict(list)
    columns = (File.id, File.photo_id, File.name, File.missing, File.size)
    rows = select(*columns).where(File.root == ORIGINALS_ROOT)
    rows = rows.order_by(File.photo_id, File.id).execution_options(yield_per=1000)
    for photo_id, files in groupby(session.execute(rows), key=lambda row: row.photo_id):
        gone_all = True
        for row in files:
            if not is_gone(settings.originals, row.name):
                present, gone_all = present or not is_hidden(row.name), False  # the trash is no sign of the originals
                continue
            surveyed.files.append(row.id)
            by_size[row.size].append(row.id)
            if not row.missing:
                surveyed.unmarked.append(row.id)
        if gone_all:
            surveyed.photos.append(photo_id)
    if surveyed.files and not present:
        raise ConflictError("None of the library's files is in the folder of originals: is the disk mounted?")
    moved = dict(_elsewhere(session, settings, by_size))
    _check_disks(settings, surveyed)
    surveyed.moved = len(moved)
    surveyed.files = [file_id for file_id in surveyed.files if file_id not in moved]
    surveyed.unmarked = [file_id for file_id in surveyed.unmarked if file_id not in moved]
    with_moved = set(moved.values())
    surveyed.photos = [photo_id for photo_id in surveyed.photos if photo_id not in with_moved]
    named = select(File.name).where(File.id.in_(surveyed.files[:_EXAMPLES])).order_by(File.photo_id, File.id)
    surveyed.examples.extend(session.scalars(named))
    stacked = session.scalars(select(File.stacked_from).where(File.stacked_from != "").distinct())
    waiting = {uid for chain in stacked for uid in chain.split()}  # they get files back when the stack is taken apart
    without_files = session.execute(select(Photo.id, Photo.uid).where(Photo.id.not_in(select(File.photo_id))))
    surveyed.photos.extend(row.id for row in without_files if row.uid not in waiting)
    for ids in in_portions(surveyed.photos):
        photos = select(func.count()).select_from(Photo).where(Photo.id.in_(ids))
        surveyed.edited += session.scalar(photos.where(Photo.edited_at.is_not(None))) or 0
        surveyed.favorites += session.scalar(photos.where(Photo.favorite)) or 0
        members = select(AlbumPhoto.photo_id).where(AlbumPhoto.hidden.is_(False))
        surveyed.in_albums += session.scalar(photos.where(Photo.id.in_(members))) or 0
    session.rollback()
    return surveyed


def _check_disks(settings: Settings, surveyed: Survey) -> None:
    """Raise `ConflictError` if a disk went or came since the survey began: missing files may not be gone."""
    if disk_numbers(settings.originals) != surveyed.disks:
        msg = "A disk of the originals was mounted or unmounted meanwhile; once all of them are mounted, run it again."
        raise ConflictError(msg)


def _elsewhere(session: Session, settings: Settings, by_size: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
    """Yield the ids of gone files, and of their photos, whose content is on disk in another file.

    That file is new, changed or a known duplicate. The next index run gives its name to their rows, which keep all that
    people entered.

    Args:
        by_size: size in bytes -> ids of the gone files of this size; the result leaves it.
    """
    contents = Contents(settings.originals)
    columns = (File.id, File.photo_id, File.mtime_ns, File.missing, File.hash)
    for file in scan(settings.originals) if by_size else ():
        if isinstance(file, ScannedFile) and by_size.get(file.size) and _may_take_over(session, file):
            portions = in_portions(by_size[file.size])
            rows = [row for ids in portions for row in session.execute(select(*columns).where(File.id.in_(ids)))]
            same = [row for row in rows if row.mtime_ns == file.mtime_ns and not row.missing]
            if not same:
                content = contents.hash_of(file.name)
                same = [row for row in rows if row.hash == content]
            yield from ((row.id, row.photo_id) for row in same)
            by_size[file.size] = [row.id for row in rows if row not in same]


def _may_take_over(session: Session, file: ScannedFile) -> bool:
    """Return whether an index run may find that this file has the content of a file that is gone."""
    known = select(File.id).where(File.root == ORIGINALS_ROOT, File.name == file.name)
    if session.scalar(known.where(File.size == file.size, File.mtime_ns == file.mtime_ns)) is not None:
        return False
    rejected = select(RejectedFile.reason).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == file.name)
    return session.scalar(rejected) in {None, Reason.DUPLICATE.value}


def mark(session: Session, settings: Settings, clock: Clock, surveyed: Survey) -> int:
    """Mark the files of the survey as missing, which hides photos without other files; return their number.

    Raises:
        ConflictError: an index run is in progress, or a disk of the originals went or came since the survey.
    """
    summary = Summary()
    with run_lock(session, settings, clock) as lease:
        writer = BatchWriter(session, settings, clock, summary, lease=lease)
        for ids in in_portions(surveyed.unmarked):
            names = session.scalars(select(File.name).where(File.id.in_(ids))).all()
            session.rollback()
            gone = [name for name in names if is_gone(settings.originals, name)]
            _check_disks(settings, surveyed)
            writer.mark_missing(iter(gone))
    return summary.missing


def remove(session: Session, settings: Settings, clock: Clock, cache: PictureCache, surveyed: Survey) -> Removed:
    """Remove the files of the survey that are still gone, the photos without files, and their derived pictures.

    Raises:
        ConflictError: an index run is in progress, or a disk of the originals went or came since the survey.
    """
    total = Removed()
    with run_lock(session, settings, clock) as lease:
        for ids in in_portions(surveyed.files, _BATCH):
            _begin(session, lease)
            rows = session.execute(select(File.id, File.name, File.hash, File.photo_id).where(File.id.in_(ids))).all()
            rows = [row for row in rows if is_gone(settings.originals, row.name)]
            _check_disks(settings, surveyed)
            _delete_files(session, [row.id for row in rows], [row.name for row in rows])
            total.files += len(rows)
            total.photos += _bring_up_to_date(session, settings, clock, {row.photo_id for row in rows})
            hashes = {row.hash for row in rows}
            hashes.difference_update(session.scalars(select(File.hash).where(File.hash.in_(hashes))))
            session.commit()
            total.thumbnails += cache.remove_all(hashes)
        for ids in in_portions(surveyed.photos, _BATCH):
            _begin(session, lease)
            total.photos += _bring_up_to_date(session, settings, clock, set(ids))
            session.commit()
    return total


def _begin(session: Session, lease: Lease | None) -> None:
    begin_write(session, library=True)
    if lease is not None:
        lease.check(session)


def _delete_files(session: Session, ids: Collection[int], names: Collection[str]) -> None:
    delete_cascading(session, File.__table__, ids)
    # A duplicate was rejected because of the file that is gone now; the next run must look at it again.
    duplicate = RejectedFile.reason == Reason.DUPLICATE.value
    session.execute(
        delete(RejectedFile).where(RejectedFile.root == ORIGINALS_ROOT, duplicate, RejectedFile.detail.in_(names))
    )
    session.expunge_all()


def _bring_up_to_date(session: Session, settings: Settings, clock: Clock, ids: Collection[int]) -> int:
    """Describe and project the photos that still have files, delete the others, and return their number."""
    left = set(session.scalars(select(File.photo_id).where(File.photo_id.in_(ids))))
    gone = set(session.scalars(select(Photo.id).where(Photo.id.in_(ids)))) - left
    mark_cameras(session, select(Photo.camera_id).where(Photo.id.in_(gone)))
    uids = select(Photo.uid).where(Photo.id.in_(gone))
    session.execute(delete(PhotoChange).where(PhotoChange.photo_uid.in_(uids)), execution_options=UNLOADED)
    delete_cascading(session, Photo.__table__, gone)
    changes = PhotoChanges(session, SharedRows(session, settings.timezone), clock())
    photos = session.scalars(select(Photo).where(Photo.id.in_(left))).all()
    changes.remember(photos)
    changes.describe(photos)
    changes.project(photos, gone=gone)
    session.expunge_all()
    return len(gone)
