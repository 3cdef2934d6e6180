"""The safe reader of backups, which may come from attackers.

It accepts only names and sizes of the manifest, and no links.
"""

import io
import os
import shutil
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from photosvc.backup import snapshot
from photosvc.backup.archive import (
    DATABASE,
    INSTANCE,
    MANIFEST,
    MOST_BYTES,
    MOST_FILES,
    Manifest,
    Member,
    NotABackupError,
    load,
)
from photosvc.core.errors import PhotosvcError

#: Most bytes that are read from the archive at once: its table of contents, which is read whole, must fit.
_MOST_READ: Final = 4 << 20
_CHUNK: Final = 1 << 20
_ENCRYPTED: Final = 0x1
#: Bytes that are kept free on the disk.
_SPARE: Final = 16 << 20
#: Exceptions that the readers of ZIP, deflate and JSON raise when the content is malformed; of JSON that is nested too
#: deeply it is RecursionError.
_BROKEN: Final = (
    *(BadZipFile, zlib.error, EOFError, NotImplementedError, RecursionError),
    *(ValueError, OverflowError, LookupError, struct.error),
)


class Archive:
    """An open backup whose manifest is valid and names all its files."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        entries = {entry.filename: entry for entry in archive.infolist()}
        if len(entries) != len(archive.infolist()) or len(entries) > MOST_FILES + 20:
            raise NotABackupError("The backup has duplicate names, or too many.")
        for entry in entries.values():
            _check_entry(entry)
        head = entries.get(MANIFEST)
        if head is None or head.file_size > MOST_BYTES:
            raise NotABackupError("The file is no backup of photosvc: it has no manifest.")
        self.manifest: Manifest = load(archive.read(head))
        for member in self.manifest.members:
            found = entries.get(member.name)
            too_large = member.name != DATABASE and member.size > MOST_BYTES
            if found is None or found.file_size != member.size or too_large:
                raise NotABackupError(f"The backup differs from its manifest: {member.name}.")
        if entries.keys() != {MANIFEST, *(member.name for member in self.manifest.members)}:
            raise NotABackupError("The backup has files that its manifest does not name.")

    def extract(self, member: Member, target: Path) -> None:
        """Write a file of the archive to a new file, which only its owner may read.

        Raises:
            NotABackupError: its content contradicts the manifest.
            OSError: the disk is full or failed.
        """
        digest, size = sha256(), 0
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file, _telling(), self._archive.open(member.name) as source:
            while data := source.read(_CHUNK):
                size += len(data)
                if size > member.size:
                    break
                digest.update(data)
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if size != member.size or digest.hexdigest() != member.sha256:
            raise NotABackupError(f"The backup is damaged: {member.name} differs from the file that was backed up.")

    def extract_instance(self, folder: Path) -> None:
        """Write all files of the instance folder below a folder.

        Raises:
            NotABackupError: the content of a file contradicts the manifest.
            OSError: the disk is full or failed.
        """
        for member in self.manifest.members:
            if member.name != DATABASE:
                target = folder / member.name.removeprefix(f"{INSTANCE}/")
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.extract(member, target)

    def extract_database(self, target: Path, *, thoroughly: bool) -> snapshot.State | None:
        """Write the database to a new file, check it and return its state; None when the archive has no database.

        Raises:
            NotABackupError: it is damaged, or contradicts the manifest.
            OSError: the disk has no room for it, or failed.
        """
        member = self.manifest.member(DATABASE)
        if member is None:
            return None
        self.extract(member, target)
        state = snapshot.check(target, thoroughly=thoroughly)
        key = "" if state.fingerprint is None else f"{state.fingerprint:016x}"
        if (state.schema, key) != (self.manifest.schema, self.manifest.key):
            raise NotABackupError("The database in the backup is not the one that its manifest describes.")
        return state


@contextmanager
def open_backup(path: Path) -> Iterator[Archive]:
    """Open the backup in a file.

    Raises:
        NotABackupError: it is not a backup, or damaged.
        OSError: it cannot be read.
    """
    with _BoundedFile(path) as file:
        with _telling():
            archive = Archive(ZipFile(file))
        yield archive


@contextmanager
def _telling() -> Iterator[None]:
    """Turn every exception about defects of an archive into `NotABackupError`."""
    try:
        yield
    except _BROKEN as error:
        msg = f"The file is not a complete backup of photosvc: {str(error) or type(error).__name__}."
        raise NotABackupError(msg) from None


def require_room(folder: Path, size: int) -> None:
    """Make sure that the disk of a folder has room for this many bytes, before they are written.

    Raises:
        PhotosvcError: there is not enough; the message says how much is needed.
    """
    free = shutil.disk_usage(folder).free
    if size + _SPARE > free:
        raise PhotosvcError(f"The backup needs {size >> 20} MiB in {folder}, which has {free >> 20} MiB free.")


class _BoundedFile(io.FileIO):
    """A file that refuses large reads and positions before its beginning, which a hostile archive may cause."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place in the file.

        Raises:
            BadZipFile: there is no such place.
        """
        try:
            return super().seek(offset, whence)
        except OSError:
            raise BadZipFile("it is cut off") from None

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes.

        Raises:
            BadZipFile: more than 4 MiB are requested.
        """
        bounded = size is not None and 0 <= size <= _MOST_READ
        data = super().read(size if bounded else _MOST_READ + 1) or b""
        if len(data) > _MOST_READ:
            raise BadZipFile("its table of contents is too long")
        return data


def _check_entry(entry: ZipInfo) -> None:
    """Make sure that an entry is a plain file."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    plain = kind in {0, stat.S_IFREG} and not entry.filename.endswith("/") and not entry.flag_bits & _ENCRYPTED
    if not plain or entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise NotABackupError("The backup contains an entry that is not a plain file.")
