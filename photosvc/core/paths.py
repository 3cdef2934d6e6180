"""Files on disk: names and their form in JSON, paths below a root, and key files that only the owner may read.

`inside` is the only way from a name to a path below a root.
"""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from photosvc.core.errors import NotFoundError

# Bytes that are not UTF-8 (as surrogates), control characters, line separators and bidirectional control characters.
_UNCLEAN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")
_ESCAPED = re.compile("%([0-9A-F]{2})")
#: Prefix of parts with escapes, so that the file name `100%25.jpg` is not taken for an escaped one.
_MARK = "%FF"


_INT64 = 1 << 63
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def clamped_time(status: os.stat_result) -> int:
    """The time of the last change in nanoseconds since 1970, as far as 64 bits go: from 1677 to 2262."""
    return max(-_INT64, min(status.st_mtime_ns, _INT64 - 1))


def clean_name(name: str) -> str:
    """A relative path that is valid UTF-8 without control characters; `disk_name` is the inverse.

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
    """The path on disk of a name that `clean_name` made."""
    return "/".join(_disk_part(part) if part.startswith(_MARK) else part for part in name.split("/"))


def _disk_part(part: str) -> str:
    raw = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), part[len(_MARK) :].encode().decode("latin-1"))
    return os.fsdecode(raw.encode("latin-1"))


def open_inside(root: Path, name: str) -> int:
    """A descriptor, for reading, of the clean relative `name` below `root`.

    Each folder is opened from the one above it and no link is followed, so that nothing that is renamed or linked
    at the same time leads out of the root. A named pipe does not block it.

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


def open_folder(root: Path, parts: Iterable[str], *, create: bool = False) -> int:
    """A descriptor of the folder below `root` whose names on disk are `parts`; as `open_inside` no link is followed.

    Args:
        root: is opened also where it is a link.
        parts: names of folders, none of them `..`.
        create: make folders that do not exist; several processes may make the same ones.

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
        msg = "No such file in the library."
        raise NotFoundError(msg)
    return parts


def inside(root: Path, name: str) -> Path:
    """The path of the clean relative `name` below `root`, links resolved.

    Raises:
        NotFoundError: the name is absolute, contains `..`, or leads through a link to a path outside `root`.

    """
    parts = _parts(name)
    base = Path(os.path.realpath(root))
    path = Path(os.path.realpath(base.joinpath(*parts)))
    if not path.is_relative_to(base) or path == base:
        msg = "No such file in the library."
        raise NotFoundError(msg)
    return path


def full_path(value: object) -> Path:
    """The absolute path that a text means, in which `~` is the home folder.

    Raises:
        ValueError: it is empty or no path, or there is no such home folder.

    """
    if not isinstance(value, str | Path) or not str(value).strip():
        msg = "expected a path that is not empty"
        raise ValueError(msg)
    path = value if isinstance(value, Path) else Path(value.strip())
    if "\0" in str(path):
        msg = "expected a path without NUL characters"
        raise ValueError(msg)
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        msg = f"there is no home folder for {path.parts[0]}"
        raise ValueError(msg) from None


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """The text in `path`; on first use the file is created with mode 0600 and the result of `make`.

    The text is written to a temporary file that is then hard-linked to `path`: when several processes start at once
    the first link wins, and no process reads a partly written key.

    Raises:
        OSError: the file cannot be read or written.

    """
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(make())
        os.link(temporary, path)
    except FileExistsError:
        return path.read_text("utf-8").strip()  # another process was first
    finally:
        temporary.unlink()
    return path.read_text("utf-8").strip()
