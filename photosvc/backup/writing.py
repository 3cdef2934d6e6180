"""The writer of a backup: a ZIP archive of the database, the keys and the configuration, with a manifest.

A PostgreSQL database is not part of the archive; PostgreSQL's own program writes it to a file beside the archive.
"""

import errno
import fcntl
import os
import secrets
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import Engine, func, select
from sqlalchemy.engine import URL, make_url

from photosvc import __version__
from photosvc.auth.service_key import stored_fingerprint
from photosvc.backup.archive import (
    DATABASE,
    INSTANCE,
    MANIFEST,
    MOST_BYTES,
    POSTGRESQL,
    SQLITE,
    ArchivedFile,
    Manifest,
    NothingToBackUpError,
    dump,
    instance_files,
)
from photosvc.backup.snapshot import DatabaseState, copy, snapshot, sqlite_state
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.files import flush_folder
from photosvc.models import Photo, User
from photosvc.models.schema import schema_version
from photosvc.settings import PREFIX, Settings, setting_fields

_PREFIX: Final = ".photosvc-backup-"
_LOCK: Final = "lock"
#: Seconds after which a folder without a lock counts as left over: a process locks its folder soon after making it.
_LOCKED_AFTER: Final = 600
#: Milliseconds that pg_dump waits for the lock of a table, which an upgrade of the schema holds.
_LOCK_WAIT: Final = 60_000
#: The fastest level: a database shrinks to a fifth, as fast as most disks write.
_LEVEL: Final = 1
_CHUNK: Final = 1 << 20


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Make an empty folder below `parent` that only its owner may enter, and remove it at the end of the block.

    Folders that killed processes left are removed as well.

    Raises:
        OSError: it cannot be made, or the block cannot write into it; the error names `parent`.
    """
    for leftover in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if not _is_used(leftover):
                shutil.rmtree(leftover)
    folder = parent / f"{_PREFIX}{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700)
        with (folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    except OSError as error:
        if error.filename is None or Path(error.filename).is_relative_to(folder):
            raise OSError(error.errno, error.strerror, str(parent)) from error
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_used(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _LOCK, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return SYSTEM_CLOCK().timestamp() - folder.stat().st_mtime < _LOCKED_AFTER
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def dump_of(archive: Path) -> Path:
    """Return the file beside an archive that has the database of a PostgreSQL server."""
    return archive.with_suffix(".dump")


def dump_postgres(url: URL, target: Path, *, verify: bool = False) -> None:
    """Write a PostgreSQL database to a file that only its owner may read, by pg_dump.

    Args:
        target: the file, which appears only when all of it is on the disk.
        verify: read the whole file again by pg_restore.

    Raises:
        ConflictError: there is a file of this name already.
        PhotosvcError: a program is missing or has failed; its own sentence is part of the message.
        OSError: the disk is full or failed.
    """
    if os.path.lexists(target):
        raise _exists(target)
    environ = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    with workspace(target.parent) as folder:
        part = folder / "dump"
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        options = [f"--lock-wait-timeout={_LOCK_WAIT}", f"--file={part}", f"--dbname={_address(url)}"]
        _run(["pg_dump", "--format=custom", "--no-owner", "--no-password", *options], environ)
        if verify:
            _run(["pg_restore", f"--file={os.devnull}", str(part)], environ)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        _put_in_place(part, target)


def _run(command: list[str], environ: dict[str, str]) -> None:
    try:
        done = subprocess.run(command, env=environ, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603 - own arguments
    except FileNotFoundError:
        msg = (
            f"{command[0]} is not installed: install the client programs of PostgreSQL, or back the database up by "
            "other means and give --without-database."
        )
        raise PhotosvcError(msg) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise PhotosvcError(f"{command[0]} failed: {said[0] if said else f'exit code {done.returncode}'}")


def restore_command(url: URL, dump: Path) -> str:
    """Return the command that fills an empty database from a dump, without its password."""
    options = "--no-owner --exit-on-error --single-transaction"
    return f"pg_restore {options} --dbname={shlex.quote(_address(url))} {shlex.quote(str(dump))}"


def postgres_state(engine: Engine) -> DatabaseState:
    """Return the state of a PostgreSQL database.

    Raises:
        NothingToBackUpError: it has no photosvc tables.
    """
    with engine.connect() as connection:
        schema = schema_version(connection)
        if schema is None:
            raise NothingToBackUpError("The database has no photosvc tables yet.")
        photos, accounts = (connection.scalar(select(func.count()).select_from(model)) or 0 for model in (Photo, User))
        return DatabaseState(schema, photos, accounts, stored_fingerprint(connection))


def _address(url: URL) -> str:
    # libpq knows no names of drivers. `URL.set` cannot remove a password: None leaves it unchanged.
    open_url = url.difference_update_query(["password"])._replace(drivername="postgresql", password=None)
    return open_url.render_as_string(hide_password=False)


@dataclass(frozen=True, slots=True)
class BackupSource:
    """The library to back up."""

    settings: Settings
    instance: Path
    database: Path | None
    """The file of SQLite; None on PostgreSQL, whose database is not in the archive."""
    state: Callable[[], DatabaseState]
    """A function that returns the state of a PostgreSQL database."""


def archive_name(now: datetime) -> str:
    """Return the name of an archive in a folder of archives, which sorts by time."""
    return f"photosvc-{now:%Y%m%d-%H%M%S}.zip"


def write_backup(source: BackupSource, target: Path, now: datetime) -> Manifest:
    """Write the archive, which only its owner may read, and return its manifest.

    The target appears only when all of it is on the disk.

    Raises:
        ConflictError: there is a file of this name already.
        NothingToBackUpError: there is no database with photosvc tables, or only an unfinished copy of one.
        OSError: the disk is full or failed.
    """
    if os.path.lexists(target):
        raise _exists(target)
    with workspace(target.parent) as folder:
        copied = None if source.database is None else folder / DATABASE
        state, files = _read_together(source, copied)
        part = folder / "archive"
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b") as file:
            manifest = _write(file, source, state, files, copied, now)
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(part, target)
    return manifest


def _read_together(source: BackupSource, copied: Path | None) -> tuple[DatabaseState, dict[str, bytes]]:
    """Copy the database, and return its state and the files of the instance folder with the key of the database.

    The files are read last: a replacement of the key writes its file before it changes the database.
    """
    with nullcontext() if source.database is None else snapshot(source.database) as connection:
        state = source.state() if connection is None else sqlite_state(connection)
        if connection is not None and copied is not None:
            copy(connection, copied)
    return state, {name: _read_small(source.instance / name) for name in instance_files(source.instance)}


def _write(
    file: BinaryIO,
    source: BackupSource,
    state: DatabaseState,
    files: dict[str, bytes],
    database: Path | None,
    now: datetime,
) -> Manifest:
    archive = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=_LEVEL)
    try:
        members = [_add(archive, f"{INSTANCE}/{name}", data, now) for name, data in files.items()]
        if database is not None:
            members.append(_add_file(archive, DATABASE, database, now))
            database.unlink()
        manifest = Manifest(
            photosvc=__version__,
            created_at=f"{now:%Y-%m-%dT%H:%M:%SZ}",
            database=POSTGRESQL if database is None else SQLITE,
            schema=state.schema,
            photos=state.photos,
            accounts=state.accounts,
            key="" if state.fingerprint is None else f"{state.fingerprint:016x}",
            place=_place(source),
            settings=_outer_settings(source.settings),
            members=members,
        )
        _add(archive, MANIFEST, dump(manifest), now)
        archive.close()
    except BaseException:
        archive.fp = None  # otherwise its finaliser would complete the file
        raise
    return manifest


def _add(archive: ZipFile, name: str, data: bytes, now: datetime) -> ArchivedFile:
    archive.writestr(_entry(name, now), data, ZIP_DEFLATED, _LEVEL)
    return ArchivedFile(name, len(data), sha256(data).hexdigest())


def _add_file(archive: ZipFile, name: str, path: Path, now: datetime) -> ArchivedFile:
    digest, size = sha256(), 0
    with path.open("rb") as source, archive.open(_entry(name, now), "w", force_zip64=True) as target:
        while data := source.read(_CHUNK):
            target.write(data)
            digest.update(data)
            size += len(data)
    return ArchivedFile(name, size, digest.hexdigest())


def _entry(name: str, now: datetime) -> ZipInfo:
    entry = ZipInfo(name, (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second))
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]  # noqa: SLF001 - public from Python 3.13 on
    return entry


def _place(source: BackupSource) -> str:
    if source.database is None:
        return _address(make_url(source.settings.database_uri))
    instance = source.instance.absolute()
    inside = source.database.is_relative_to(instance)
    return str(source.database.relative_to(instance) if inside else source.database)


def _outer_settings(settings: Settings) -> dict[str, str]:
    fields = setting_fields()
    return {
        PREFIX + name.upper(): str(getattr(settings, name))
        for name, origin in settings.origins.items()
        if origin in {"environment", "app"} and not fields[name]["secret"]
    }


def _read_small(path: Path) -> bytes:
    """Return the content of a file of the instance folder."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NothingToBackUpError(f"{path} is larger than 1 MiB and cannot be backed up; move it away.")
    return data


def _put_in_place(part: Path, target: Path) -> None:
    """Give the archive its name in one step, without ever replacing another file."""
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


def _exists(target: Path) -> ConflictError:
    return ConflictError(f"{target} exists already; give another name.")
