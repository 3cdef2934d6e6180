"""The files in the folder of originals, listed without opening any."""

import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.files import clamped_time, clean_name, disk_name
from photosvc.core.problems import FileProblemError, Problem, Reason, system_symbol
from photosvc.index.exclusions import Exclusions, is_left_out
from photosvc.query.fold import fold

#: Deeper folders are skipped.
MAX_DEPTH = 100
#: Longest path in bytes, as written and as folded for the search: database indexes and cursors contain whole paths.
MAX_PATH = 1024
#: The folder below the originals for files and names of the service. Scans skip it, because it begins with a dot.
STAGING_FOLDER: Final = ".photosvc"
#: The trash, see `photosvc.library.trash.folder`. Scans skip it, and clients do not see it.
TRASH_FOLDER: Final = f"{STAGING_FOLDER}/trash"
#: Ending of the name of a folder in it whose deletion is not finished yet.
UNFINISHED: Final = ".part"
#: Rows of files whose own names other files have, or may get, have names in this folder, which does not exist.
GONE_FOLDER: Final = f"{STAGING_FOLDER}/gone"


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A regular file below the root, as the scan saw it."""

    name: str
    """Clean path relative to the root, see `core.files`."""
    size: int
    mtime_ns: int
    ctime_ns: int = field(default=0, compare=False)
    """Time of the last write, renaming or change of attributes; unlike `mtime_ns`, programs cannot set it."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """An entry below the root that is left out, with the reason."""

    name: str
    problem: Problem


def start_folder(root: Path, subfolder: str) -> str:
    """Return the folder below `root` to begin in, relative, `""` for the root itself.

    Raises:
        NotFoundError: the root or the folder does not exist.
        ConflictError: the root cannot be read.
        InvalidValueError: the folder is not below the root.
    """
    if not root.is_dir():
        msg = f"The folder of originals {str(root)!r} does not exist or is not a folder; set PHOTOSVC_ORIGINALS."
        raise NotFoundError(msg, field="PHOTOSVC_ORIGINALS")
    try:
        os.scandir(root).close()
    except OSError as error:
        msg = f"The folder of originals {str(root)!r} cannot be read ({error.strerror}): let this user read it."
        raise ConflictError(msg, field="PHOTOSVC_ORIGINALS") from None
    folder = relative_folder(root, subfolder)
    if not os.path.isdir(root / folder):  # noqa: PTH112 - that of Path fails for names that no disk can have
        raise NotFoundError(f"There is no folder {subfolder!r} below the originals.", field="SUBFOLDER")
    return folder


def relative_folder(root: Path, subfolder: str) -> str:
    """Return the folder relative to `root`, whether or not it exists, `""` for the root itself.

    Raises:
        InvalidValueError: the folder is not below the root.
    """
    relative = Path(subfolder)
    if relative.is_absolute():
        try:
            relative = relative.resolve().relative_to(root.resolve())
        except ValueError:
            raise InvalidValueError(f"{subfolder!r} is not below the folder of originals", field="SUBFOLDER") from None
    if ".." in relative.parts or "\x00" in subfolder:
        raise InvalidValueError(f"{subfolder!r} is not below the folder of originals", field="SUBFOLDER")
    return "" if relative == Path() else relative.as_posix()


def scan(root: Path, folder: str = "", exclusions: Exclusions | None = None) -> Iterator[ScannedFile | Unreachable]:
    """Yield every entry below `folder`, by its clean name in the order of code points, as databases sort them.

    An unreadable folder comes at the place of its content. Links are never followed: they can lead out of the originals
    or form a cycle. Names that the index leaves out are skipped.
    """
    exclusions = exclusions or Exclusions(root)
    pending = [iter([clean_name(folder) + "/" if folder else ""])]
    while pending:
        name = next(pending[-1], None)
        if name is None:
            pending.pop()
        elif name and not name.endswith("/"):
            yield look_at(root, name)
        else:
            inner = _list(root, name, exclusions)
            if isinstance(inner, Unreachable):
                yield inner
                continue
            if name.count("/") >= MAX_DEPTH and any(map(_is_folder, inner)):
                yield Unreachable(name[:-1], Problem.of(Reason.TOO_DEEP, MAX_DEPTH))
                inner = [part for part in inner if not _is_folder(part)]
            pending.append(map(name.__add__, inner))


def scan_folders(root: Path, folder: str = "") -> Iterator[list[ScannedFile | Unreachable]]:
    """Yield the entries of `scan` as one list for each folder, sorted; a folder comes before those in it."""
    exclusions = Exclusions(root)
    pending = [clean_name(folder) + "/" if folder else ""]
    while pending:
        name = pending.pop()
        inner = _list(root, name, exclusions)
        if isinstance(inner, Unreachable):
            yield [inner]
            continue
        entries = [look_at(root, name + part) for part in inner if not _is_folder(part)]
        folders = [name + part for part in inner if _is_folder(part)]
        if folders and name.count("/") >= MAX_DEPTH:
            entries.append(Unreachable(name[:-1], Problem.of(Reason.TOO_DEEP, MAX_DEPTH)))
            folders = []
        yield entries
        pending.extend(reversed(folders))


def _is_folder(part: str) -> bool:
    return part.endswith("/")


def _list(root: Path, folder: str, exclusions: Exclusions) -> list[str] | Unreachable:
    """Return the clean names in a folder, sorted; a slash ends those of folders and sorts their content right."""
    name = folder[:-1]
    if is_too_long(name):
        return Unreachable(name, Problem.of(Reason.PATH_TOO_LONG, MAX_PATH))
    own = name.rpartition("/")[2]
    try:
        with os.scandir(disk_path(root, name)) as listing:
            entries = list(listing)
        rules = exclusions.rules(folder, {entry.name for entry in entries})
    except OSError as error:
        has_vanished = name and isinstance(error, FileNotFoundError | NotADirectoryError)
        reason, symbol = Reason.UNREADABLE_FOLDER, system_symbol(error)
        return Unreachable(name, Problem(Reason.VANISHED) if has_vanished else Problem.of(reason, symbol))
    except FileProblemError as error:
        return Unreachable(name, error.problem)
    seen = (entry for entry in entries if not is_left_out(entry.name, own))
    names = [clean_name(entry.name) + "/" * _leads_deeper(entry) for entry in seen]
    shown = sorted(part for part in names if not rules.exclude(part))
    exclusions.count += len(names) - len(shown)
    return shown


def _leads_deeper(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # `look_at` reports it
        return False


def look_at(root: Path, name: str) -> ScannedFile | Unreachable:
    """Return the file of this name, or the reason why it is left out."""
    if is_too_long(name):
        return Unreachable(name, Problem.of(Reason.PATH_TOO_LONG, MAX_PATH))
    try:
        status = os.lstat(f"{root}/{disk_name(name)}")
    except (FileNotFoundError, NotADirectoryError):
        return Unreachable(name, Problem(Reason.VANISHED))
    except OSError as error:
        return Unreachable(name, Problem.of(Reason.UNREADABLE, system_symbol(error)))
    if stat.S_ISLNK(status.st_mode):
        return Unreachable(name, Problem.of(Reason.SYMBOLIC_LINK))
    if not stat.S_ISREG(status.st_mode):
        return Unreachable(name, Problem.of(Reason.NOT_REGULAR))
    return ScannedFile(name, status.st_size, clamped_time(status), status.st_ctime_ns)


def is_too_long(name: str) -> bool:
    """Return whether scans leave out the file or folder of this clean name because of the length of its path."""
    if name.isascii():  # folding makes no ASCII text longer
        return len(name) > MAX_PATH
    return any(len(text.encode()) > MAX_PATH for text in (name, fold(name)))


def disk_path(root: Path, name: str) -> Path:
    """Return the path on disk of the file with this clean name."""
    return root / disk_name(name)


def aside_folder() -> str:
    """Return a folder that does not exist, for the names of rows whose own names become free."""
    return f"{GONE_FOLDER}/{secrets.token_hex(8)}"


def is_gone(root: Path, name: str) -> bool:
    """Return whether no regular file has this name; false when the disk cannot tell."""
    try:
        status = os.lstat(disk_path(root, name))
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return not stat.S_ISREG(status.st_mode)
