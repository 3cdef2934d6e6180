"""`svc clients`: registered OAuth2 clients (spec section 5.5)."""

from typing import TYPE_CHECKING, Any

import click

from photosvc.cli.accounts.client_options import client_options
from photosvc.cli.group import LazyGroup, with_database
from photosvc.cli.terminal.completion import complete_clients, complete_users
from photosvc.cli.terminal.prompts import SCOPE_QUESTION, ask, confirm, yes_option
from photosvc.cli.terminal.report import (
    count_option,
    format_options,
    print_list,
    print_record,
    printing_secret,
    require_stdout,
)
from photosvc.core.texts.counted import counted

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from photosvc.models import Client
    from photosvc.web.current import Service

_COLUMNS = {
    "client_id": "Client ID",
    "name": "Name",
    "user": "User",
    "role": "Role",
    "scope": "Scope",
    "expires": "Token Lifetime",
    "tokens": "Tokens",
    "token_format": "Token Format",
    "enabled": "Enabled",
    "created_at": "Created",
}
_DETAILS = {**_COLUMNS, "updated_at": "Updated"}
_SECRET = {"client_id": "Client ID", "client_secret": "Client Secret"}


@click.group(cls=LazyGroup)
def clients() -> None:
    """Register, list, change and remove OAuth2 clients."""


@clients.command()
@click.argument("search", default="")
@count_option
@format_options()
@with_database
def ls(service: "Service", search: str, count: int) -> None:
    """List clients by name.

    SEARCH is a client ID, a role, or the beginning of a name or user name.
    """
    from photosvc.auth.oauth.clients import list_clients

    with service.loading() as session:
        rows = [_row(client) for client in list_clients(session, search=search, limit=count)]
    print_list(_COLUMNS, rows)


@clients.command()
@click.argument("username", required=False, shell_complete=complete_users)
@client_options(defaults=True)
@format_options(short=False)
@with_database
def add(
    service: "Service",
    /,
    username: str | None,
    name: str | None,
    scope: str | None,
    lifetime: int,
    limit: int,
    **rest: Any,  # noqa: ANN401
) -> None:
    """Register a client. Its secret is shown only now; with --public-keys it has none.

    With USERNAME it belongs to that account: it is refused while that is disabled, but gets none of its rights.
    """
    from photosvc.auth.accounts.users import find_user
    from photosvc.auth.audit import described
    from photosvc.auth.audit.events import Event
    from photosvc.auth.credentials.bearer import check_name, check_scope
    from photosvc.auth.oauth.clients import check_lifetime, check_limit, register
    from photosvc.auth.scopes import parse_scope
    from photosvc.web import auditing

    require_stdout()
    now, owner_uid = service.now(), None
    if username is not None:
        with service.loading() as session:
            owner_uid = find_user(session, username).uid
    check_lifetime(lifetime)
    check_limit(limit)
    name = name or ask("--name", "Client name", check_name)
    wanted = parse_scope(scope or ask("--scope", SCOPE_QUESTION, lambda text: check_scope(parse_scope(text))))
    with service.writing() as session:
        user = find_user(session, owner_uid) if owner_uid else None
        registered = register(session, now, name=name, scope=wanted, lifetime=lifetime, limit=limit, user=user, **rest)
        session.refresh(registered.client)
        made = registered.client
        auditing.record(session, Event.CLIENT_ADDED, subject=made, detail=described.client(made))
        record = {**_row(registered.client), "client_secret": registered.secret}
    if rest["public_keys"] is not None:
        print_record(_COLUMNS, record)
        return
    with printing_secret(service, lambda session: _remove(session, record["client_id"])):
        print_record({**_SECRET, **_COLUMNS}, record)


@clients.command()
@click.argument("identifier", shell_complete=complete_clients)
@format_options()
@with_database
def show(service: "Service", identifier: str) -> None:
    """Show one client, by its ID."""
    from photosvc.auth.oauth.clients import find_client

    with service.loading() as session:
        row = _row(find_client(session, identifier))
    print_record(_DETAILS, row)


@clients.command()
@click.argument("identifier", shell_complete=complete_clients)
@client_options(defaults=False)
@click.option(
    "--user",
    "-u",
    metavar="USERNAME",
    shell_complete=complete_users,
    help="Account the client belongs to; empty for none.",
)
@click.option("--enable/--disable", "enabled", default=None, help="Whether it gets tokens; disabling revokes them.")
@click.option("--regenerate", is_flag=True, help="Make a new secret; the old one, keys and tokens are revoked.")
@format_options(short=False)
@with_database
def mod(
    service: "Service",
    /,
    identifier: str,
    regenerate: bool,
    scope: str | None,
    user: str | None,
    **given: Any,  # noqa: ANN401
) -> None:
    """Change a client. Tokens it could not get any more are revoked."""
    from photosvc.auth.accounts.users import find_user
    from photosvc.auth.audit import described
    from photosvc.auth.audit.events import Event
    from photosvc.auth.oauth.clients import Changes, change_client, find_client, regenerate_secret, restore_secret
    from photosvc.auth.scopes import parse_scope
    from photosvc.web import auditing

    require_stdout()
    given = {key: value for key, value in given.items() if value is not None}
    if not given and scope is user is None and not regenerate:
        msg = "nothing to change: give at least one option"
        raise click.UsageError(msg)
    now = service.now()
    with service.writing() as session:
        changes = Changes(
            **given,
            scope=None if scope is None else parse_scope(scope),
            user=find_user(session, user) if user else None,
            unbind=user == "",
        )
        what = {**given, "scope": changes.scope and str(changes.scope), "user": user}
        before = find_client(session, identifier, lock=True)
        detail = ", ".join(filter(None, [described.changes(before, what), "new secret" if regenerate else ""]))
        auditing.record(session, Event.CLIENT_CHANGED, subject=before, detail=detail)
        client = change_client(session, identifier, now, changes)
        record = _row(client)
        old = client.secret_digest
        if regenerate:
            record["client_secret"] = regenerate_secret(session, identifier, now)
    if regenerate:
        lost = record["client_secret"]

        def restore(session: "Session") -> None:
            restore_secret(session, identifier, old, lost=lost)
            subject = find_client(session, identifier)
            auditing.record(session, Event.CLIENT_CHANGED, subject=subject, detail="old secret again")

        with printing_secret(service, restore):
            print_record({**_SECRET, **_DETAILS}, record)
    else:
        print_record(_DETAILS, record)


@clients.command()
@click.argument("identifier", shell_complete=complete_clients)
@yes_option
@with_database
def rm(service: "Service", identifier: str, yes: bool) -> None:
    """Remove a client; its tokens are refused from the next request on."""
    from photosvc.auth.oauth.clients import find_client

    with service.loading() as session:
        name = find_client(session, identifier).name
    confirm(f"Remove the client {name} ({identifier}) and its tokens?", yes=yes)
    with service.writing() as session:
        _remove(session, identifier)
    click.echo(f"The client {name} is removed.", err=True)


@clients.command()
@yes_option
@with_database
def reset(service: "Service", yes: bool) -> None:
    """Remove every client and all of their tokens."""
    from photosvc.auth.audit.events import Event
    from photosvc.auth.oauth.clients import remove_all_clients
    from photosvc.web import auditing

    confirm("Remove every client and all of their tokens?", yes=yes)
    with service.writing() as session:
        count = remove_all_clients(session)
        auditing.record(session, Event.CLIENT_REMOVED, detail=f"all {count} clients")
    click.echo(f"{counted(count, 'client')} removed.", err=True)


def _remove(session: "Session", client_id: str) -> None:
    """Remove a client, and record it."""
    from photosvc.auth.audit.events import Event
    from photosvc.auth.oauth.clients import find_client, remove_client
    from photosvc.web import auditing

    auditing.record(session, Event.CLIENT_REMOVED, subject=find_client(session, client_id))
    remove_client(session, client_id)


def _row(client: "Client") -> dict[str, Any]:
    from photosvc.records.accounts import ClientSchema

    row: dict[str, Any] = ClientSchema().dump(client)
    return row
