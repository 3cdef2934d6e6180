"""The archive of a backup: its format, and its safe reader.

The manifest describes the library, and has size and SHA-256 of each file in the archive. An archive may come from an
attacker: the reader accepts only names and sizes of the manifest, and no links.
"""

import io
import os
import re
import shutil
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec
from sqlalchemy.engine import URL

from photosvc.core.errors import InvalidValueError, PhotosvcError

#: The names of the manifest and of the database in the archive.
MANIFEST: Final = "manifest.json"
DATABASE: Final = "database.sqlite"
#: The folder of the archive that contains files of the instance folder.
INSTANCE: Final = "instance"
#: Files of the instance folder: settings, the folder of originals that `svc run` remembers, and the service key.
FILES: Final = ("config.py", "photos_folder", "secret_key")
#: The folder of the operator's own pages.
TEMPLATES: Final = "templates"
#: The folders of the instance folder whose files are backed up.
FOLDERS: Final = (TEMPLATES,)
#: Most bytes of a file of the instance folder, and of the manifest.
MOST_BYTES: Final = 1 << 20
#: Most files of an archive.
MOST_FILES: Final = 1000
_PLACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,5}\Z")
_TEMPLATE = re.compile(rf"{TEMPLATES}(/[A-Za-z0-9_][A-Za-z0-9_.-]{{0,99}}){{1,5}}\Z")
#: The version of the format. A photosvc reads the versions up to its own.
VERSION: Final = 1
SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
#: Most bytes that are read from the archive at once: its table of contents, which is read whole, must fit.
_MOST_READ: Final = 4 << 20
_CHUNK: Final = 1 << 20
_ENCRYPTED: Final = 0x1
#: Bytes that stay free on the disk.
_SPARE: Final = 16 << 20
#: Exceptions of the readers of ZIP, deflate and JSON for malformed content; RecursionError is that of nested JSON.
_BROKEN: Final = (
    *(BadZipFile, zlib.error, EOFError, NotImplementedError, RecursionError),
    *(ValueError, OverflowError, LookupError, struct.error),
)
_Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Line = Annotated[str, msgspec.Meta(max_length=1000)]


class NotABackupError(InvalidValueError):
    """The file is not a complete backup of photosvc."""

    exit_code = 1


class NothingToBackUpError(PhotosvcError):
    """There is no library to back up."""


def instance_files(instance: Path) -> Iterator[str]:
    """Yield the names, below the instance folder, of the existing files to back up."""
    yield from (name for name in FILES if (instance / name).is_file())
    for folder in FOLDERS:
        for path in sorted((instance / folder).rglob("*")):
            name = path.relative_to(instance).as_posix()
            if is_instance_file(name) and path.is_file():
                yield name


def sqlite_file(url: URL) -> Path | None:
    """Return the file of an SQLite database by its address; None if it has none, as one in memory."""
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        return None
    return Path(url.database).absolute()


def is_instance_file(name: str) -> bool:
    """Return whether a backup may have a file of this name below the instance folder."""
    return name in FILES or bool(_TEMPLATE.match(name))


class ArchivedFile(msgspec.Struct, frozen=True):
    """A file in the archive."""

    name: _Line
    size: _Size
    """Bytes."""
    sha256: _Digest


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a backup that is stored in it."""

    format: Literal["photosvc backup"] = "photosvc backup"
    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION
    photosvc: _Line
    """The version of the program that made it."""
    created_at: _Line
    database: Literal["sqlite", "postgresql"]
    schema: Annotated[str, msgspec.Meta(pattern="^[0-9]{4}$")]
    photos: _Size
    accounts: _Size
    key: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{16})?$")] = ""
    """The fingerprint of the service key of the database; empty if it has none yet."""
    place: _Line = ""
    """The file of the SQLite database, relative to the instance folder if it lies inside; empty for the default file.

    For PostgreSQL, the address of the database without its password.
    """
    settings: dict[str, str] = {}
    """Settings from the environment or the app, which no file holds; without secrets."""
    members: Annotated[list[ArchivedFile], msgspec.Meta(max_length=MOST_FILES + 10)]

    def total_size(self) -> int:
        """Return the size of all files in the archive, in bytes."""
        return sum(member.size for member in self.members)

    @property
    def database_file(self) -> str | None:
        """Return the file of the SQLite database below the instance folder; None if it was elsewhere."""
        place = self.place or "photosvc.db"
        return place if _PLACE.match(place) and not is_instance_file(place) else None

    def member(self, name: str) -> ArchivedFile | None:
        """Return the file of this name, or None when the archive does not have it."""
        return next((member for member in self.members if member.name == name), None)

    def instance_files(self) -> list[str]:
        """Return the names, below the instance folder, of the files in the archive."""
        prefix = f"{INSTANCE}/"
        return [member.name.removeprefix(prefix) for member in self.members if member.name.startswith(prefix)]


def dump(manifest: Manifest) -> bytes:
    """Return the manifest as JSON for people and programs."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def load(data: bytes) -> Manifest:
    """Read and check the manifest of an archive, which may come from an attacker.

    Raises:
        NotABackupError: it is not valid, of a later version, or names files that no backup has.
    """
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise NotABackupError(f"The manifest of the backup is not valid: {error}.") from None
    if manifest.version > VERSION:
        msg = f"The backup has format {manifest.version}, this photosvc reads {VERSION}: upgrade photosvc."
        raise NotABackupError(msg)
    names = [member.name for member in manifest.members]
    known = all(name == DATABASE or _is_instance_member(name) for name in names)
    if not known or len(set(names)) != len(names) or (DATABASE in names) != (manifest.database == SQLITE):
        raise NotABackupError("The manifest of the backup names other files than backups have.")
    return manifest


def _is_instance_member(name: str) -> bool:
    folder, _, rest = name.partition("/")
    return folder == INSTANCE and is_instance_file(rest)


class Archive:
    """An open backup whose manifest is valid and names all its files."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        entries = {entry.filename: entry for entry in archive.infolist()}
        if len(entries) != len(archive.infolist()) or len(entries) > MOST_FILES + 20:
            raise NotABackupError("The backup has duplicate names, or too many.")
        for present in entries.values():
            _check_entry(present)
        head = entries.get(MANIFEST)
        if head is None or head.file_size > MOST_BYTES:
            raise NotABackupError("The file is no backup of photosvc: it has no manifest.")
        self.manifest: Manifest = load(archive.read(head))
        for member in self.manifest.members:
            entry = entries.get(member.name)
            too_large = member.name != DATABASE and member.size > MOST_BYTES
            if entry is None or entry.file_size != member.size or too_large:
                raise NotABackupError(f"The backup differs from its manifest: {member.name}.")
        if entries.keys() != {MANIFEST, *(member.name for member in self.manifest.members)}:
            raise NotABackupError("The backup has files that its manifest does not name.")

    def extract(self, member: ArchivedFile, target: Path) -> None:
        """Write a file of the archive to a new file, which only its owner may read.

        Raises:
            NotABackupError: its content contradicts the manifest.
            OSError: the disk is full or failed.
        """
        digest, size = sha256(), 0
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file, _broken_as_no_backup(), self._archive.open(member.name) as source:
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


@contextmanager
def open_backup(path: Path) -> Iterator[Archive]:
    """Open the backup in a file.

    Raises:
        NotABackupError: it is not a backup, or damaged.
        OSError: it cannot be read.
    """
    with _BoundedFile(path) as file:
        with _broken_as_no_backup():
            archive = Archive(ZipFile(file))
        yield archive


@contextmanager
def _broken_as_no_backup() -> Iterator[None]:
    """Turn every exception about defects of an archive into `NotABackupError`."""
    try:
        yield
    except _BROKEN as error:
        msg = f"The file is not a complete backup of photosvc: {str(error) or type(error).__name__}."
        raise NotABackupError(msg) from None


def require_room(folder: Path, size: int) -> None:
    """Check, before writing, that the disk of a folder has room for `size` bytes.

    Raises:
        PhotosvcError: it has not; the message says how much is needed.
    """
    free = shutil.disk_usage(folder).free
    if size + _SPARE > free:
        raise PhotosvcError(f"The backup needs {size >> 20} MiB in {folder}, which has {free >> 20} MiB free.")


class _BoundedFile(io.FileIO):
    """A file that refuses large reads and positions before its beginning, which a hostile archive may cause."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a position in the file.

        Raises:
            BadZipFile: there is no such position.
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
    """Raise `NotABackupError` unless an entry is a plain file."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    plain = kind in {0, stat.S_IFREG} and not entry.filename.endswith("/") and not entry.flag_bits & _ENCRYPTED
    if not plain or entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise NotABackupError("The backup contains an entry that is not a plain file.")
