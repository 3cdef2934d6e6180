"""Checks of received files: their kind by their content, the time of their picture, and the original that they repeat.

Hostile files are read in worker processes.

A row of the database does not prove that its file still exists. A received file is a duplicate only of an existing
file with the known size and time, or with the same SHA-1.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, exists, not_, select
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.files import clamped_time, open_inside
from photosvc.core.problems import Problem, Reason
from photosvc.core.process import usable_cores
from photosvc.index.describe import StackedFile, Taken, merged_metadata, taken
from photosvc.index.extract import Extraction, extract, hash_of
from photosvc.index.mounts import are_away
from photosvc.index.scan import disk_path
from photosvc.index.sidecar_formats import SidecarKind
from photosvc.index.sidecar_names import is_read
from photosvc.index.sidecar_values import StoredSidecar, ranked, with_sidecars
from photosvc.library.album_jobs import REFUSED_CLAIMS
from photosvc.library.storage_errors import StorageFailedError
from photosvc.media.errors import UnsupportedFileError
from photosvc.media.formats import HEAD_SIZE, by_extension, may_have_pixels, sniff
from photosvc.models import ORIGINALS_ROOT, File, UploadedFile
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerPool

#: A pool that reads files, each given by its path and its name as received.
InspectionPool: TypeAlias = WorkerPool[tuple[Path, str], Extraction]
_MIB = 1 << 20
_MOST_WORKERS = 4
#: A function that begins a transaction.
Transaction: TypeAlias = Callable[[], AbstractContextManager[Session]]
T = TypeVar("T")
#: Originals that are read for one answer; if more must be read, programs keep changing them.
_MOST_READ: Final = 1000


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file to be added."""

    path: Path
    name: str
    """Its name as received, without folders."""
    size: int
    hash: str
    folder: str = ""
    """The folder that it came from: only files of one folder belong together."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file: its kind, and its metadata."""

    media_type: str
    extension: str
    """Lower case, without the dot; it fits the content."""
    extraction: Extraction | None = None
    """None if it could not be read."""


def inspect(
    files: Sequence[ReceivedFile],
    settings: Settings,
    pool: InspectionPool | None = None,
    *,
    decode: bool = False,
) -> Mapping[Path, FileContent | Problem]:
    """Return path -> content of each file, or the reason to refuse it.

    A picture is accepted even if its reader crashes or takes too long.

    Args:
        pool: an `inspection_pool`; by default this call starts processes.
        decode: decode the pictures too.
    """
    contents: dict[Path, FileContent | Problem] = {}
    kinds: dict[Path, tuple[str, str]] = {}
    for file in files:
        kind = _kind(file, settings)
        if isinstance(kind, Problem):
            contents[file.path] = kind
        else:
            kinds[file.path] = kind
    by_item = {(file.path, f"{file.name}.{kinds[file.path][1]}"): file for file in files if file.path in kinds}
    if by_item:
        with nullcontext(pool) if pool else inspection_pool(settings, len(by_item), decode=decode) as readers:
            for item, result in readers.run(by_item):
                file = by_item[item]
                contents[file.path] = _content(kinds[file.path], result)
    return contents


def inspection_pool(settings: Settings, files: int = _MOST_WORKERS, *, decode: bool = False) -> InspectionPool:
    """Return worker processes that read files, for several calls of `inspect`; at most one for each file."""
    return WorkerPool(
        partial(_read, max_bytes=settings.max_file_size * _MIB, decode=decode),
        result=Extraction,
        workers=min(files, _MOST_WORKERS, settings.index_workers or usable_cores()),
        timeout=settings.index_timeout,
        memory_bytes=settings.index_memory * _MIB,
    )


def _kind(file: ReceivedFile, settings: Settings) -> tuple[str, str] | Problem:
    try:
        with file.path.open("rb") as opened:
            return content_kind(file.name, file.size, opened.read(HEAD_SIZE), settings)
    except FileNotFoundError:  # another request added it meanwhile
        return Problem(Reason.VANISHED)
    except OSError:
        raise StorageFailedError from None


def content_kind(name: str, size: int, head: bytes, settings: Settings) -> tuple[str, str] | Problem:
    """Return the media type and the extension of a file by its first bytes, or the reason to refuse it.

    Args:
        name: without folders; its extension only chooses within a family.
        head: the first `media.formats.HEAD_SIZE` bytes.
    """
    if size == 0:
        return Problem(Reason.EMPTY)
    if size > settings.max_file_size * _MIB:
        return Problem.of(Reason.TOO_LARGE, settings.max_file_size)
    row = sniff(head, name if may_have_pixels(name) else "")
    suffix = PurePosixPath(name).suffix[1:].lower()
    if row is not None:
        return row.media_type, suffix if suffix in row.extensions else row.extensions[0]
    if is_read(name):
        return "sidecar", suffix
    named_row = by_extension(name)
    return Problem.of(
        Reason.WRONG_CONTENT, "video" if named_row and named_row.media_type == "video" else "picture or video"
    )


def _read(item: tuple[Path, str], *, max_bytes: int, decode: bool) -> Extraction:
    path, name = item
    return extract(path, max_bytes=max_bytes, decode=decode, name=name)


def _content(kind: tuple[str, str], result: Extraction | PhotosvcError) -> FileContent | Problem:
    if isinstance(result, UnsupportedFileError):
        return result.problem
    if isinstance(result, PhotosvcError):
        return FileContent(*kind)
    if kind[0] == "sidecar" and result.problem is not None:
        return result.problem
    return FileContent(*kind, result)


def taken_by(group: Sequence[tuple[ReceivedFile, FileContent]], now: datetime, zone: str) -> Taken:
    """Return the time of the picture in these files and their sidecars, as an index run over their folder would.

    If no file could be read, this is the time in a name, else the present.
    """
    pictures, sidecars = [], []
    for file, content in group:
        name = f"{file.folder}/{file.name}".lstrip("/")
        extraction = content.extraction or Extraction(
            hash=file.hash,
            size=file.size,
            mtime_ns=round(now.timestamp() * 1e9),
            file_type=content.extension,
            media_type=content.media_type,
            mime="",
        )
        if content.media_type != "sidecar":
            pictures.append(StackedFile(name, extraction))
        elif content.extraction is not None:
            sidecars.append(StoredSidecar(name, SidecarKind(extraction.codec), extraction.metadata))
    beside = [
        replace(sidecar, picture=pictures[0].name) for sidecar in sidecars if sidecar.kind is not SidecarKind.ALBUM
    ]
    sources = with_sidecars(merged_metadata(pictures), ranked(beside), zone)
    return taken(sources.metadata, pictures, now, zone)


def check_disk(session: Session, settings: Settings, name: str = "", *, within: bool = False) -> None:
    """Raise `StorageFailedError` if the disk of originals is not mounted: it would later hide a new file."""
    if are_away(session, settings.originals, name, within=within):
        raise StorageFailedError


class _UnreadError(Exception):
    """The content of this original decides, and must be hashed outside of the transaction."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class KnownOriginals:
    """The originals of a service, by their content.

    Args:
        claims: the conditions of the `UploadedFile` rows that count: rows of the library, or of one sender.
        contributed: true if only files of that sender count; false if files of visitors and contributors do not count.
    """

    settings: Settings
    claims: Sequence[ColumnElement[bool]]
    contributed: bool = False
    _read: dict[tuple[str, tuple[int, ...]], str] = field(default_factory=dict, init=False)
    """Name and status of each original that was read -> its SHA-1."""

    def settle(self, transaction: Transaction, act: Callable[[Session], T]) -> T:
        """Return the result of `act` in a transaction.

        If `act` needs the content of an original, the transaction is rolled back, the original is hashed, which may
        take long, and `act` is called again.

        Raises:
            StorageFailedError: the disk of the originals is missing or fails.
        """
        for _ in range(_MOST_READ):
            try:
                with transaction() as session:
                    return act(session)
            except _UnreadError as unread:
                self._hash(unread.name)
        raise StorageFailedError

    def name_of(self, session: Session, file: ReceivedFile) -> str:
        """Return the name of an original with this content, indexed or waiting for the index; empty without one.

        Call it within `settle`.

        Raises:
            StorageFailedError: there may be one on a disk that is missing or fails.
        """
        for name, size, mtime_ns in self._candidates(session, file):
            status = self._status(session, name)
            if status is None or status.st_size != file.size:
                continue
            if (status.st_size, clamped_time(status)) == (size, mtime_ns):
                return name
            content_hash = self._read.get((name, _identity(status)))
            if content_hash is None:
                raise _UnreadError(name)
            if content_hash == file.hash:
                return name
        return ""

    def has_content(self, name: str, file: ReceivedFile) -> bool:
        """Hash the original of this name, and return whether it has the content of the file."""
        try:
            has_size = os.lstat(disk_path(self.settings.originals, name)).st_size == file.size
            return has_size and self._hash(name) == file.hash
        except (OSError, StorageFailedError):
            return False

    def _candidates(self, session: Session, file: ReceivedFile) -> Iterator[tuple[str, int, int | None]]:
        """Yield originals that had this content: name, indexed size and time (None until they are indexed)."""
        query = select(File.name, File.size, File.mtime_ns)
        query = query.where(File.hash == file.hash, File.root == ORIGINALS_ROOT, File.missing.is_(False))
        query = query.where(File.contributed.is_(self.contributed))
        if self.contributed:
            query = query.where(exists().where(UploadedFile.name == File.name, *self.claims))
        yield from map(tuple, session.execute(query.order_by(File.id)).all())
        # A file that the index rejected permanently, or that a person removed from the library, may be added again.
        claim = select(UploadedFile.name).where(UploadedFile.hash == file.hash, *self.claims)
        if claimed := session.scalar(claim.where(not_(exists().where(*REFUSED_CLAIMS)))):
            yield claimed, file.size, None

    def _status(self, session: Session, name: str) -> os.stat_result | None:
        """Return the status of the regular file of this name; None if there is none."""
        try:
            status = os.lstat(disk_path(self.settings.originals, name))
        except (FileNotFoundError, NotADirectoryError):
            if are_away(session, self.settings.originals, name):
                raise StorageFailedError from None
            return None
        except OSError:
            raise StorageFailedError from None
        return status if stat.S_ISREG(status.st_mode) else None

    def _hash(self, name: str) -> str:
        try:
            with os.fdopen(open_inside(self.settings.originals, name), "rb") as original:
                status = os.fstat(original.fileno())
                content_hash = hash_of(original)
                if _identity(os.fstat(original.fileno())) != _identity(status):
                    return ""  # a program writes to it
        except (FileNotFoundError, NotADirectoryError, NotFoundError):
            return ""
        except OSError:
            raise StorageFailedError from None
        self._read[name, _identity(status)] = content_hash
        return content_hash


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
