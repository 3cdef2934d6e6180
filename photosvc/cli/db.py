"""`svc db`: the schema of the database, and its copy in another one."""

import click
from sqlalchemy import inspect

from photosvc.backup.database_copy import copy_library, target_engine
from photosvc.cli.group import LazyGroup, PlainError, as_called, with_service
from photosvc.cli.terminal import confirm, yes_option
from photosvc.core.files import private_umask, readable_by_others
from photosvc.models import schema
from photosvc.models.base import TABLE_PREFIX
from photosvc.models.engine import database_files
from photosvc.models.schema import schema_version
from photosvc.search.rows.check import is_stale
from photosvc.settings.table import database_uri
from photosvc.web.service import Service


@click.group(cls=LazyGroup)
def db() -> None:
    """Upgrade, check or copy the database."""


@db.command()
@with_service
def upgrade(service: Service) -> None:
    """Create the tables, or migrate them to the schema of this version; stop all processes of the service before."""
    # Without this, the engine of a host app would create its file with the permissions that the umask leaves.
    with private_umask():
        before, after = schema.upgrade(service.engine())
    if before == after:
        schema.require_tables(service.engine())
        click.echo(f"The schema is at {after} already.", err=True)
    else:
        click.echo(f"The schema is now at {after} (was {before or 'empty'}).", err=True)
    with service.reading(orm=True) as session:
        stale = is_stale(session)
        files = database_files(session.connection())
    service.check_database()
    # The permissions of a host app's file are reported, not changed: the host may need them.
    for line in readable_by_others(files):
        click.echo(line, err=True)
    if stale:
        line = "The search rows are of an older version: the next `svc index` renders them again."
        click.echo(as_called(line), err=True)


@db.command()
@with_service
def current(service: Service) -> None:
    """Print the version of the schema."""
    with service.reading() as connection:
        version = schema_version(connection)
    if version is None:
        raise PlainError("The database has no photosvc tables yet: run `svc db upgrade`.", 1)
    click.echo(version)


@db.command()
@with_service
def check(service: Service) -> None:
    """Compare the tables with the schema that this version needs."""
    service.require_schema()
    if differences := schema.differences(service.engine()):
        for difference in differences:
            click.echo(difference, err=True)
        raise PlainError(f"The tables differ from what this version needs in {len(differences)} points.", 1)
    click.echo("The tables are as this version needs them.", err=True)


@db.command()
@yes_option
@with_service
def drop(service: Service, yes: bool) -> None:
    """Remove the library from the database: all tables of photosvc; stop all processes of the service before.

    The tables of an app that contains photosvc stay, and so do the originals, the keys and the cache.
    """
    address = service.engine().url.render_as_string(hide_password=True)
    with service.reading() as connection:
        count = len(schema.stored_tables(connection))
    if not count:
        raise PlainError(f"There are no tables of photosvc in {address}.", 3)
    what = f"the {count} tables of photosvc, with accounts, albums, edits and their history, from {address}"
    confirm(f"Remove {what}?", yes=yes)
    schema.drop(service.engine())
    click.echo("The library is removed from the database.", err=True)
    with service.reading() as connection:
        left = [name for name in inspect(connection).get_table_names() if name.startswith(TABLE_PREFIX)]
    if left:
        click.echo(f"Left, as this version does not have these tables: {', '.join(sorted(left))}", err=True)


@db.command()
@click.argument("address")
@with_service
def copy(service: Service, address: str) -> None:
    """Copy the library into the empty database at ADDRESS, from SQLite to PostgreSQL or back.

    All rows are copied and compared. The service can go on, but changes of it fail until the end. If the command is
    killed, run it again: it begins again. An address needs no password if ~/.pgpass or PGPASSWORD has it.
    """
    service.require_schema()
    try:
        target = database_uri(address)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="ADDRESS") from None
    with target_engine(target) as engine:
        total = copy_library(service.engine(), engine, lambda line: click.echo(f"  {line}", err=True))
        shown = engine.url.render_as_string(hide_password=True)
    click.echo(f"Copied and compared {total} rows.", err=True)
    setting = f"PHOTOSVC_DATABASE_URI={shown}" if service.is_alone else f"the app's engine for photosvc to {shown}"
    click.echo(f"Now set {setting} and start the service again.", err=True)
