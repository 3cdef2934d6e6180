"""`svc users` and `svc passwd`: accounts, their login sessions and passwords."""

from functools import partial
from typing import Any

import click

from photosvc.auth import accounts, second_factor
from photosvc.auth.accounts import find_user, list_users
from photosvc.auth.credentials import end_sessions, list_sessions
from photosvc.auth.passwords import check_password, new_hash
from photosvc.cli.group import LazyGroup, operating, with_database
from photosvc.cli.terminal import (
    ask,
    ask_password,
    confirm,
    count_option,
    format_options,
    print_list,
    print_record,
    yes_option,
)
from photosvc.core.accounts import USER, USER_ROLES, check_user_name
from photosvc.core.message import counted
from photosvc.models import User
from photosvc.records.accounts import OpenSessionSchema, UserSchema
from photosvc.web.service import Service

_COLUMNS = {
    "UID": "UID", "Name": "Name", "Role": "Role", "DisplayName": "Display Name", "Email": "Email",
    "CanLogin": "Can Log In", "Disabled": "Disabled", "TwoFactor": "Two-Factor", "LoginAt": "Last Login",
    "CreatedAt": "Created",
}  # fmt: skip
_SESSION_COLUMNS = {
    "id": "ID", "method": "Method", "app_password": "App Password", "last_ip": "Last Address",
    "user_agent": "User Agent", "last_used_at": "Last Used", "created_at": "Opened", "expires_at": "Expires",
}  # fmt: skip
_ROLES = click.Choice(USER_ROLES)
_stdin_option = click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")


@click.group(cls=LazyGroup)
def users() -> None:
    """Add, list, change and remove accounts."""


@users.command()
@click.argument("name", required=False)
@click.option("--role", "-r", type=_ROLES, default=USER, show_default=True, help="Role of the account.")
@click.option("--display-name", "-d", default="", help="Display name.")
@click.option("--email", default="", help="Email address.")
@_stdin_option
@format_options
@with_database
def add(service: Service, name: str | None, role: str, display_name: str, email: str, password_stdin: bool) -> None:
    """Add an account. The command asks for the password, or reads it from standard input."""
    name = check_user_name(name) if name else ask("NAME", "User name", check_user_name)
    password = ask_password(partial(check_password, user_name=name), from_stdin=password_stdin)
    user = accounts.new_user(
        service.now(), name=name, password=password, role=role, display_name=display_name, email=email
    )
    with operating() as operation:
        record = _row(accounts.add(operation, user))
    print_record(_COLUMNS, record)


@users.command()
@click.argument("search", default="")
@count_option
@format_options
@with_database
def ls(service: Service, search: str, count: int) -> None:
    """List accounts by name. SEARCH is the beginning of a name, a UID or a role."""
    with service.reading(orm=True) as session:
        rows = [_row(user) for user in list_users(session, search=search, limit=count)]
    print_list(_COLUMNS, rows)


@users.command()
@click.argument("name")
@format_options
@with_database
def show(service: Service, name: str) -> None:
    """Show one account, by its name or UID."""
    with service.reading(orm=True) as session:
        row = _row(find_user(session, name))
    print_record(_COLUMNS, row)


@users.command()
@click.argument("name")
@click.option("--role", "-r", type=_ROLES, help="Role of the account.")
@click.option("--display-name", "-d", help="Display name.")
@click.option("--email", help="Email address.")
@click.option("--disable/--enable", "disabled", default=None, help="Refuse or accept its credentials.")
@click.option("--disable-2fa", is_flag=True, help="Turn two-factor authentication off.")
@format_options
@with_database
def mod(_service: Service, /, name: str, disable_2fa: bool, **changes: Any) -> None:  # noqa: ANN401
    """Change an account."""
    changes = {key: value for key, value in changes.items() if value is not None}
    if not changes and not disable_2fa:
        raise click.UsageError("nothing to change: give at least one option")
    with operating() as operation:
        user = accounts.find_user(operation.session, name)
        if changes:
            accounts.change(operation, user.uid, **changes)
        if disable_2fa:
            second_factor.reset(operation, user)
        operation.session.refresh(user)
        record = _row(user)
    print_record(_COLUMNS, record)


@users.command()
@click.argument("name")
@yes_option
@with_database
def rm(service: Service, name: str, yes: bool) -> None:
    """Remove an account and all of its credentials."""
    with service.reading(orm=True) as session:
        uid = accounts.find_user(session, name).uid
    confirm(f"Remove the account {name} and all of its credentials?", yes=yes)
    with operating() as operation:
        accounts.remove(operation, uid)
    click.echo(f"The account {name} is removed.", err=True)


@users.command()
@click.argument("name")
@format_options
@with_database
def sessions(service: Service, name: str) -> None:
    """List an account's open login sessions, the most recently used first."""
    with service.reading(orm=True) as session:
        rows = OpenSessionSchema(many=True).dump(list_sessions(session, find_user(session, name), service.now()))
    print_list(_SESSION_COLUMNS, rows)


@users.command()
@click.argument("name")
@yes_option
@with_database
def logout(service: Service, name: str, yes: bool) -> None:
    """End all login sessions of an account; `svc auth rm ID` ends one. Its app passwords stay valid."""
    with service.reading(orm=True) as session:
        uid = find_user(session, name).uid
    confirm(f"End all login sessions of {name}?", yes=yes)
    with operating() as operation:
        count = end_sessions(operation, find_user(operation.session, uid))
    click.echo(f"{counted(count, 'login session')} ended.", err=True)


@users.command()
@yes_option
@with_database
def reset(_service: Service, yes: bool) -> None:
    """Remove every account and all of their credentials."""
    confirm("Remove every account and all of their credentials?", yes=yes)
    with operating() as operation:
        count = accounts.remove_all(operation)
    click.echo(f"{counted(count, 'account')} removed.", err=True)


@click.command()
@click.argument("name")
@_stdin_option
@with_database
def passwd(service: Service, name: str, password_stdin: bool) -> None:
    """Change an account's password. Its login sessions end; its app passwords stay valid."""
    with service.reading(orm=True) as session:
        user = accounts.find_user(session, name)
    check = partial(check_password, user_name=user.name)
    password = new_hash(ask_password(check, from_stdin=password_stdin), user_name=user.name)
    with operating() as operation:
        accounts.set_password(operation, user.uid, password)
    click.echo("The password is changed.", err=True)


def _row(user: User) -> dict[str, Any]:
    row: dict[str, Any] = UserSchema().dump(user)
    if user.login_at is None:
        row["LoginAt"] = None
    return row
