"""The mirror of a bucket: a folder with a placeholder for each object, so that scans need no other way.

A placeholder is a sparse file: it has the size and the stamp of its object as size and time, and no content on disk.
Nobody reads it: `open_original` opens the object. Placeholders are removed only after a list that was read to its end,
so that no object seems to be gone because the store failed. An object whose key ends with a slash is the mark of a
folder, which stays while it is empty.

Objects in the trash have placeholders, too, without the seconds of their times. Those that moved there by a deletion
keep the stamps of the deleted versions: a list that is older than the deletion does not bring these back.
"""

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Final

from photosvc.core.errors import ConflictError
from photosvc.core.paths import clean_name, close_folder
from photosvc.core.problems import Problem, Reason
from photosvc.index.scan import STAGING_FOLDER, TRASH_FOLDER, UNFINISHED, Unreachable
from photosvc.settings import Settings
from photosvc.storage.bucket import Bucket, Listed
from photosvc.storage.objects import find

#: Kept in a temporary database on disk: memory does not grow with the bucket.
_SCHEMA: Final = """
PRAGMA temp_store = FILE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE seen (name BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE blocked (name BLOB, size INTEGER, mtime_ns INTEGER, etag TEXT);
"""
_LONGEST_PART: Final = 255
#: The most bytes of a key.
LONGEST_KEY: Final = 1024
_MOST_DOUBTS: Final = 5_000
#: Seconds after which the clock of a disk has moved on.
_TICK: Final = 0.02


def refresh(bucket: Bucket, folder: str = "", note: Callable[[Unreachable], object] = lambda _: None) -> None:
    """Bring the placeholders of a folder up to date with the list of the bucket.

    Args:
        folder: a path on disk, relative; empty for all.
        note: called with each key that cannot be the path of a file.

    Raises:
        BucketError: the list cannot be read; the placeholders of listed objects may be newer, but none is removed.
        OSError: the disk of the mirror fails.
    """
    close_folder(bucket.mirror)
    os.utime(bucket.mirror)
    began = bucket.mirror.stat().st_ctime_ns  # by the clock of the disk, which is coarse
    time.sleep(_TICK)  # what others change after the list has later times
    root = os.path.join(bucket.mirror, "")  # noqa: PTH118 - faster
    with closing(sqlite3.connect("")) as database:
        database.executescript(_SCHEMA)
        placed = _Placed(bucket, root, began)
        for listed in bucket.objects(folder):
            if (problem := _problem(listed.key)) is not None:
                note(Unreachable(_shown(listed.key), problem))
            elif _is_of_deletion(listed.key):
                placed.add_to_trash(listed)
                database.execute("INSERT OR IGNORE INTO seen VALUES (?)", (os.fsencode(listed.key),))
            elif not _is_reserved(listed.key):
                row = (os.fsencode(listed.key), listed.size, listed.mtime_ns, listed.etag)
                database.execute("INSERT OR IGNORE INTO seen VALUES (?)", row[:1])
                if not placed.place(listed):
                    database.execute("INSERT INTO blocked VALUES (?, ?, ?, ?)", row)
        _remove_unseen(database, root, folder, began)
        for name, *version in database.execute("SELECT * FROM blocked"):
            listed = Listed(os.fsdecode(name), *version)
            if not placed.place(listed):  # another object has its name as a folder, or the name of its folder
                note(Unreachable(_shown(listed.key), Problem.of(Reason.UNUSABLE_KEY)))
    _remove_deleted(root, began)


def add_placeholder(bucket: Bucket, listed: Listed) -> None:
    """Make the placeholder of an object that the service has stored, so that scans need no new list to see it.

    Raises:
        OSError: the disk of the mirror fails.
    """
    _place(os.path.join(bucket.mirror, ""), listed)  # noqa: PTH118 - as in `refresh`


def remove_placeholder(bucket: Bucket, listed: Listed) -> bool:
    """Remove the placeholder of this version of an object, if there is one; return whether there was.

    Raises:
        OSError: the disk of the mirror fails.
    """
    path = os.path.join(bucket.mirror, listed.key)  # noqa: PTH118 - as in `refresh`
    with suppress(FileNotFoundError, NotADirectoryError):
        if is_placeholder(os.lstat(path), _as_placed(listed)):
            os.unlink(path)  # noqa: PTH108 - as in `refresh`
            return True
    return False


def forget(bucket: Bucket, deleted: Iterable[Listed]) -> None:
    """Remove the placeholders of objects that are deleted now, and put what a list of this moment says in doubt.

    Such a list may have the objects still, and may have made their placeholders again since they were noted as gone.
    If the disk of the mirror fails, a later list removes them.
    """
    root, changed = str(bucket.mirror), set()
    with suppress(OSError):
        for listed in deleted:
            path = f"{root}/{listed.key}"
            if path.endswith("/"):
                with suppress(OSError):  # it is not empty
                    os.rmdir(path)  # noqa: PTH106 - as in `refresh`
            else:
                remove_placeholder(bucket, listed)
            changed.add(_nearest(os.path.dirname(path.rstrip("/")), root))  # noqa: PTH120 - faster
        for folder in changed:
            with suppress(FileNotFoundError):
                os.utime(folder)  # with the time of the content changes that of the entry, see `_Placed`


def is_placeholder(status: os.stat_result, listed: Listed) -> bool:
    """Return whether the status is that of the placeholder of this version of an object."""
    version = (status.st_size, status.st_mtime_ns)
    return stat.S_ISREG(status.st_mode) and version == (listed.size, listed.mtime_ns)


def look_again(bucket: Bucket, key: str) -> Listed | None:
    """Bring one placeholder up to date with its object, and return the object; None if there is none.

    Raises:
        BucketError: the store does not tell.
        OSError: the disk of the mirror fails.
    """
    found = find(bucket, key)
    if found is not None:
        add_placeholder(bucket, found)
        return found
    path = os.path.join(bucket.mirror, key)  # noqa: PTH118 - as in `refresh`
    with suppress(FileNotFoundError, NotADirectoryError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            os.unlink(path)  # noqa: PTH108 - as in `refresh`
    return None


def check_listed(settings: Settings) -> None:
    """Check that the bucket of the originals, if they are in one, can be listed and has been.

    Raises:
        BucketError: it cannot be listed.
        ConflictError: no run has listed it yet.
    """
    if settings.bucket is None:
        return
    settings.bucket.check()
    if not settings.originals.is_dir():
        msg = f"{settings.bucket.address} has not been indexed with this instance folder: run `svc index`."
        raise ConflictError(msg)


def _shown(key: str) -> str:
    """Return a key as reports show it."""
    return clean_name(key.encode("utf-8", "replace").decode())


def _problem(key: str) -> Problem | None:
    """Return the reason why a key cannot be the path of a file; None for those that can, and for marks of folders."""
    parts = key.removesuffix("/").split("/") if key else []
    try:
        is_long = len(key.encode()) > LONGEST_KEY or any(len(part.encode()) > _LONGEST_PART for part in parts)
        is_usable = not is_long and not any(part in {"", ".", ".."} or "\0" in part for part in parts)
    except UnicodeEncodeError:
        is_usable = False
    return None if is_usable else Problem.of(Reason.UNUSABLE_KEY)


def _is_reserved(key: str) -> bool:
    """Return whether the key has no place in the mirror: that of all originals, and those in the staging folder."""
    return not key or any(part.casefold() == STAGING_FOLDER for part in key.split("/"))


def _is_of_deletion(name: str) -> bool:
    """Return whether a path is that of a file, or of a folder, of a finished deletion."""
    deletion, _, inner = name.removeprefix(f"{TRASH_FOLDER}/").partition("/")
    return name.startswith(f"{TRASH_FOLDER}/") and bool(inner) and not deletion.endswith(UNFINISHED)


def _as_placed(listed: Listed) -> Listed:
    """Return the object as its placeholder shows it: a copy in the trash has the time of the copy, without seconds.

    No deleted version has such a time: `_remove_deleted` takes no copy for the version that is at its former key.
    """
    return replace(listed, mtime_ns=listed.mtime_ns % 10**9) if _is_of_deletion(listed.key) else listed


def _remove_unseen(database: sqlite3.Connection, root: str, folder: str, began: int) -> None:
    """Remove the placeholders below a folder of which the list has no object, and empty folders.

    Objects of placeholders that are later than its beginning (`began`) may be newer than the list.
    """
    received = f"{root}{STAGING_FOLDER}/"  # files that are being received, not placeholders, except in the trash
    emptied = set()  # folders that have a new time of change because something in them was removed here
    for path in _placeholders(root + folder):
        name = path[len(root) :]
        if path == root or (path.startswith(received) and not _is_of_deletion(name)):
            continue
        if database.execute("SELECT 1 FROM seen WHERE name = ?", (os.fsencode(name),)).fetchone() is not None:
            continue
        if _is_removed(path, None if path in emptied else began):
            emptied.add(f"{os.path.dirname(path.rstrip('/'))}/")  # noqa: PTH120 - faster
        emptied.discard(path)


def _is_removed(path: str, began: int | None) -> bool:
    """Remove a placeholder or an empty folder, unless it is newer than the list; return whether it is gone."""
    try:
        if began is not None and os.lstat(path).st_ctime_ns >= began:
            return False
        if path.endswith("/"):
            os.rmdir(path)  # noqa: PTH106 - faster
        else:
            os.unlink(path)  # noqa: PTH108 - faster
    except FileNotFoundError:  # another process was faster
        return True
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        return False
    return True


def _remove_deleted(root: str, began: int) -> None:
    """Remove the placeholders of versions that went into the trash after a time, or are on their way."""
    trash = f"{root}{TRASH_FOLDER}/"
    for folder, _, names in os.walk(trash):
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118 - faster
            deletion, _, original = path[len(trash) :].partition("/")
            with suppress(FileNotFoundError, NotADirectoryError):
                status = os.lstat(path)
                is_new = status.st_ctime_ns >= began or deletion.endswith(UNFINISHED)
                if is_new and _version(status) == _version(os.lstat(root + original)):
                    os.unlink(root + original)  # noqa: PTH108 - faster


class _Placed:
    """Placeholders made from a list, which may be older than changes by this service: the store is asked in doubt.

    A doubt is a missing placeholder in a folder that somebody else has changed since the list began, or a placeholder
    of another version that is newer than the list. After `_MOST_DOUBTS` of them the list is believed, so that it costs
    no request for each object of a large bucket; the next list corrects what was wrong.
    """

    def __init__(self, bucket: Bucket, root: str, began: int) -> None:
        self._bucket, self._root, self._began, self._doubts = bucket, root, began, 0
        self._times = {root.rstrip("/"): began}
        """Times of change of the folders in which placeholders were made here, of those above the last one."""

    def place(self, listed: Listed) -> bool:
        """Make the placeholder of an object, or bring it up to date; return whether its path is free for it.

        Raises:
            BucketError: the store does not tell whether the object is still there.
            OSError: the disk of the mirror fails.
        """
        path = (self._root + listed.key).rstrip("/")
        status = _status(path)
        if status is None:
            return self._place_new(listed, path)
        is_other = stat.S_ISREG(status.st_mode) and not is_placeholder(status, listed)
        is_newer = self._began <= status.st_ctime_ns
        return self._place_present(listed) if is_other and is_newer else _place(self._root, listed)

    def add_to_trash(self, listed: Listed) -> None:
        """Make the placeholder of an object in the trash, if there is none.

        Unfinished deletions are left to the process that deletes, or to `photosvc.library.trash_deletion`.

        Raises:
            BucketError: the store does not tell whether the object is still there.
            OSError: the disk of the mirror fails.
        """
        path = self._root + listed.key
        deletion = listed.key[: listed.key.index("/", len(TRASH_FOLDER) + 1)]
        if not (listed.key.endswith("/") or any(map(os.path.lexists, (self._root + deletion + UNFINISHED, path)))):
            self._place_new(listed, path)

    def _place_new(self, listed: Listed, path: str) -> bool:
        """Make the placeholder of an object that has none."""
        folder = _nearest(os.path.dirname(path), self._root.rstrip("/"))  # noqa: PTH120 - faster
        status = _status(folder)
        if status is None or self._began <= status.st_ctime_ns != self._times.get(folder):
            return self._place_present(listed)
        done = _place(self._root, listed)
        self._note_times(os.path.dirname(path), folder)  # noqa: PTH120 - faster
        return done

    def _place_present(self, listed: Listed) -> bool:
        """Place an object as it is now, if it is still there."""
        self._doubts += 1
        found = find(self._bucket, listed.key) if self._doubts <= _MOST_DOUBTS else listed
        return found is None or _place(self._root, found)

    def _note_times(self, folder: str, changed: str) -> None:
        """Note the times of a folder and of those above it, up to the one that was there before."""
        self._times = {one: time for one, time in self._times.items() if f"{folder}/".startswith(f"{one}/")}
        while len(folder) >= len(changed):
            if (status := _status(folder)) is not None:
                self._times[folder] = status.st_ctime_ns
            folder = os.path.dirname(folder)  # noqa: PTH120 - faster


def _nearest(folder: str, root: str) -> str:
    """Return the folder, or the nearest one above it that exists; at most the root."""
    while len(folder) > len(root) and _status(folder) is None:
        folder = os.path.dirname(folder)  # noqa: PTH120 - faster
    return folder


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _version(status: os.stat_result) -> tuple[int, ...]:
    return stat.S_IFMT(status.st_mode), status.st_size, status.st_mtime_ns


def _place(root: str, listed: Listed) -> bool:
    """Make the placeholder of an object, or bring it up to date; return whether its path is free for it."""
    path, listed = root + listed.key, _as_placed(listed)
    if path.endswith("/"):
        with suppress(FileExistsError, NotADirectoryError):  # a file has the name: its folder is not needed
            os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103 - faster
        return True
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            return False
        if is_placeholder(status, listed):
            return True
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        return False
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - faster
    except (FileExistsError, NotADirectoryError):
        return False
    # The time is set last: a placeholder that a killed run left has another one, and is made again.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, listed.size)
        os.utime(descriptor, ns=(listed.mtime_ns, listed.mtime_ns))
    except OSError as error:
        if error.errno not in {errno.EFBIG, errno.EINVAL}:
            raise
        os.unlink(path)  # noqa: PTH108 - no file of this disk can have such a size
        return False
    finally:
        os.close(descriptor)
    return True


def _placeholders(top: str) -> Iterator[str]:
    """Yield the paths of all files below a folder, and of each folder, with a slash at its end, after its content."""
    for folder, _, names in os.walk(top, topdown=False):
        for name in names:
            yield os.path.join(folder, name)  # noqa: PTH118 - faster
        yield os.path.join(folder, "")  # noqa: PTH118 - faster
