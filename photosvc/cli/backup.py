"""`svc backup` and `svc restore`: archives of the database, keys and configuration."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from photosvc.backup import restoring, writing
from photosvc.backup.archive import Manifest, sqlite_file
from photosvc.backup.restoring import RestoredLibrary
from photosvc.backup.writing import BackupSource, archive_name, dump_of, workspace, write_backup
from photosvc.cli.group import PlainError, with_service
from photosvc.cli.terminal import FullPath, format_options, print_record
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.models.base import SCHEMA_VERSION
from photosvc.models.counters import BACKED_UP, set_counters
from photosvc.settings import PREFIX, Settings, setting_fields
from photosvc.settings.instance import make_instance
from photosvc.web.service import Service

_COLUMNS = {
    "archive": "Archive", "size": "Bytes", "created_at": "Made At", "database": "Database",
    "dump": "Dump of the Database", "schema": "Schema", "photos": "Photos", "accounts": "Accounts",
    "key_included": "Has the Service Key", "verified": "Verified",
}  # fmt: skip
_FILE = FullPath()


@click.command()
@click.argument("target", type=_FILE)
@click.option("--verify", is_flag=True, help="Read the archive again and check its database.")
@click.option("--without-database", is_flag=True, help="Leave out a database of PostgreSQL.")
@format_options
@with_service
def backup(service: Service, target: Path, verify: bool, without_database: bool) -> None:
    """Write database, keys and configuration to one archive, while the service runs.

    TARGET is the archive, or a folder in which it gets a name by its time. A database of PostgreSQL is a file beside
    it, with the ending .dump. The archive has no originals and no thumbnails. Keep it secret: with its keys, the
    second factors of all accounts can be read.
    """
    if target.is_dir():
        target /= archive_name(service.now())
    elif target.suffix != ".zip":
        raise PlainError(f"There is no folder {target}: make it, or give a name that ends with .zip.", 3)
    elif not target.parent.is_dir():
        raise PlainError(f"There is no folder {target.parent}: make it, or name another one.", 3)
    engine = service.engine()
    database = _database_file(service)
    source = BackupSource(service.settings, service.instance, database, lambda: writing.postgres_state(engine))
    dump = None if database is not None or without_database else writing.dump_of(target)
    with _exiting_on_signals():
        if dump is not None:
            source.state()  # raises an error for an empty database before anything is written
            writing.dump_postgres(engine.url, dump, verify=verify)
        try:
            manifest = write_backup(source, target, service.now())
        except BaseException:  # a dump alone is no backup
            if dump is not None:
                dump.unlink(missing_ok=True)
            raise
        if verify:
            with workspace(target.parent) as folder:
                restoring.check(target, folder)
    _note_backup(service)
    print_record(_COLUMNS, {**_described(target, manifest), "dump": dump and str(dump), "verified": verify})
    if not _has_key(manifest):
        origin = service.settings.origins.get("secret_key", "app")
        click.echo(f"The service key is not in it: keep PHOTOSVC_SECRET_KEY ({origin}) as well.", err=True)
    if without_database and database is None:
        click.echo("The database is not in it.", err=True)


def _note_backup(service: Service) -> None:
    """Store the time of the backup for the metrics, unless the database is at an old schema or busy."""
    number = {BACKED_UP: int(service.now().timestamp())}
    with suppress(SQLAlchemyError):
        service.write_if_free(lambda session: set_counters(session, number))


def _database_file(service: Service) -> Path | None:
    """Return the file of the SQLite database, or None on PostgreSQL."""
    url = service.engine().url
    if url.get_backend_name() != "sqlite":
        return None
    if (file := sqlite_file(url)) is None:
        raise PlainError("The database is no file that could be backed up.", 1)
    return file


@click.command()
@click.argument("archive", type=_FILE)
@click.option("--replace", is_flag=True, help="Move an existing library aside.")
@click.option("--dry-run", is_flag=True, help="Check the archive without changing anything.")
@format_options
@click.pass_context
def restore(ctx: click.Context, archive: Path, replace: bool, dry_run: bool) -> None:
    """Restore an archive of `svc backup` into the instance folder, while no service runs.

    The whole archive is checked before anything changes. If the command is interrupted, run it again: it continues.
    Restore only archives that you trust: the configuration in them is a program, which runs when the service starts.
    """
    if not archive.exists():
        raise PlainError(f"There is no file {archive}.", 3)
    if dry_run:
        with _exiting_on_signals(), TemporaryDirectory(prefix="photosvc-restore-") as folder:
            manifest = restoring.check(archive, Path(folder))
        print_record(_COLUMNS, {**_described(archive, manifest), "dump": _dump_of(archive, manifest), "verified": True})
        return
    instance = _own_instance(ctx)
    with _exiting_on_signals():
        restored = restoring.restore(archive, instance, os.environ, SYSTEM_CLOCK(), replace=replace)
    dump = _dump_of(archive, restored.manifest)
    print_record(_COLUMNS, {**_described(archive, restored.manifest), "dump": dump, "verified": True})
    _print_next_steps(restored, instance, dump or "photosvc.dump")


def _own_instance(ctx: click.Context) -> Path:
    """Return the instance folder; raise `click.UsageError` inside another app, which restores its own database."""
    if not callable(ctx.find_root().obj):
        msg = "it restores only libraries without another app, by `svc` alone: restore this app by its own means"
        raise click.UsageError(msg)
    return make_instance(None, os.environ)


def _described(archive: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "archive": str(archive),
        "size": archive.stat().st_size,
        **{name: getattr(manifest, name) for name in ("created_at", "database", "schema", "photos", "accounts")},
        "key_included": _has_key(manifest),
    }


def _has_key(manifest: Manifest) -> bool:
    return "secret_key" in manifest.instance_files()


def _dump_of(archive: Path, manifest: Manifest) -> str | None:
    """Return the file with the database of a PostgreSQL server if it lies beside the archive."""
    dump = dump_of(archive)
    return str(dump) if manifest.database == "postgresql" and dump.is_file() else None


def _print_next_steps(restored: RestoredLibrary, instance: Path, dump: str) -> None:
    manifest, settings = restored.manifest, restored.settings
    lines = [f"Restored into {instance}."]
    lines += [f"The former files are in {folder}." for folder in restored.aside]
    differing = {name: value for name, value in manifest.settings.items() if _present(settings, name) != value}
    lines += [f"When it was made, {name} was {value}." for name, value in sorted(differing.items())]
    if manifest.database == "postgresql":
        lines += [
            "Fill an empty database now:",
            "",
            f"  {writing.restore_command(make_url(restored.address), Path(dump))}",
            "",
        ]
    if not restored.key_fits:
        lines.append(
            "The service key here is not that of the backup: set PHOTOSVC_SECRET_KEY to the one it was made with."
        )
    if manifest.schema < SCHEMA_VERSION:
        lines.append(f"It has schema {manifest.schema}, this photosvc needs {SCHEMA_VERSION}: run `svc db upgrade`.")
    if manifest.schema > SCHEMA_VERSION:
        lines.append(f"It has schema {manifest.schema}, newer than this photosvc ({SCHEMA_VERSION}): upgrade photosvc.")
    lines.append("Then run `svc index`, which finds what has changed in the originals since.")
    click.echo("\n".join(lines), err=True)


def _present(settings: Settings, name: str) -> str:
    """Return the value of a setting by its full name, empty if this version has no such setting."""
    field = name.removeprefix(PREFIX).lower()
    return str(getattr(settings, field)) if field in setting_fields() else ""


@contextmanager
def _exiting_on_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP in the block into `SystemExit`, so that no half-written archive remains."""

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    former = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
