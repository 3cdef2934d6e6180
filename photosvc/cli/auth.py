"""`svc auth`: app passwords, access tokens and login sessions."""

import click

from photosvc.auth import credentials
from photosvc.auth.accounts import find_user
from photosvc.auth.credentials import check_name, check_scope, find_credential, list_credentials
from photosvc.auth.scopes import parse_scope
from photosvc.cli.group import LazyGroup, operating, with_database
from photosvc.cli.terminal import (
    SCOPE_QUESTION,
    Duration,
    ask,
    confirm,
    count_option,
    format_options,
    print_list,
    print_record,
    printing_secret,
    require_stdout,
    yes_option,
)
from photosvc.core.accounts import CREDENTIAL_LIFETIME
from photosvc.core.message import counted
from photosvc.models import Credential
from photosvc.records.accounts import CredentialSchema
from photosvc.web.service import Service

_COLUMNS = {
    "id": "ID", "kind": "Kind", "name": "Name", "user": "User", "client": "Client", "scope": "Scope",
    "last_used_at": "Last Used", "created_at": "Created", "expires_at": "Expires",
}  # fmt: skip
_DETAILS = {**_COLUMNS, "last_ip": "Last Address", "user_agent": "User Agent"}


@click.group(cls=LazyGroup)
def auth() -> None:
    """Create, list and revoke app passwords, access tokens and login sessions."""


@auth.command()
@click.argument("username", required=False)
@click.option("--name", "-n", metavar="CLIENT", help="Name that identifies the application.")
@click.option("--scope", "-s", metavar="SCOPES", help="Authorization scopes (`*` for all).")
@click.option(
    "--expires",
    "-e",
    type=Duration(),
    metavar="LIFETIME",
    default=CREDENTIAL_LIFETIME,
    show_default=True,
    help="Lifetime in seconds, or with a unit as 12h, 30d, 1y; -1 disables the limit.",
)
@format_options
@with_database
def add(service: Service, username: str | None, name: str | None, scope: str | None, expires: int) -> None:
    """Create an app password for USERNAME or, without one, an access token for a client.

    The secret is shown only now.
    """
    require_stdout()
    owner_uid = None
    if username is not None:
        with service.reading(orm=True) as session:
            owner_uid = find_user(session, username).uid
    credentials.expiry(expires, service.now())
    name = name or ask("--name", "Client name", check_name)
    scopes = parse_scope(scope or ask("--scope", SCOPE_QUESTION, lambda text: check_scope(parse_scope(text))))
    with operating() as operation:
        user = find_user(operation.session, owner_uid) if owner_uid else None
        issued = credentials.issue(operation, user, name=name, scope=scopes, lifetime=expires)
        record = {"secret": issued.secret, "scope": issued.credential.scope, "id": issued.credential.uid}
    kind = "App Password" if owner_uid else "Access Token"
    with printing_secret(lambda operation: credentials.revoke(operation, record["id"])):
        print_record({"secret": kind, "scope": "Authorization Scope", "id": "ID"}, record)


@auth.command()
@click.argument("search", default="")
@count_option
@format_options
@with_database
def ls(service: Service, search: str, count: int) -> None:
    """List credentials, the most recently used first.

    SEARCH is an ID, or the beginning of a name, user name or kind.
    """
    with service.reading(orm=True) as session:
        rows = [_row(credential) for credential in list_credentials(session, search=search, limit=count)]
    print_list(_COLUMNS, rows)


@auth.command()
@click.argument("identifier")
@format_options
@with_database
def show(service: Service, identifier: str) -> None:
    """Show one credential, by its ID."""
    with service.reading(orm=True) as session:
        row = _row(find_credential(session, identifier))
    print_record(_DETAILS, row)


@auth.command()
@click.argument("identifier")
@yes_option
@with_database
def rm(service: Service, identifier: str, yes: bool) -> None:
    """Revoke a credential; it is refused from the next request on."""
    with service.reading(orm=True) as session:
        uid = credentials.find_credential(session, identifier).uid
    confirm(f"Revoke {uid}?", yes=yes)
    with operating() as operation:
        credentials.revoke(operation, uid)
    click.echo(f"{uid} is revoked.", err=True)


@auth.command()
@yes_option
@with_database
def reset(_service: Service, yes: bool) -> None:
    """Revoke every app password, access token and login session."""
    confirm("Revoke every app password, access token and login session?", yes=yes)
    with operating() as operation:
        count = credentials.revoke_all(operation)
    click.echo(f"{counted(count, 'credential')} revoked.", err=True)


def _row(credential: Credential) -> dict[str, object]:
    return {
        **CredentialSchema().dump(credential),
        "user": credential.user.name if credential.user else "",
        "client": credential.client.name if credential.client else "",
    }
