"""`svc clients`: registered OAuth2 clients."""

from collections.abc import Callable
from typing import Any, Final

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.auth import clients as auth_clients
from photosvc.auth.accounts import find_user
from photosvc.auth.clients import find_client, list_clients
from photosvc.auth.credentials import check_name, check_scope
from photosvc.auth.operation import Operation
from photosvc.auth.scopes import parse_scope
from photosvc.cli.group import LazyGroup, operating, with_database
from photosvc.cli.terminal import (
    SCOPE_QUESTION,
    Duration,
    ask,
    confirm,
    count_option,
    format_options,
    options,
    print_list,
    print_record,
    printing_secret,
    require_stdout,
    yes_option,
)
from photosvc.core.accounts import (
    CLIENT,
    CLIENT_ROLES,
    CLIENT_TOKEN_LIFETIME,
    CLIENT_TOKENS,
    MAX_CLIENT_TOKEN_LIFETIME,
    OPAQUE,
    TOKEN_FORMATS,
)
from photosvc.core.errors import NotFoundError
from photosvc.core.message import counted
from photosvc.core.text import storable
from photosvc.models import Client
from photosvc.records.accounts import ClientSchema
from photosvc.web.service import Service

_COLUMNS = {
    "client_id": "Client ID", "name": "Name", "user": "User", "role": "Role", "scope": "Scope",
    "expires": "Token Lifetime", "tokens": "Tokens", "token_format": "Token Format", "enabled": "Enabled",
    "created_at": "Created",
}  # fmt: skip
_DETAILS = {**_COLUMNS, "updated_at": "Updated"}
#: Clients of one name whose IDs an error says.
_MOST_NAMED: Final = 5
_SECRET = {"client_id": "Client ID", "client_secret": "Client Secret"}


def client_options(*, defaults: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options for the properties of a client to a command, with the defaults of a new client or without."""

    def usual(value: object) -> dict[str, Any]:
        return {"default": value if defaults else None, "show_default": defaults}

    return options(
        click.option("--name", "-n", metavar="CLIENT", help="Client name."),
        click.option(
            "--role",
            "-r",
            type=click.Choice(CLIENT_ROLES),
            help="Client authorization role; admin sees private pictures too.",
            **usual(CLIENT),
        ),
        click.option("--scope", "-s", metavar="SCOPES", help="Client scopes (`*` for all)."),
        click.option(
            "--expires",
            "-e",
            "lifetime",
            type=Duration(),
            metavar="LIFETIME",
            help=f"Lifetime of each access token in seconds, at most {MAX_CLIENT_TOKEN_LIFETIME}, or as 12h, 31d.",
            **usual(CLIENT_TOKEN_LIFETIME),
        ),
        click.option(
            "--tokens",
            "-t",
            "limit",
            type=int,
            metavar="NUMBER",
            help="Maximum number of valid access tokens; new ones replace the oldest; -1 for no limit.",
            **usual(CLIENT_TOKENS),
        ),
        click.option(
            "--token-format",
            type=click.Choice(TOKEN_FORMATS),
            help="Token format; others can read `jwt` (RFC 9068).",
            **usual(OPAQUE),
        ),
    )


@click.group(cls=LazyGroup)
def clients() -> None:
    """Register, list, change and remove OAuth2 clients."""


@clients.command()
@click.argument("search", default="")
@count_option
@format_options
@with_database
def ls(service: Service, search: str, count: int) -> None:
    """List clients by name.

    SEARCH is a client ID, a role, or the beginning of a name or user name.
    """
    with service.reading(orm=True) as session:
        rows = [_row(client) for client in list_clients(session, search=search, limit=count)]
    print_list(_COLUMNS, rows)


@clients.command()
@click.argument("username", required=False)
@client_options(defaults=True)
@format_options
@with_database
def add(
    service: Service,
    /,
    username: str | None,
    name: str | None,
    scope: str | None,
    lifetime: int,
    limit: int,
    **rest: Any,  # noqa: ANN401
) -> None:
    """Register a client. Its secret is shown only now.

    With USERNAME it belongs to that account: it is refused while the account is disabled, but gets none of its rights.
    """
    require_stdout()
    owner_uid = None
    if username is not None:
        with service.reading(orm=True) as session:
            owner_uid = find_user(session, username).uid
    auth_clients.check_lifetime(lifetime)
    auth_clients.check_limit(limit)
    name = name or ask("--name", "Client name", check_name)
    scopes = parse_scope(scope or ask("--scope", SCOPE_QUESTION, lambda text: check_scope(parse_scope(text))))
    with operating() as operation:
        user = find_user(operation.session, owner_uid) if owner_uid else None
        values = {"name": name, "scope": scopes, "lifetime": lifetime, "limit": limit, "user": user, **rest}
        registered = auth_clients.register(operation, **values)
        record = {**_row(registered.client), "client_secret": registered.secret}
    with printing_secret(lambda operation: auth_clients.remove(operation, record["client_id"])):
        print_record({**_SECRET, **_COLUMNS}, record)


@clients.command()
@click.argument("identifier")
@format_options
@with_database
def show(service: Service, identifier: str) -> None:
    """Show one client, by its ID."""
    with service.reading(orm=True) as session:
        row = _row(_named(session, identifier))
    print_record(_DETAILS, row)


@clients.command()
@click.argument("identifier")
@client_options(defaults=False)
@click.option(
    "--user",
    "-u",
    metavar="USERNAME",
    help="Owner account of the client; empty for none.",
)
@click.option("--enable/--disable", "enabled", default=None, help="Issue or refuse tokens; disabling revokes all.")
@click.option("--regenerate", is_flag=True, help="Create a new secret; the old one and all tokens are revoked.")
@format_options
@with_database
def mod(
    _service: Service,
    /,
    identifier: str,
    regenerate: bool,
    scope: str | None,
    user: str | None,
    **changes: Any,  # noqa: ANN401
) -> None:
    """Change a client. Tokens that it could no longer get are revoked."""
    require_stdout()
    changes = {key: value for key, value in changes.items() if value is not None}
    if not changes and scope is user is None and not regenerate:
        raise click.UsageError("nothing to change: give at least one option")
    with operating() as operation:
        _named(operation.session, identifier)
        changes["scope"] = None if scope is None else parse_scope(scope)
        changes["user"] = find_user(operation.session, user) if user else None
        changed = auth_clients.change(operation, identifier, {**changes, "unbind": user == ""}, new_secret=regenerate)
        record = {**_row(changed.client), "client_secret": changed.secret}
    if regenerate:

        def restore(operation: Operation) -> None:
            auth_clients.undo_new_secret(operation, identifier, changed.old_digest, lost=changed.secret)

        with printing_secret(restore):
            print_record({**_SECRET, **_DETAILS}, record)
    else:
        print_record(_DETAILS, record)


@clients.command()
@click.argument("identifier")
@yes_option
@with_database
def rm(service: Service, identifier: str, yes: bool) -> None:
    """Remove a client; its tokens are refused from the next request on."""
    with service.reading(orm=True) as session:
        name = _named(session, identifier).name
    confirm(f"Remove the client {name} ({identifier}) and its tokens?", yes=yes)
    with operating() as operation:
        auth_clients.remove(operation, identifier)
    click.echo(f"The client {name} is removed.", err=True)


@clients.command()
@yes_option
@with_database
def reset(_service: Service, yes: bool) -> None:
    """Remove every client and all of their tokens."""
    confirm("Remove every client and all of their tokens?", yes=yes)
    with operating() as operation:
        count = auth_clients.remove_all(operation)
    click.echo(f"{counted(count, 'client')} removed.", err=True)


def _named(session: Session, identifier: str) -> Client:
    """Return the client with this ID; for the name of clients, the error says their IDs.

    Raises:
        NotFoundError: there is none.
    """
    try:
        return find_client(session, identifier)
    except NotFoundError:
        named = select(Client.uid).where(Client.name == storable(identifier)).order_by(Client.id).limit(_MOST_NAMED)
        if uids := session.scalars(named).all():
            msg = f"{identifier!r} is the name of a client: give its ID, {' or '.join(uids)}"
            raise NotFoundError(msg, field="IDENTIFIER") from None
        raise


def _row(client: Client) -> Any:  # noqa: ANN401 - marshmallow returns any type
    return ClientSchema().dump(client)
