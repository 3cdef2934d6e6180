"""The format of a backup: its manifest, the names in the archive, and errors of making and restoring it.

The manifest describes the library, and has size and SHA-256 of each file in the archive.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

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


class Member(msgspec.Struct, frozen=True):
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
    """The file of the SQLite database, relative to the instance folder if it is in there; empty is the default. The
    address of a PostgreSQL database, without its password."""
    settings: dict[str, str] = {}
    """Settings that came from the environment or the app and are in no file, without secrets."""
    members: Annotated[list[Member], msgspec.Meta(max_length=MOST_FILES + 10)]

    def sizes(self) -> int:
        """Return the bytes of all files in the archive."""
        return sum(member.size for member in self.members)

    @property
    def database_file(self) -> str | None:
        """Return the file of the SQLite database below the instance folder; None if it was elsewhere."""
        place = self.place or "photosvc.db"
        return place if _PLACE.match(place) and not is_instance_file(place) else None

    def member(self, name: str) -> Member | None:
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
