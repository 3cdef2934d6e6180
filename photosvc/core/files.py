"""Files on disk: clean names, paths below a root, private files, and writes that outlast a loss of power.

Names of a library are opened only by `resolve_inside`, `open_inside` and `open_folder`, which refuse every way out of
the root. The instance folder, the database and the keys are private: no other account of the machine can read them.
"""

import errno
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from photosvc.core.errors import NotFoundError

_LOG = logging.getLogger("photosvc")
#: Rights of the group and of all others.
_OTHERS: Final = 0o077
#: These rights except for passing through a folder, to a file in it whose name is known.
_READING: Final = 0o066
_OPEN: Final = "{0} can be read by other accounts of this machine: as its owner, run chmod {1:o} {0}"
# Bytes that are not UTF-8 (as surrogates), control characters, line separators and bidirectional control characters.
_UNCLEAN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")
_ESCAPED = re.compile("%([0-9A-F]{2})")
#: Prefix of parts with escapes, so that the file name `100%25.jpg` is not read as an escaped one.
_MARK = "%FF"
#: System errors that are no fault of the file: the disk fails or does not answer, or the process has no memory or
#: descriptor left.
TRANSIENT_ERRNOS: Final = frozenset(
    {
        *(errno.EIO, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.ENODEV),
        *(errno.ENOSPC, errno.EDQUOT, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.ECONNRESET),
        *(errno.ECONNABORTED, errno.ECONNREFUSED, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN),
        *(errno.ENETUNREACH, errno.EREMOTEIO, errno.ENOLINK, errno.ESHUTDOWN),
    }
)
_INT64 = 1 << 63
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make_folder_private(folder: Path, *, passable: bool = False) -> None:
    """Make a folder with its parents if it does not exist, and take the rights of other accounts away.

    Args:
        passable: true if other accounts may pass through it, as nginx does to send files below it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _take_rights(folder, _READING if passable else _OTHERS)


def make_files_private(files: Iterable[Path]) -> None:
    """Take the rights of other accounts to existing files away."""
    for file in files:
        if file.is_file():
            _take_rights(file, _OTHERS)


def create_private(file: Path) -> None:
    """Make an empty private file, unless it exists."""
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


@contextmanager
def private_umask() -> Iterator[None]:
    """Make all files that are made inside the block private; for commands only, because it applies to all threads."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def readable_by_others(files: Iterable[Path]) -> list[str]:
    """Return a sentence for each file that other accounts can read, with the command that makes it private."""
    modes = [(file, file.stat().st_mode & 0o7777) for file in files if file.is_file()]
    return [_OPEN.format(file, mode & ~_OTHERS) for file, mode in modes if mode & _OTHERS]


def _take_rights(path: Path, rights: int) -> None:
    mode = path.stat().st_mode & 0o7777
    if not mode & rights:
        return
    try:
        path.chmod(mode & ~rights)
    except OSError:  # it belongs to another account, or the file system has no rights
        _LOG.warning("%s", _OPEN.format(path, mode & ~rights))


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk.

    Raises:
        OSError: there is no such folder, or the disk failed.
    """
    _flush(folder, os.O_DIRECTORY)


def flush_file(path: Path) -> None:
    """Wait until the content of a file is on the disk.

    Raises:
        OSError: there is no such file, or the disk failed.
    """
    _flush(path, os.O_NOFOLLOW)


def _flush(path: Path, flag: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | flag | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_private(path: Path, data: bytes) -> None:
    """Write a new private file, and wait until its content is on the disk.

    Rename it to its lasting name only afterwards, and then call `flush_folder`; otherwise a loss of power may leave an
    empty file under that name.

    Raises:
        OSError: the file exists, or cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def clamped_time(status: os.stat_result) -> int:
    """Return the time of the last change in nanoseconds since 1970, limited to 64 bits: from 1677 to 2262."""
    return max(-_INT64, min(status.st_mtime_ns, _INT64 - 1))


def is_as_known(status: os.stat_result, size: int, mtime_ns: int) -> bool:
    """Return whether the status is that of a regular file with this size and time, which the library has stored."""
    return stat.S_ISREG(status.st_mode) and (status.st_size, clamped_time(status)) == (size, mtime_ns)


def clean_name(name: str) -> str:
    """Return a relative path as valid UTF-8 without control characters; `disk_name` is the inverse.

    Clean parts are unchanged. In other parts each unclean byte and each `%` becomes `%` and two hexadecimal digits,
    and the part starts with `%FF`, a byte that never occurs in UTF-8.
    """
    return "/".join(_clean_part(part) for part in name.split("/"))


def _clean_part(part: str) -> str:
    if not _UNCLEAN.search(part) and not part.startswith(_MARK):
        return part
    return _MARK + re.sub(f"%|{_UNCLEAN.pattern}", _escaped, part)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in os.fsencode(match[0]))


def disk_name(name: str) -> str:
    """Return the path on disk for a name that `clean_name` returned."""
    return "/".join(_disk_part(part) if part.startswith(_MARK) else part for part in name.split("/"))


def _disk_part(part: str) -> str:
    raw = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), part[len(_MARK) :].encode().decode("latin-1"))
    return os.fsdecode(raw.encode("latin-1"))


def open_inside(root: Path, name: str) -> int:
    """Open the clean relative `name` below `root` for reading, and return its descriptor.

    Each folder is opened from the one above it and no link is followed, so that no concurrent rename or link leads out
    of the root. A named pipe does not block.

    Raises:
        NotFoundError: the name is absolute or climbs out.
        OSError: it does not exist, a part of it is a link, or it cannot be opened.
    """
    *folders, last = _parts(name)
    folder = open_folder(root, folders)
    try:
        return os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def system_sentence(error: OSError) -> str:
    """Return why a file below a root cannot be opened or written, in words."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a link, which is not followed, or a file in place of a folder is in its path"
    return error.strerror or str(error)


def open_folder(root: Path, parts: Iterable[str], *, create: bool = False) -> int:
    """Open a folder below `root` by its names on disk, and return its descriptor; like `open_inside`, follow no link.

    Args:
        root: the root folder, which may itself be a link.
        parts: names of folders, none of them `..`.
        create: true to make missing folders; other processes may make the same folders at the same time.

    Raises:
        OSError: a folder does not exist, is a link or a file, or cannot be opened or made.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            try:
                inner = os.open(part, _FOLDER, dir_fd=folder)
            except FileNotFoundError:
                if not create:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
                    os.fsync(folder)
                inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def _parts(name: str) -> tuple[str, ...]:
    relative = disk_name(name)
    parts = PurePosixPath(relative).parts
    if not parts or "\x00" in relative or relative.startswith("/") or ".." in parts:
        raise NotFoundError("No such file in the library.")
    return parts


def resolve_inside(root: Path, name: str) -> Path:
    """Return the path of the clean relative `name` below `root`, links resolved.

    Raises:
        NotFoundError: the name is absolute, contains `..`, or leads through a link to a path outside `root`.
    """
    parts = _parts(name)
    base = Path(os.path.realpath(root))
    path = Path(os.path.realpath(base.joinpath(*parts)))
    if not path.is_relative_to(base) or path == base:
        raise NotFoundError("No such file in the library.")
    return path


def full_path(value: object) -> Path:
    """Return the absolute path for a text; a `~` at its beginning is the home folder.

    Raises:
        ValueError: it is empty or no path, or there is no such home folder.
    """
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("expected a path that is not empty")
    path = value if isinstance(value, Path) else Path(value.strip())
    if "\0" in str(path):
        raise ValueError("expected a path without NUL characters")
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ValueError(f"there is no home folder for {path.parts[0]}") from None


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the text in `path`; on first use, create the file with mode 0600 and the result of `make`.

    The text is written to a temporary file that is then hard-linked to `path`: if several processes start at once,
    the first link wins, and no process reads a partly written key.

    Raises:
        OSError: the file cannot be read or written.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
        try:
            write_private(temporary, make().encode())
            with suppress(FileExistsError):  # another process was first
                os.link(temporary, path)
            flush_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    return path.read_text("utf-8").strip()
