"""Writes a backup: a ZIP archive of the database, the keys and the configuration, with a manifest."""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from photosvc import __version__
from photosvc.auth.service_key import fingerprint
from photosvc.backup.contents import DATABASE, INSTANCE, MANIFEST, MOST_BYTES, instance_files
from photosvc.backup.errors import NothingToBackUpError, TargetExistsError
from photosvc.backup.manifest import POSTGRESQL, SQLITE, Manifest, Member, dump
from photosvc.backup.snapshot import State, copy, snapshot, state_of
from photosvc.backup.workspace import workspace
from photosvc.core.folders.flushed import flush_folder
from photosvc.settings import PREFIX, Settings, setting_fields

#: The fastest level: a library shrinks to a fifth, as fast as most disks take it.
_LEVEL: Final = 1
_CHUNK: Final = 1 << 20
#: How often database and keys are read until they fit, and seconds between.
_TRIES, _PAUSE = 3, 0.1


@dataclass(frozen=True, slots=True)
class Source:
    """What is backed up."""

    settings: Settings
    instance: Path
    database: Path | None
    """The file of SQLite; None on PostgreSQL, whose database is not in the archive."""
    state: Callable[[], State]
    """What the database says about itself, where it is no file."""


def archive_name(now: datetime) -> str:
    """The name of an archive in a folder of archives: their order is that of their times."""
    return f"photosvc-{now:%Y%m%d-%H%M%S}.zip"


def write_backup(
    source: Source, target: Path, now: datetime, *, progress: Callable[[], None] = lambda: None
) -> Manifest:
    """Write the archive, which only its owner may read; gives its manifest.

    The target is there once all of it is on the disk, or not at all.

    Args:
        source: what to back up.
        target: the archive.
        now: the time.
        progress: called from time to time.

    Raises:
        TargetExistsError: there is a file of this name.
        NothingToBackUpError: there is no database with photosvc tables.
        OSError: the disk is full or failed.

    """
    if os.path.lexists(target):
        raise _exists(target)
    with workspace(target.parent) as folder:
        copied = None if source.database is None else folder / DATABASE
        state, files = _read_together(source, copied, progress)
        part = folder / "archive"
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b") as file:
            manifest = _write(file, source, state, files, copied, now, progress)
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(part, target)
    return manifest


def _read_together(source: Source, copied: Path | None, progress: Callable[[], None]) -> tuple[State, dict[str, bytes]]:
    """The state of the database, which is copied, and the files of the instance folder with the key that it belongs to.

    A replacement of the key renames a file after it has changed the database: what was read may be of before and after.
    """
    for attempt in range(_TRIES):
        with nullcontext() if source.database is None else snapshot(source.database) as connection:
            state = source.state() if connection is None else state_of(connection)
            files = {name: _small(source.instance / name) for name in instance_files(source.instance)}
            if attempt == _TRIES - 1 or _has_key(source.settings, files, state.fingerprint):
                if connection is not None and copied is not None:
                    copy(connection, copied, progress=progress)
                break
        sleep(_PAUSE)
    return state, files


def _has_key(settings: Settings, files: dict[str, bytes], wanted: int | None) -> bool:
    """Whether the database belongs to a key that is backed up, or to one that is a setting."""
    given = [settings.secret_key] if settings.key_file is None else []
    kept = [data.decode(errors="replace").strip() for name, data in files.items() if name.startswith("secret_key")]
    return wanted is None or wanted in map(fingerprint, given + kept)


def _write(
    file: BinaryIO,
    source: Source,
    state: State,
    files: dict[str, bytes],
    database: Path | None,
    now: datetime,
    progress: Callable[[], None],
) -> Manifest:
    archive = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=_LEVEL)
    try:
        members = [_add(archive, f"{INSTANCE}/{name}", data, now) for name, data in files.items()]
        if database is not None:
            members.append(_add_file(archive, DATABASE, database, now, progress))
            database.unlink()
        manifest = Manifest(
            photosvc=__version__,
            created_at=f"{now:%Y-%m-%dT%H:%M:%SZ}",
            database=POSTGRESQL if database is None else SQLITE,
            schema=state.schema,
            photos=state.photos,
            accounts=state.accounts,
            key="" if state.fingerprint is None else f"{state.fingerprint:016x}",
            settings=_outer_settings(source.settings),
            members=members,
        )
        _add(archive, MANIFEST, dump(manifest), now)
        archive.close()
    except BaseException:
        archive.fp = None  # it would write its end into the file when it is dropped
        raise
    return manifest


def _add(archive: ZipFile, name: str, data: bytes, now: datetime) -> Member:
    archive.writestr(_entry(name, now), data, ZIP_DEFLATED, _LEVEL)
    return Member(name, len(data), sha256(data).hexdigest())


def _add_file(archive: ZipFile, name: str, path: Path, now: datetime, progress: Callable[[], None]) -> Member:
    digest, size = sha256(), 0
    with path.open("rb") as source, archive.open(_entry(name, now), "w", force_zip64=True) as target:
        while data := source.read(_CHUNK):
            target.write(data)
            digest.update(data)
            size += len(data)
            progress()
    return Member(name, size, digest.hexdigest())


def _entry(name: str, now: datetime) -> ZipInfo:
    entry = ZipInfo(name, (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second))
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]  # noqa: SLF001 - public from Python 3.13 on
    return entry


def _outer_settings(settings: Settings) -> dict[str, str]:
    fields = setting_fields()
    return {
        PREFIX + name.upper(): str(getattr(settings, name))
        for name, origin in settings.origins.items()
        if origin in {"environment", "app"} and not fields[name]["secret"]
    }


def _small(path: Path) -> bytes:
    """The content of a file of the instance folder.

    Raises:
        NothingToBackUpError: it is too large for one.

    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        msg = f"{path} is larger than 1 MiB and cannot be backed up; move it away."
        raise NothingToBackUpError(msg)
    return data


def _put_in_place(part: Path, target: Path) -> None:
    """Give the archive its name, in one step and never that of another file."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}:
            raise
        if os.path.lexists(target):  # a file system without hard links
            raise _exists(target) from None
        part.rename(target)
    flush_folder(target.parent)


def _exists(target: Path) -> TargetExistsError:
    return TargetExistsError(f"{target} exists already; give another name.")
