"""The restoration of a backup: all of it is checked first, then it replaces the former files, which are moved aside.

All files are replaced or none, whenever the process is killed. The new files wait in a staging folder of the instance
folder. Once the list of moves is on the disk there, the moves will be made: by this process, or by the next one that
restores. Each move is a rename within one file system and can be repeated. Until they are made, no service starts
(`instance.require_finished`).
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy.engine import make_url

from photosvc.auth.service_key import fingerprint
from photosvc.backup import snapshot
from photosvc.backup.archive import (
    DATABASE,
    FILES,
    FOLDERS,
    INSTANCE,
    SQLITE,
    Archive,
    Manifest,
    NotABackupError,
    dump,
    open_backup,
    require_room,
    sqlite_file,
)
from photosvc.core.errors import ConflictError, SettingError
from photosvc.core.files import flush_folder
from photosvc.core.locks import exclusive_lock
from photosvc.settings import Settings, load_settings
from photosvc.settings.instance import list_of_moves, staging_folder

_KEY: Final = "PHOTOSVC_SECRET_KEY"
#: Files of SQLite beside a database.
_BESIDE: Final = ("-wal", "-shm", "-journal")
#: The bytes of an SQLite file that its readers and writers lock (https://www.sqlite.org/fileformat2.html#lockbyte).
_LOCK_BYTES, _LOCKED = 0x40000000, 512


class Move(msgspec.Struct, frozen=True):
    """The replacement of one file or folder."""

    target: str
    """The path that is replaced."""
    waiting: str = ""
    """The path of the new file; empty if the target is only moved aside."""
    aside: str = ""
    """The path to which the current file at `target` is moved."""


class MovePlan(msgspec.Struct, frozen=True):
    """All moves, in their order."""

    archive: str
    """The identity of the archive: the SHA-256 of its manifest."""
    moves: list[Move]


def staging(instance: Path) -> Path:
    """Make an empty staging folder, in which new files wait; files that an earlier process left there are removed.

    Raises:
        OSError: it cannot be made.
    """
    discard(instance)
    folder = staging_folder(instance)
    folder.mkdir(mode=0o700)
    return folder


def discard(instance: Path) -> None:
    """Remove the staging folder."""
    shutil.rmtree(staging_folder(instance), ignore_errors=True)


def unfinished(instance: Path) -> MovePlan | None:
    """Return the moves that a killed process did not finish; None if there are none."""
    try:
        return msgspec.json.decode(list_of_moves(instance).read_bytes(), type=MovePlan)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise SettingError(f"{list_of_moves(instance)} cannot be read: {error}") from None


def commit(instance: Path, plan: MovePlan) -> None:
    """Write the list of moves to the disk; from then on they will be made, even if this process is killed.

    Raises:
        OSError: it cannot be written; nothing has happened yet.
    """
    folder, moves = staging_folder(instance), list_of_moves(instance)
    new = moves.with_suffix(".json.new")
    with new.open("wb") as file:
        file.write(msgspec.json.encode(plan))
        file.flush()
        os.fsync(file.fileno())
    for path in {folder, *(Path(move.waiting).parent for move in plan.moves if move.waiting)}:
        flush_folder(path)
    new.rename(moves)
    flush_folder(folder)


def finish(instance: Path, plan: MovePlan) -> None:
    """Make the moves that are not made yet.

    Raises:
        OSError: a file, such as a mounted one, cannot be renamed; the moves made so far are undone.
    """
    try:
        _make_moves(plan)
    except OSError:
        _undo(plan)
        _forget_plan(instance, plan)
        for move in plan.moves:
            if move.waiting:
                with suppress(OSError):
                    Path(move.waiting).unlink()
        raise
    _forget_plan(instance, plan)


def _make_moves(plan: MovePlan) -> None:
    for move in plan.moves:
        target = Path(move.target)
        due = os.path.lexists(move.waiting) if move.waiting else not os.path.lexists(move.aside)
        if due and os.path.lexists(target):
            aside = _unused_path(Path(move.aside))
            aside.parent.mkdir(mode=0o700, exist_ok=True)
            target.rename(aside)
        if due and move.waiting:
            Path(move.waiting).rename(target)


def _undo(plan: MovePlan) -> None:
    """Undo the moves made so far, the last one first: a process that is killed here leaves the first ones made."""
    for move in reversed(plan.moves):
        target, aside = Path(move.target), Path(move.aside)
        if move.waiting and not os.path.lexists(move.waiting) and os.path.lexists(target):
            target.rename(move.waiting)
        if os.path.lexists(aside) and not os.path.lexists(target):
            aside.rename(target)
    for folder in {Path(move.aside).parent for move in plan.moves}:
        with suppress(OSError):
            folder.rmdir()


def _forget_plan(instance: Path, plan: MovePlan) -> None:
    """Delete the list of moves and the staging folder once the moves are on the disk."""
    for folder in {Path(move.target).parent for move in plan.moves}:
        with suppress(FileNotFoundError):
            flush_folder(folder)
    shutil.rmtree(staging_folder(instance) / "instance", ignore_errors=True)
    list_of_moves(instance).unlink()
    discard(instance)


def _unused_path(path: Path) -> Path:
    """Return the path, or the first unused one with a number after it."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(path for path in chain([path], numbered) if not os.path.lexists(path))


_STAGED_DATABASE: Final = ".photosvc-restore.db"


@dataclass(frozen=True, slots=True)
class RestoredLibrary:
    """The result of a restore."""

    manifest: Manifest
    settings: Settings
    """Settings of the environment, and defaults: the restored configuration, which is a program, has not run."""
    address: str
    """The address of the PostgreSQL database; empty if the database is an SQLite file."""
    aside: list[Path]
    """Folders that hold the former files."""
    key_fits: bool
    """True if the service key belongs to the database."""


def restore(
    archive: Path, instance: Path, environ: Mapping[str, str], now: datetime, *, replace: bool
) -> RestoredLibrary:
    """Restore a backup into an instance folder.

    A process that is killed leaves the library unchanged or a list of moves, which the next call makes first.

    The configuration in the archive does not run: it may come from an attacker, or not fit this machine.

    Args:
        environ: source of the settings that are in no file.
        replace: replace an existing library; its files are kept aside.

    Raises:
        NotABackupError: the archive is not a backup, or damaged; as after all other errors, nothing has changed.
        ConflictError: there is a library and `replace` is not set, a process has its database open, or the environment
            names another kind of database, or must name the file of the database.
        PhotosvcError: a disk has no room.
    """
    instance.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = exclusive_lock(instance / "restore.lock", "another process restores into this folder already")
    with lock, open_backup(archive) as opened:
        settings = _settings(instance, environ)
        begun, identity = unfinished(instance), _identity(opened.manifest)
        if begun is not None:
            finish(instance, begun)
        if begun is None or begun.archive != identity:
            with _staged_files(instance) as staged:
                begun = _restore(opened, instance, settings, now, staged, replace=replace)
        address = ""
        if opened.manifest.database != SQLITE:
            address = settings.database_uri if _names_database(settings) else opened.manifest.place
        aside = sorted({Path(move.aside).parent for move in begun.moves if os.path.lexists(move.aside)})
        return RestoredLibrary(opened.manifest, settings, address, aside, _key_fits(instance, environ, opened.manifest))


def check(archive: Path, folder: Path) -> Manifest:
    """Read a whole backup, check its database and return its manifest.

    Args:
        folder: an empty folder for the database.

    Raises:
        NotABackupError: it is not a backup, or damaged.
        PhotosvcError: the disk of the folder has no room.
    """
    with open_backup(archive) as opened:
        require_room(folder, opened.manifest.total_size())
        (folder / INSTANCE).mkdir(mode=0o700)
        opened.extract_instance(folder / INSTANCE)
        _extract_database(opened, folder / DATABASE, thoroughly=True)
        return opened.manifest


def _extract_database(opened: Archive, target: Path, *, thoroughly: bool) -> None:
    """Write the database to a new file and check it; do nothing if the archive has none.

    Raises:
        NotABackupError: it is damaged, or contradicts the manifest.
        OSError: the disk has no room for it, or failed.
    """
    member = opened.manifest.member(DATABASE)
    if member is None:
        return
    opened.extract(member, target)
    state = snapshot.check(target, thoroughly=thoroughly)
    key = "" if state.fingerprint is None else f"{state.fingerprint:016x}"
    if (state.schema, key) != (opened.manifest.schema, opened.manifest.key):
        raise NotABackupError("The database in the backup is not the one that its manifest describes.")


@contextmanager
def _staged_files(instance: Path) -> Iterator[list[Path]]:
    """Remove the staged files, also those that the block adds to the list, if it fails before the list of moves."""
    staged: list[Path] = []
    try:
        yield staged
    except BaseException:
        if unfinished(instance) is None:
            for path in staged:
                path.unlink(missing_ok=True)
            discard(instance)
        raise


def _restore(
    opened: Archive, instance: Path, settings: Settings, now: datetime, staged: list[Path], *, replace: bool
) -> MovePlan:
    """Do the work of `restore`, and add files written outside the staging folder to `staged`."""
    manifest = opened.manifest
    target = _database_of(instance, settings, manifest)
    waiting = staging(instance) / INSTANCE
    waiting.mkdir(mode=0o700)
    opened.extract_instance(waiting)
    database = None if target is None else target.with_name(_STAGED_DATABASE)
    plan = MovePlan(_identity(manifest), [*_moves(waiting, instance, target, database, now)])
    present = [move.target for move in plan.moves if os.path.lexists(move.target)]
    if present and not replace:
        msg = f"There is a library already ({', '.join(present)}); --replace moves it aside."
        raise ConflictError(msg, exit_code=2)
    with _locked_out(target):
        pass  # fail now rather than after minutes of copying
    if database is not None:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        database.unlink(missing_ok=True)
        require_room(database.parent, manifest.total_size())
        staged.append(database)
        _extract_database(opened, database, thoroughly=False)
    _give_to_owner(instance, [*waiting.rglob("*"), *staged])
    with _locked_out(target):
        commit(instance, plan)
        finish(instance, plan)
    return plan


def _moves(waiting: Path, instance: Path, target: Path | None, staged: Path | None, now: datetime) -> Iterator[Move]:
    """Yield the moves; the database comes last, so that a key that it needs is in place."""
    name = _new_folder(now, {instance, instance if target is None else target.parent})
    for item in (*FILES, *FOLDERS):
        new = waiting / item
        yield Move(str(instance / item), str(new) if new.exists() else "", str(instance / name / item))
    if target is not None:
        for end in _BESIDE:
            beside = Path(f"{target}{end}")
            yield Move(str(beside), "", str(target.parent / name / beside.name))
        yield Move(str(target), str(staged), str(target.parent / name / target.name))


def _new_folder(now: datetime, parents: set[Path]) -> str:
    """Return an unused name for the folders of former files: files of an earlier restore must not count as moved."""
    name = f"before-restore-{now:%Y%m%d-%H%M%S}"
    numbered = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(name for name in numbered if not any(os.path.lexists(parent / name) for parent in parents))


def _settings(instance: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings of the environment without running the configuration, and without a service key of a file.

    Raises:
        SettingError: one of them is not valid.
    """
    # `load_settings` would make a file with a key, which is not that of the database.
    given = {} if _KEY in environ else {_KEY: secrets.token_hex(32)}
    return load_settings(instance, environ=environ, overrides=given, reads_config=False)


def _key_fits(instance: Path, environ: Mapping[str, str], manifest: Manifest) -> bool:
    """Return whether the restored service key belongs to the database of the backup; True if `config.py` may set it."""
    text = environ.get(_KEY, "")
    with suppress(FileNotFoundError):
        text = text or (instance / "secret_key").read_text("utf-8", "replace")
    if not text and "config.py" in manifest.instance_files():
        return True
    return manifest.key in {"", *(f"{fingerprint(key):016x}" for key in text.split())}


def _names_database(settings: Settings) -> bool:
    return settings.origins["database_uri"] != "default"


def _database_of(instance: Path, settings: Settings, manifest: Manifest) -> Path | None:
    """Return the path of the database by the environment, else as it was in the backup; None on PostgreSQL."""
    url = make_url(settings.database_uri)
    if _names_database(settings) and (url.get_backend_name() == "sqlite") != (manifest.database == SQLITE):
        msg = f"The backup is of {manifest.database}, and PHOTOSVC_DATABASE_URI names another kind of database."
        raise ConflictError(msg, exit_code=2)
    if manifest.database != SQLITE:
        return None
    if not _names_database(settings):
        if manifest.database_file is not None:
            return instance.absolute() / manifest.database_file
        msg = (
            f"The database was the file {manifest.place!r}. To restore it there, set "
            f"PHOTOSVC_DATABASE_URI=sqlite:///{manifest.place}, else to the address of another file."
        )
        raise ConflictError(msg, exit_code=2)
    if (file := sqlite_file(url)) is None:
        raise ConflictError("PHOTOSVC_DATABASE_URI names no file that a database can be restored to.", exit_code=2)
    return file


@contextmanager
def _locked_out(database: Path | None) -> Iterator[None]:
    """Keep other processes from opening the present database inside the block.

    The lock is taken on the file, as SQLite does, because a database to be replaced may be too damaged to open.
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
            msg = "A process uses the database: first stop the service, `svc watch` and other commands."
            raise ConflictError(msg) from None
        yield
    finally:
        os.close(file)


def _give_to_owner(instance: Path, paths: list[Path]) -> None:
    """Give the files to the owner of the instance folder when root restores."""
    if os.geteuid() == 0:
        owner = instance.stat()
        for path in paths:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _identity(manifest: Manifest) -> str:
    return sha256(dump(manifest)).hexdigest()
