"""The folder of derived pictures: found by name, written whole, evicted by last use.

`<cache>/pictures/a/b/c/<hash>_<what>` with one folder for each of the first three digits of the hash: 4,096 folders,
so that a million photos have some 1,500 files in each.
"""

import os
import random
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from photosvc.core.errors import ConflictError
from photosvc.core.locks.lock import exclusive_lock
from photosvc.pictures.cache.eviction import TEMPORARY, Entries, Usage, evict, unlink
from photosvc.pictures.cache.locks import being_written

#: The time of the last use is written at most this often, in seconds: each write costs as much as serving the file.
_TOUCH_SECONDS: Final = 3600
#: Bytes one process writes between two checks of the cap, if a twentieth of the cap is not less.
_CHECK_EVERY: Final = 64 << 20
REMEDY: Final = "Free space on its disk, or set PHOTOSVC_CACHE to another folder."
_FOLDER: Final = "pictures"


class PictureCache:
    """Derived files below `folder`, at most about `limit` bytes of them.

    A file without bytes counts as missing: a crash of the whole system may leave one.

    Args:
        folder: made when the first file is written.
        limit: bytes; each process may exceed it by 64 MiB, or a twentieth of it if that is less.

    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self._root = os.fspath(folder / _FOLDER)
        self._lock = folder / "eviction.lock"
        self.limit = limit
        self._check_every = min(_CHECK_EVERY, limit // 20)
        # Processes that end early must check as often, for the same bytes, as one that lasts.
        self._written = random.randrange(self._check_every + 1)  # noqa: S311 - no secret

    def path(self, content_hash: str, what: str) -> str:
        """Where the derived file lies, or would lie."""
        return f"{self._root}/{content_hash[0]}/{content_hash[1]}/{content_hash[2]}/{content_hash}_{what}"

    def relative(self, content_hash: str, what: str) -> str:
        """The same path relative to the folder of the cache."""
        return _FOLDER + self.path(content_hash, what)[len(self._root) :]

    def temporary(self, content_hash: str, what: str) -> str:
        """The name of a file to be written in pieces, by one process at a time; its folder exists.

        Raises:
            OSError: the folder cannot be made.

        """
        folder, _, name = self.path(content_hash, what).rpartition("/")
        self._make(folder)
        return f"{folder}/{TEMPORARY}{name}"

    def open(self, content_hash: str, what: str) -> int | None:
        """A descriptor of the file to read from, which counts as a use; None when there is no file that can be read."""
        descriptor = self._open(content_hash, what)
        if descriptor is None:
            return None
        status = os.fstat(descriptor)
        now = time.time()
        if abs(now - status.st_atime) > _TOUCH_SECONDS:  # a clock that was set back leaves times that lie ahead
            with suppress(OSError):  # a read-only or full disk must not stop what can be read
                os.utime(descriptor, (now, status.st_mtime))
        return descriptor

    def has(self, content_hash: str, what: str) -> bool:
        """Whether there is a file that can be read."""
        descriptor = self._open(content_hash, what)
        if descriptor is not None:
            os.close(descriptor)
        return descriptor is not None

    def _open(self, content_hash: str, what: str) -> int | None:
        # A file that cannot be read, for example one of another user, is made once more.
        try:
            descriptor = os.open(self.path(content_hash, what), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        if os.fstat(descriptor).st_size:
            return descriptor
        os.close(descriptor)
        return None

    def write(self, content_hash: str, what: str, data: bytes) -> bool:
        """Keep `data`; the name appears when all of it is on disk. Returns whether a check of the cap is due.

        Raises:
            OSError: the disk is full or the folder cannot be written; the text names the folder and what to do.

        """
        path = self.path(content_hash, what)
        try:
            with self.new_file(path) as temporary:
                Path(temporary).write_bytes(data)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            msg = f"The folder of derived files {self.folder} cannot be written ({reason}). {REMEDY}"
            raise OSError(error.errno, msg) from error
        self._written += len(data)
        return self._written > self._check_every

    @contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        """The name of a temporary file that becomes `path` when the block ends without an exception.

        Raises:
            OSError: the disk is full or the folder cannot be written.

        """
        folder = os.path.dirname(path)  # noqa: PTH120 - paths are plain texts here: objects cost a third of a request
        self._make(folder)
        temporary = f"{folder}/{TEMPORARY}{secrets.token_hex(8)}"
        try:
            with being_written(temporary):
                yield temporary
                os.replace(temporary, path)  # noqa: PTH105
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108
            raise

    def _make(self, folder: str) -> None:
        """Make a folder; the one around all of them is closed to other users unless its owner opens it to a group."""
        with suppress(FileExistsError):
            Path(self._root).mkdir(mode=0o700, parents=True)
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103

    def remove(self, content_hash: str, what: str) -> None:
        """Remove one file, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(self.path(content_hash, what))  # noqa: PTH108

    def remove_all(self, hashes: Collection[str]) -> int:
        """Remove every derived file of these contents; gives how many there were."""
        count = 0
        for folder in {self.path(content_hash, "").rpartition("/")[0] for content_hash in hashes}:
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
                count += sum(unlink(entry) for entry in entries if entry.name.partition("_")[0] in hashes)
        return count

    def derived(self, hashes: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """The content's hash and the name of each derived file; only of these contents, unless None."""
        folders = None if hashes is None else sorted({self.path(one, "").rpartition("/")[0] for one in hashes})
        for entry, _ in self._entries(folders):
            content_hash, _, what = entry.name.partition("_")
            if not entry.name.startswith(TEMPORARY) and (hashes is None or content_hash in hashes):
                yield content_hash, what

    def folders(self) -> Iterator[str]:
        """The folders that files lie in, whether they exist or not, in an order that says nothing of their names."""
        digits = "0123456789abcdef"
        names = [f"{one}/{two}/{three}" for one in digits for two in digits for three in digits]
        random.Random(0).shuffle(names)  # noqa: S311 - no secret
        return (f"{self._root}/{name}" for name in names)

    def usage(self) -> Usage:
        """How much there is, with what is being written; reads every folder."""
        files = size = 0
        for _, status in self._entries():
            files, size = files + 1, size + status.st_size
        return Usage(files, size)

    def evict_if_due(self, written: int) -> None:
        """Note that so many bytes were written, and evict if a check of the cap is due.

        Raises:
            OSError: the folder cannot be read or written.

        """
        self._written += written
        if self._written > self._check_every:
            with suppress(ConflictError):
                self.evict()

    def evict(self) -> Usage:
        """Remove what was used longest ago until 90 % of the cap are in use; gives what was removed.

        Raises:
            ConflictError: another process is evicting.

        """
        with exclusive_lock(self._lock, "Another process is evicting cached pictures; wait for it to end."):
            self._written = 0
            return evict(self._entries, self.limit, time.time())

    def clear(self) -> Usage:
        """Remove every derived file; gives what was removed."""
        files = size = 0
        for entry, status in self._entries():
            if unlink(entry):
                files, size = files + 1, size + status.st_size
        return Usage(files, size)

    def _entries(self, folders: list[str] | None = None) -> Entries:
        """Every file below the folder, or below these; files that are removed during the walk are skipped."""
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
