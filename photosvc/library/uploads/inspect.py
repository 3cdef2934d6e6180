"""What a file is by its content, and when its picture was taken; hostile files are read in worker processes."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Problem, Reason
from photosvc.core.processors import usable_cores
from photosvc.index.describing.compose import StackedFile
from photosvc.index.describing.dated_names import date_in
from photosvc.index.describing.taken import taken
from photosvc.index.extract import Extraction, extract
from photosvc.index.sidecars.names import is_read
from photosvc.media.errors import UnsupportedFileError
from photosvc.media.formats import HEAD_SIZE, by_extension, may_have_pixels, sniff
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerPool

#: Gives what was read in the file of a path, whose name it also gets.
InspectionPool: TypeAlias = WorkerPool[tuple[Path, str], Extraction]

_MIB = 1 << 20
_MOST_WORKERS = 4


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that is to be added."""

    path: Path
    name: str
    """As its owner named it, without folders."""
    size: int
    hash: str
    folder: str = ""
    """Files belong together only within a folder."""


@dataclass(frozen=True, slots=True)
class Content:
    """What was found in a file."""

    media_type: str
    extension: str
    """Lower case, without the dot; one that its content has."""
    taken_local: datetime
    """Wall time, aware as if it were UTC."""


def inspect(
    files: Sequence[ReceivedFile], settings: Settings, now: datetime, pool: InspectionPool | None = None
) -> Mapping[Path, Content | Problem]:
    """The content of each file by its path, or why it is refused.

    A picture whose reader crashes or takes too long is kept: its date is that of its name, else the present. Processes
    are started for this call, unless there is a pool of `inspection_pool`.
    """
    found: dict[Path, Content | Problem] = {}
    kinds: dict[Path, tuple[str, str]] = {}
    for file in files:
        kind = _kind(file, settings)
        if isinstance(kind, Problem):
            found[file.path] = kind
        else:
            kinds[file.path] = kind
    by_item = {(file.path, f"{file.name}.{kinds[file.path][1]}"): file for file in files if file.path in kinds}
    if by_item:
        with nullcontext(pool) if pool else inspection_pool(settings, len(by_item)) as readers:
            for item, result in readers.run(by_item):
                file = by_item[item]
                found[file.path] = _content(file, kinds[file.path], result, now)
    return found


def inspection_pool(settings: Settings, files: int = _MOST_WORKERS) -> InspectionPool:
    """Worker processes that read files, for several calls of `inspect`; no more of them than there are files."""
    return WorkerPool(
        partial(_read, max_bytes=settings.max_file_size * _MIB),
        result=Extraction,
        workers=min(files, _MOST_WORKERS, settings.index_workers or usable_cores()),
        timeout=settings.index_timeout,
        memory_bytes=settings.index_memory * _MIB,
    )


def _kind(file: ReceivedFile, settings: Settings) -> tuple[str, str] | Problem:
    try:
        with file.path.open("rb") as opened:
            return kind_of(file.name, file.size, opened.read(HEAD_SIZE), settings)
    except FileNotFoundError:  # another request added it meanwhile
        return Problem(Reason.VANISHED)


def kind_of(name: str, size: int, head: bytes, settings: Settings) -> tuple[str, str] | Problem:
    """Media type and extension of a file by its first bytes, or why no such file is added.

    Args:
        name: without folders; its extension only chooses within a family.
        size: in bytes.
        head: the first `media.formats.HEAD_SIZE` bytes.
        settings: of the service.

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
    known = by_extension(name)
    return Problem.of(Reason.WRONG_CONTENT, "video" if known and known.media_type == "video" else "picture or video")


def _read(item: tuple[Path, str], *, max_bytes: int) -> Extraction:
    path, name = item
    return extract(path, max_bytes=max_bytes, decode=False, name=name)


def _content(
    file: ReceivedFile, kind: tuple[str, str], result: Extraction | PhotosvcError, now: datetime
) -> Content | Problem:
    if isinstance(result, UnsupportedFileError):
        return result.problem
    if isinstance(result, PhotosvcError):
        named = date_in(file.name)
        return Content(*kind, named.replace(tzinfo=now.tzinfo) if named else now)
    if kind[0] == "sidecar" and result.problem is not None:
        return result.problem
    return Content(*kind, taken(result.metadata, [StackedFile(file.name, result)], now).local)
