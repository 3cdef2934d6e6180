"""The cache of derived pictures and videos: files found by name, written whole, and evicted by last use.

Files are called `<cache>/pictures/a/b/c/<hash>_<suffix>`, with one folder level for each of the first three digits of
the hash: 4,096 folders, so that a million photos have some 1,500 files in each. A temporary file without a change for
an hour belongs to a process that was killed. The usage that is shown is estimated from some folders, because reading
all of them takes seconds.
"""

import os
import random
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import ConflictError
from photosvc.core.locks import exclusive_lock

#: A link could lead out of the cache, and a named pipe must not block the thread.
_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Temporary files that have not changed for this time, in seconds, are removed.
_ABANDONED_SECONDS: Final = 3600
#: An eviction continues until this share of the limit is in use, so that the next one is not due at once.
_LOW_WATER: Final = 0.9
#: Prefix of the names of temporary files.
TEMPORARY: Final = ".tmp-"
#: Seconds between two updates of the time of last use: an update costs as much as serving the file.
_TOUCH_SECONDS: Final = 3600
#: Most bytes one process writes between two checks of the limit; of small limits, a twentieth.
_CHECK_EVERY: Final = 64 << 20
#: The end of messages about a cache that cannot be written.
REMEDY: Final = "Free space on its disk, or set PHOTOSVC_CACHE to another folder."
_FOLDER: Final = "pictures"
#: The estimate of the usage ends with the part of the cache in which it has read this many files.
_ENOUGH_FILES: Final = 4000
#: Parts of about equal size: the folders of the first two digits.
_PARTS: Final = 256
#: Bytes from the beginning of a thumbnail that state its encoding and, in a WebP, its size.
_HEAD: Final = 12
#: No whole WebP over `_FLAT` bytes ends in `_TAIL` zeros: pictures of one colour are smaller, and end in 36 at most.
_FLAT: Final = 1024
_TAIL: Final = 128
#: The beginning and the end of a PNG.
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
#: Most boxes of a whole MP4; converted videos have four.
_BOXES: Final = 16
Entries: TypeAlias = Iterator[tuple[os.DirEntry[str], os.stat_result]]


def open_cached(path: str) -> int | None:
    """Return a descriptor of a file to read from; None if it is empty, missing or unreadable.

    Callers then make the file again, also in place of a file of another user, a link or a named pipe.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_size:
        return descriptor
    os.close(descriptor)
    return None


def open_new(path: str) -> int:
    """Return a descriptor of an empty file to write to.

    Raises:
        OSError: it cannot be made, or its name belongs to a link, a folder or a named pipe.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o666)


@dataclass(frozen=True, slots=True)
class Usage:
    """Number and bytes of files of the cache."""

    files: int = 0
    bytes: int = 0


def remove_entry(path: str) -> bool:
    """Remove a file, a link, or a folder with its contents; return whether it existed."""
    try:
        os.unlink(path)  # noqa: PTH108
    except FileNotFoundError:
        return False
    except IsADirectoryError:
        shutil.rmtree(path)
    return True


class PictureCache:
    """The cache of derived files below a folder.

    An empty file counts as missing, because a crash of the system may leave one; so do a link and a folder.

    Args:
        folder: made when the first file is written.
        limit: bytes of the cache; each process may exceed it by 64 MiB, or a twentieth of it if that is less.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self._root = os.fspath(folder / _FOLDER)
        self._lock = folder / "eviction.lock"
        self.limit = limit
        self._check_every = min(_CHECK_EVERY, limit // 20)
        # A random start makes many short processes check as often, for the same bytes, as one long process.
        self._written = random.randrange(self._check_every + 1)  # noqa: S311 - no secret

    def path(self, content_hash: str, suffix: str) -> str:
        """Return the path of the derived file, whether it exists or not."""
        return f"{self._root}/{content_hash[0]}/{content_hash[1]}/{content_hash[2]}/{content_hash}_{suffix}"

    def relative(self, content_hash: str, suffix: str) -> str:
        """Return the path of the derived file relative to the folder of the cache."""
        return _FOLDER + self.path(content_hash, suffix)[len(self._root) :]

    def temporary(self, content_hash: str, suffix: str) -> str:
        """Make the folder of a derived file, and return the path at which one process writes it in pieces.

        Raises:
            OSError: the folder cannot be made.
        """
        folder, _, name = self.path(content_hash, suffix).rpartition("/")
        self._make_folder(folder)
        return f"{folder}/{TEMPORARY}{name}"

    def keep_temporary(self, temporary: str, content_hash: str, suffix: str) -> None:
        """Give a complete temporary file its lasting name.

        Raises:
            OSError: the folder cannot be written.
        """
        _rename(temporary, self.path(content_hash, suffix))

    def open(self, content_hash: str, suffix: str) -> int | None:
        """Record a use of the file, and return a descriptor to read from; None if it is missing or unreadable."""
        descriptor = open_cached(self.path(content_hash, suffix))
        if descriptor is None:
            return None
        status = os.fstat(descriptor)
        now = SYSTEM_CLOCK().timestamp()
        if abs(now - status.st_atime) > _TOUCH_SECONDS:  # a clock that was set back leaves times in the future
            with suppress(OSError):  # a read-only or full disk must not prevent reading
                os.utime(descriptor, (now, status.st_mtime))
        return descriptor

    def open_whole(self, content_hash: str, suffix: str) -> int | None:
        """Open a thumbnail or video like `open`; one that a crash or a failing disk damaged is removed and missing."""
        descriptor = self.open(content_hash, suffix)
        if descriptor is None or has_both_ends(descriptor, suffix):
            return descriptor
        os.close(descriptor)
        self.remove(content_hash, suffix)
        return None

    def has(self, content_hash: str, suffix: str) -> bool:
        """Return whether there is a file that can be read."""
        descriptor = open_cached(self.path(content_hash, suffix))
        if descriptor is not None:
            os.close(descriptor)
        return descriptor is not None

    def write(self, content_hash: str, suffix: str, data: bytes) -> None:
        """Write a file under a temporary name, then rename it; call `evict_if_due` after the last of several.

        Raises:
            OSError: the disk is full or the folder cannot be written; the message names the folder and the remedy.
        """
        path = self.path(content_hash, suffix)  # a plain text: objects cost a third of a request
        folder = path.rpartition("/")[0]
        temporary = f"{folder}/{TEMPORARY}{secrets.token_hex(8)}"
        try:
            self._make_folder(folder)
            try:
                Path(temporary).write_bytes(data)
                _rename(temporary, path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)  # noqa: PTH108
                raise
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            msg = f"The folder of derived files {self.folder} cannot be written ({reason}). {REMEDY}"
            raise OSError(error.errno, msg) from error
        self._written += len(data)

    def _make_folder(self, folder: str) -> None:
        """Make a folder; other users cannot enter the root folder unless its owner opens it to a group."""
        with suppress(FileExistsError):
            Path(self._root).mkdir(mode=0o700, parents=True)
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103

    def remove(self, content_hash: str, suffix: str) -> None:
        """Remove one file if it exists."""
        remove_entry(self.path(content_hash, suffix))

    def remove_all(self, hashes: Collection[str]) -> int:
        """Remove every derived file of these contents; return their number."""
        count = 0
        for folder in {self.path(content_hash, "").rpartition("/")[0] for content_hash in hashes}:
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
                count += sum(remove_entry(entry.path) for entry in entries if entry.name.partition("_")[0] in hashes)
        return count

    def derived(self, hashes: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """Yield content hash and name of each derived file of these contents, or of all contents."""
        folders = None if hashes is None else sorted({self.path(known, "").rpartition("/")[0] for known in hashes})
        for entry, _ in self._entries(folders):
            content_hash, _, suffix = entry.name.partition("_")
            if not entry.name.startswith(TEMPORARY) and (hashes is None or content_hash in hashes):
                yield content_hash, suffix

    def usage(self, part: int | None = None) -> Usage:
        """Return the usage, including temporary files, of all folders, or of one of `_PARTS` about equal parts."""
        files = size = 0
        for _, status in self._entries(None if part is None else [f"{self._root}/{part >> 4:x}/{part & 15:x}"]):
            files, size = files + 1, size + status.st_size
        return Usage(files, size)

    def evict_if_due(self, written: int = 0) -> None:
        """Count bytes that `write` has not written, and evict if a check of the limit is due.

        Raises:
            OSError: the folder cannot be read or written.
        """
        self._written += written
        if self._written > self._check_every:
            with suppress(ConflictError):
                self.evict()

    def evict(self) -> Usage:
        """Remove abandoned temporary files; above the limit, also the files used longest ago, down to 90 % of it.

        Return the number and bytes of the removed files, without temporary ones.

        Raises:
            ConflictError: another process is evicting.
        """
        with exclusive_lock(self._lock, "Another process is evicting cached pictures; wait for it to end."):
            self._written = 0
            return self._evict()

    def _evict(self) -> Usage:
        # Two passes with a histogram by hour in between: memory does not grow with the number of files.
        hours: dict[int, int] = {}
        total, now = 0, SYSTEM_CLOCK().timestamp()
        for entry, status in self._entries():
            if entry.name.startswith(TEMPORARY):
                if abs(now - status.st_mtime) > _ABANDONED_SECONDS and remove_entry(entry.path):
                    continue
            else:
                hour = int(status.st_atime // 3600)
                hours[hour] = hours.get(hour, 0) + status.st_size
            total += status.st_size
        excess = total - int(self.limit * _LOW_WATER)
        if total <= self.limit:
            return Usage()
        last = 0
        for last in sorted(hours):
            excess -= hours[last]
            if excess <= 0:
                break
        removed = size = 0
        spared = -excess  # bytes of the last hour that may stay
        for entry, status in self._entries():
            hour = int(status.st_atime // 3600)
            if entry.name.startswith(TEMPORARY) or hour > last:
                continue
            if hour == last and spared >= status.st_size:
                spared -= status.st_size
            elif remove_entry(entry.path):
                removed, size = removed + 1, size + status.st_size
        return Usage(removed, size)

    def clear(self) -> Usage:
        """Remove every derived file; return their number and bytes."""
        files = size = 0
        for entry, status in self._entries():
            if remove_entry(entry.path):
                files, size = files + 1, size + status.st_size
        return Usage(files, size)

    def _entries(self, folders: list[str] | None = None) -> Entries:
        """Yield every file below these folders, or below the root; files removed during the walk are skipped."""
        folders = [self._root] if folders is None else folders
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
                            continue
                        with suppress(FileNotFoundError):
                            yield entry, entry.stat(follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError):
                continue


def _rename(temporary: str, path: str) -> None:
    try:
        os.replace(temporary, path)  # noqa: PTH105
    except IsADirectoryError:
        remove_entry(path)
        os.replace(temporary, path)  # noqa: PTH105


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The usage of the cache, and its limit."""

    files: int
    size: int
    """Bytes."""
    limit: int
    """Most bytes of the cache."""
    is_exact: bool
    """True if every folder was read, False if the numbers are estimates."""


def cache_use(cache: PictureCache) -> CacheUse:
    """Return the usage of the cache, estimated from some folders: names are hashes, so all have similar sizes."""
    files = size = read = 0
    while read < _PARTS and files < _ENOUGH_FILES:
        used = cache.usage(read)
        files, size, read = files + used.files, size + used.bytes, read + 1
    return CacheUse(files * _PARTS // read, size * _PARTS // read, cache.limit, is_exact=read == _PARTS)


def has_both_ends(descriptor: int, name: str) -> bool:
    """Return whether an open thumbnail or video begins and ends as its encoding requires, without decoding it.

    A truncated file does not, nor does a file whose pages a crash left empty or full of other bytes.
    """
    size = os.fstat(descriptor).st_size
    if name.endswith(".mp4"):
        return _is_chain_of_boxes(descriptor, size)
    head = os.pread(descriptor, _HEAD, 0)
    if name.endswith(".webp"):
        # RFC 9649: the header states the number of bytes after the first eight; a writer pads odd numbers.
        stated = int.from_bytes(head[4:8], "little") + 8
        has_end = size <= _FLAT or any(os.pread(descriptor, _TAIL, size - _TAIL))
        return head[:4] == b"RIFF" and head[8:] == b"WEBP" and stated == size and has_end
    if name.endswith(".png"):
        return head.startswith(_PNG) and os.pread(descriptor, len(_PNG_END), max(0, size - len(_PNG_END))) == _PNG_END
    return head[:3] == b"\xff\xd8\xff" and os.pread(descriptor, 2, max(0, size - 2)) == b"\xff\xd9"


def _is_chain_of_boxes(descriptor: int, size: int) -> bool:
    """Return whether the boxes of an MP4 (ISO/IEC 14496-12), each of which states its size, end with the file."""
    position, kinds = 0, list[bytes]()
    while position < size and len(kinds) < _BOXES:
        head = os.pread(descriptor, 16, position)
        length = int.from_bytes(head[:4])
        kinds.append(head[4:8])
        position += int.from_bytes(head[8:]) if length == 1 else max(length, 8)
    return position == size and kinds[0] == b"ftyp" and {b"moov", b"mdat"} <= set(kinds)
