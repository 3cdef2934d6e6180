"""The manifest of a backup: what it is, of which library, and the size and SHA-256 of each file in it."""

from typing import Annotated, Final, Literal

import msgspec

from photosvc.backup.contents import DATABASE, INSTANCE, MOST_FILES, is_instance_file
from photosvc.backup.errors import NotABackupError

#: The version of the format. A photosvc reads the versions up to its own.
VERSION: Final = 1
SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

_Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Line = Annotated[str, msgspec.Meta(max_length=1000)]


class Member(msgspec.Struct, frozen=True):
    """A file in the archive."""

    name: _Line
    size: _Size
    """Bytes."""
    sha256: _Digest


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup says about itself."""

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
    """The fingerprint of the service key that the database belongs to; empty if it belongs to none yet."""
    settings: dict[str, str] = {}
    """Settings that came from the environment or the app, which are in no file; no secrets."""
    members: Annotated[list[Member], msgspec.Meta(max_length=MOST_FILES + 10)]

    def sizes(self) -> int:
        """Bytes of all files in the archive."""
        return sum(member.size for member in self.members)

    def member(self, name: str) -> Member | None:
        """The file of this name, if the archive has it."""
        return next((member for member in self.members if member.name == name), None)

    def instance_files(self) -> list[str]:
        """The names, below the instance folder, of the files in the archive."""
        prefix = f"{INSTANCE}/"
        return [member.name.removeprefix(prefix) for member in self.members if member.name.startswith(prefix)]


def dump(manifest: Manifest) -> bytes:
    """The manifest as JSON for people and programs."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def load(data: bytes) -> Manifest:
    """The manifest in an archive, which may come from an attacker.

    Raises:
        NotABackupError: it is none, of a later version, or names files that no backup has.

    """
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        msg = f"The manifest of the backup is not valid: {error}."
        raise NotABackupError(msg) from None
    if manifest.version > VERSION:
        msg = f"The backup has format {manifest.version}, this photosvc reads {VERSION}: upgrade photosvc."
        raise NotABackupError(msg)
    names = [member.name for member in manifest.members]
    known = all(name == DATABASE or _is_instance_member(name) for name in names)
    if not known or len(set(names)) != len(names) or (DATABASE in names) != (manifest.database == SQLITE):
        msg = "The manifest of the backup names other files than backups have."
        raise NotABackupError(msg)
    return manifest


def _is_instance_member(name: str) -> bool:
    folder, _, rest = name.partition("/")
    return folder == INSTANCE and is_instance_file(rest)
