"""Restores a backup: checks all of it first, then puts it in place, and moves aside what was there."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from sqlalchemy.engine import make_url

from photosvc.auth.service_key import fingerprint
from photosvc.backup import moves
from photosvc.backup.contents import DATABASE, FILES, FOLDERS, INSTANCE
from photosvc.backup.errors import DatabaseInUseError, LibraryExistsError, OtherDatabaseError
from photosvc.backup.manifest import SQLITE, Manifest, dump
from photosvc.backup.moves import Move, Plan
from photosvc.backup.reading import Archive, open_backup, require_room
from photosvc.core.locks.lock import exclusive_lock
from photosvc.settings import Settings, load_settings

#: Files of SQLite beside a database.
_BESIDE: Final = ("-wal", "-shm", "-journal")
#: The bytes of an SQLite file that its readers and writers lock (https://www.sqlite.org/fileformat2.html#lockbyte).
_LOCK_BYTES, _LOCKED = 0x40000000, 512
_STAGED_DATABASE: Final = ".photosvc-restore.db"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    manifest: Manifest
    settings: Settings
    """Those of the restored library."""
    aside: list[Path]
    """Folders in which the former files are."""
    key_fits: bool
    """Whether the service key is that of the database."""


def restore(
    archive: Path,
    instance: Path,
    environ: Mapping[str, str],
    now: datetime,
    *,
    replace: bool,
    progress: Callable[[], None] = lambda: None,
) -> Restored:
    """Restore a backup into an instance folder.

    A process that is killed leaves the library as it was, or a list of moves: the next call makes these first.

    Args:
        archive: the backup.
        instance: the instance folder.
        environ: source of the settings that are in no file.
        now: the time.
        replace: whether a library that is there makes way; its files are kept aside.
        progress: called from time to time.

    Raises:
        NotABackupError: the archive is none, or damaged; nothing has changed, as for all other errors.
        LibraryExistsError: there is a library, and `replace` is not set.
        DatabaseInUseError: a process has its database open.
        OtherDatabaseError: the settings name another kind of database.
        NoRoomError: a disk has no room.

    """
    instance.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = exclusive_lock(instance / "restore.lock", "another process restores into this folder already")
    with lock, open_backup(archive) as opened:
        begun, identity = moves.unfinished(instance), _identity(opened.manifest)
        if begun is not None:
            moves.finish(instance, begun)
        if begun is None or begun.archive != identity:
            begun = _restore(opened, instance, environ, now, replace=replace, progress=progress)
        settings = load_settings(instance, environ=environ)
        key = f"{fingerprint(settings.secret_key):016x}"
        aside = sorted({Path(move.aside).parent for move in begun.moves if os.path.lexists(move.aside)})
        return Restored(opened.manifest, settings, aside, opened.manifest.key in {"", key})


def check(archive: Path, folder: Path, *, progress: Callable[[], None] = lambda: None) -> Manifest:
    """Read a whole backup and check its database; gives its manifest.

    Args:
        archive: the backup.
        folder: an empty folder for the database.
        progress: called from time to time.

    Raises:
        NotABackupError: it is none, or damaged.
        NoRoomError: the disk of the folder has no room.

    """
    with open_backup(archive) as opened:
        require_room(folder, opened.manifest.sizes())
        (folder / INSTANCE).mkdir(mode=0o700)
        opened.extract_instance(folder / INSTANCE)
        opened.extract_database(folder / DATABASE, thoroughly=True, progress=progress)
        return opened.manifest


def _restore(
    opened: Archive,
    instance: Path,
    environ: Mapping[str, str],
    now: datetime,
    *,
    replace: bool,
    progress: Callable[[], None],
) -> Plan:
    staged: list[Path] = []
    try:
        return _stage_and_move(opened, instance, environ, now, staged, replace=replace, progress=progress)
    except BaseException:
        if moves.unfinished(instance) is None:
            for path in staged:
                path.unlink(missing_ok=True)
            moves.discard(instance)
        raise


def _stage_and_move(
    opened: Archive,
    instance: Path,
    environ: Mapping[str, str],
    now: datetime,
    staged: list[Path],
    *,
    replace: bool,
    progress: Callable[[], None],
) -> Plan:
    """As `restore`; what is written outside of the staging folder is added to `staged`."""
    manifest = opened.manifest
    waiting = moves.staging(instance) / INSTANCE
    waiting.mkdir(mode=0o700)
    opened.extract_instance(waiting)
    target = _database_of(waiting, instance, environ, manifest)
    database = None if target is None else target.with_name(_STAGED_DATABASE)
    plan = Plan(_identity(manifest), [*_moves(waiting, instance, target, database, now)])
    present = [move.target for move in plan.moves if os.path.lexists(move.target)]
    if present and not replace:
        msg = f"There is a library already ({', '.join(present)}); --replace moves it aside."
        raise LibraryExistsError(msg)
    with _unused(target):
        pass  # rather now than after minutes of copying
    if database is not None:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        database.unlink(missing_ok=True)
        require_room(database.parent, manifest.sizes())
        staged.append(database)
        opened.extract_database(database, thoroughly=False, progress=progress)
    _give_to_owner(instance, [*waiting.rglob("*"), *staged])
    with _unused(target):
        moves.commit(instance, plan)
        moves.finish(instance, plan)
    return plan


def _moves(waiting: Path, instance: Path, target: Path | None, staged: Path | None, now: datetime) -> Iterator[Move]:
    """What takes the place of what; the database comes last, so that a key that it needs is there."""
    name = f"before-restore-{now:%Y%m%d-%H%M%S}"
    for item in (*FILES, *FOLDERS):
        present = waiting / item
        yield Move(str(instance / item), str(present) if present.exists() else "", str(instance / name / item))
    if target is not None:
        for end in _BESIDE:
            beside = Path(f"{target}{end}")
            yield Move(str(beside), "", str(target.parent / name / beside.name))
        yield Move(str(target), str(staged), str(target.parent / name / target.name))


def _database_of(waiting: Path, instance: Path, environ: Mapping[str, str], manifest: Manifest) -> Path | None:
    """Where the settings of the backup, with those of this machine, have the database; None on PostgreSQL.

    Raises:
        SettingError: a setting is not valid.
        OtherDatabaseError: it is not of the kind that the backup is of.

    """
    has_key = (waiting / "secret_key").exists()
    settings = load_settings(waiting, environ=environ)
    if not has_key:
        (waiting / "secret_key").unlink(missing_ok=True)  # made just now, and not the one of the database
    url = make_url(settings.database_uri)
    if (url.get_backend_name() == "sqlite") != (manifest.database == SQLITE):
        msg = f"The backup is of {manifest.database}, and PHOTOSVC_DATABASE_URI names another kind of database."
        raise OtherDatabaseError(msg)
    if manifest.database != SQLITE:
        return None
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        msg = "PHOTOSVC_DATABASE_URI names no file that a database can be restored to."
        raise OtherDatabaseError(msg)
    path = Path(url.database).absolute()
    return instance / path.relative_to(waiting) if path.is_relative_to(waiting) else path


@contextmanager
def _unused(database: Path | None) -> Iterator[None]:
    """Let no process open the present database inside the block.

    The lock is on the file itself, as SQLite locks it, because a database to be replaced may be too damaged to open.

    Raises:
        DatabaseInUseError: one has it open.

    """
    try:
        file = None if database is None else os.open(database, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        file = None
    if file is None:
        yield
        return
    try:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED, _LOCK_BYTES)
        except OSError:
            raise DatabaseInUseError from None
        yield
    finally:
        os.close(file)


def _give_to_owner(instance: Path, paths: list[Path]) -> None:
    """Where the administrator of the machine restores, give the files to the account that has the folder."""
    if os.geteuid() == 0:
        owner = instance.stat()
        for path in paths:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _identity(manifest: Manifest) -> str:
    return sha256(dump(manifest)).hexdigest()
