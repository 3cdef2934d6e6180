"""`svc auth`: app passwords and access tokens (spec section 5.4)."""

from typing import TYPE_CHECKING

import click

from photosvc.cli.context import with_database
from photosvc.cli.group import LazyGroup
from photosvc.cli.prompts import ask
from photosvc.cli.report import format_options, print_record

if TYPE_CHECKING:
    from photosvc.web.current import Service


@click.group(cls=LazyGroup)
def auth() -> None:
    """Create and revoke app passwords and access tokens."""


@auth.command()
@click.option("--name", "-n", metavar="CLIENT", help="Name that identifies the application.")
@click.option("--scope", "-s", metavar="SCOPES", help="Authorization scopes (`*` for all).")
@click.option(
    "--expires",
    "-e",
    type=int,
    metavar="LIFETIME",
    default=31_536_000,
    show_default=True,
    help="Lifetime in seconds; -1 disables the limit.",
)
@format_options(short=False)
@with_database
def add(service: "Service", name: str | None, scope: str | None, expires: int) -> None:
    """Create an access token for a client; the secret is shown this once."""
    from photosvc.auth.credentials import issue
    from photosvc.auth.scopes import parse_scope
    from photosvc.models.database import begin_write

    name = name or ask("--name", "Client name")
    wanted = parse_scope(scope or ask("--scope", "Authorization scopes", "*"))
    begin_write(service.session)
    issued = issue(service.session, service.now(), name=name, scope=wanted, lifetime=expires)
    service.session.commit()
    click.echo("Keep the secret now: it is not shown again.", err=True)
    print_record(
        {"secret": "Access Token", "scope": "Authorization Scope"},
        {"secret": issued.secret, "scope": issued.credential.scope},
    )
