"""`svc db`: the database schema."""

from typing import TYPE_CHECKING

import click

from photosvc.cli.group import LazyGroup, PlainError, with_service

if TYPE_CHECKING:
    from photosvc.web.current import Service


@click.group(cls=LazyGroup)
def db() -> None:
    """Bring the database schema up to date, or look at it."""


@db.command()
@with_service
def upgrade(service: "Service") -> None:
    """Create the tables, or migrate them to the schema of this version."""
    from photosvc.models import migrate
    from photosvc.search.projection.rebuild import is_stale

    before, after = migrate.upgrade(service.engine())
    if before == after:
        click.echo(f"The schema is at {after} already.", err=True)
    else:
        click.echo(f"The schema is now at {after} (was {before or 'empty'}).", err=True)
    with service.loading() as session:
        stale = is_stale(session)
    service.check_database()
    if stale:
        click.echo("The search rows are of an older version: the next `svc index` renders them again.", err=True)


@db.command()
@with_service
def current(service: "Service") -> None:
    """Print the schema's revision."""
    from photosvc.models.database.schema import schema_version

    with service.reading() as connection:
        version = schema_version(connection)
    if version is None:
        msg = "The database has no photosvc tables yet: run `svc db upgrade`."
        raise PlainError(msg, 1)
    click.echo(version)


@db.command()
@with_service
def check(service: "Service") -> None:
    """Check that the tables are as this version needs them."""
    from photosvc.models import migrate

    service.require_schema()
    if differences := migrate.differences(service.engine()):
        for difference in differences:
            click.echo(difference, err=True)
        msg = f"The tables differ from what this version needs in {len(differences)} points."
        raise PlainError(msg, 1)
    click.echo("The tables are as this version needs them.", err=True)
