"""Scan: walk over the folder of originals and list its files, without opening any."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.paths import clean_name, disk_name
from photosvc.core.problems import Problem, Reason, system_symbol
from photosvc.query.fold import fold

_INT64 = 2**63
#: Deeper folders are skipped.
MAX_DEPTH = 100
#: Longest path in bytes, as written and as folded for the search: database indexes and cursors contain whole paths.
MAX_PATH = 1024
#: Folders that file systems, NAS systems and photo programs keep for their own use.
_IGNORED = frozenset({"@eaDir", "#recycle", "$RECYCLE.BIN", "System Volume Information", "__MACOSX", "lost+found"})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file below the root."""

    name: str
    """Clean path relative to the root, see `core.paths`."""
    size: int
    mtime_ns: int
    ctime_ns: int = field(default=0, compare=False)
    """When it was last written, renamed or changed in its attributes; unlike `mtime_ns`, programs cannot set it."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """An entry below the root that is left out, with the reason."""

    name: str
    problem: Problem


def start_folder(root: Path, subfolder: str) -> str:
    """The folder below `root` to begin in, relative, `""` for the root itself.

    Raises:
        NotFoundError: the root or the folder does not exist.
        InvalidValueError: the folder is not below the root.

    """
    if not root.is_dir():
        msg = f"The folder of originals {str(root)!r} does not exist or is not a folder; set PHOTOSVC_ORIGINALS."
        raise NotFoundError(msg, field="PHOTOSVC_ORIGINALS")
    relative = Path(subfolder)
    if relative.is_absolute():
        try:
            relative = relative.resolve().relative_to(root.resolve())
        except ValueError:
            msg = f"{subfolder!r} is not below the folder of originals"
            raise InvalidValueError(msg, field="SUBFOLDER") from None
    if ".." in relative.parts or "\x00" in subfolder:
        msg = f"{subfolder!r} is not below the folder of originals"
        raise InvalidValueError(msg, field="SUBFOLDER")
    folder = "" if relative == Path() else relative.as_posix()
    if not (root / folder).is_dir():
        msg = f"There is no folder {subfolder!r} below the originals."
        raise NotFoundError(msg, field="SUBFOLDER")
    return folder


def scan(root: Path, folder: str = "") -> Iterator[FoundFile | Unreachable]:
    """Every entry below `folder`, folder by folder, each sorted by name.

    Links are never followed: they can lead out of the originals or form a cycle. Names that begin with a dot are
    skipped.
    """
    pending = [folder]
    while pending:
        current = pending.pop()
        try:
            with os.scandir(root / current) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Unreachable(clean_name(current), Problem.of(Reason.UNREADABLE_FOLDER, system_symbol(error)))
            continue
        deeper = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _IGNORED:
                continue
            relative = f"{current}/{entry.name}" if current else entry.name
            found = _inspect(entry, relative)
            if isinstance(found, str):
                deeper.append(found)
            else:
                yield found
        if current.count("/") + 1 >= MAX_DEPTH and deeper:
            yield Unreachable(clean_name(current), Problem.of(Reason.TOO_DEEP, MAX_DEPTH))
        else:
            pending.extend(reversed(deeper))


def _inspect(entry: os.DirEntry[str], relative: str) -> FoundFile | Unreachable | str:
    """The file of an entry, why it is left out, or the path of a folder to walk."""
    name = clean_name(relative)
    if any(len(text.encode()) > MAX_PATH for text in (name, fold(name))):
        return Unreachable(name, Problem.of(Reason.PATH_TOO_LONG, MAX_PATH))
    try:
        if entry.is_symlink():
            return Unreachable(name, Problem.of(Reason.SYMBOLIC_LINK))
        if entry.is_dir(follow_symlinks=False):
            return relative
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Unreachable(name, Problem.of(Reason.UNREADABLE, system_symbol(error)))
    if not stat.S_ISREG(status.st_mode):
        return Unreachable(name, Problem.of(Reason.NOT_REGULAR))
    return FoundFile(name, status.st_size, clamped_time(status), status.st_ctime_ns)


def clamped_time(status: os.stat_result) -> int:
    """The modification time in nanoseconds since 1970, limited to what 64 bits hold: the years 1677 to 2262."""
    return max(-_INT64, min(status.st_mtime_ns, _INT64 - 1))


def disk_path(root: Path, name: str) -> Path:
    """The path on disk of the file with this clean name."""
    return root / disk_name(name)
