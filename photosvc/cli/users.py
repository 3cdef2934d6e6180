"""`svc users` and `svc passwd`: accounts, their login sessions and passwords."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from photosvc.cli.completion import complete_users
from photosvc.cli.group import LazyGroup, with_database
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
from photosvc.core.accounts import USER, USER_ROLES
from photosvc.core.words import counted

if TYPE_CHECKING:
    from photosvc.models import User
    from photosvc.web.current import Service


_COLUMNS = {
    "UID": "UID",
    "Name": "Name",
    "Role": "Role",
    "DisplayName": "Display Name",
    "Email": "Email",
    "CanLogin": "Can Log In",
    "Disabled": "Disabled",
    "TwoFactor": "Two-Factor",
    "LoginAt": "Last Login",
    "CreatedAt": "Created",
}
_SESSION_COLUMNS = {
    "id": "ID",
    "method": "Method",
    "app_password": "App Password",
    "last_ip": "Last Address",
    "user_agent": "User Agent",
    "last_used_at": "Last Used",
    "created_at": "Opened",
    "expires_at": "Expires",
}
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
@format_options(short=False)
@with_database
def add(
    service: "Service",
    name: str | None,
    role: str,
    display_name: str,
    email: str,
    password_stdin: bool,
) -> None:
    """Add an account. The command asks for the password, or reads it from standard input."""
    from photosvc.auth.audit_log import Event
    from photosvc.auth.passwords import check_password
    from photosvc.auth.user_names import check_user_name
    from photosvc.auth.users import add_user, new_user
    from photosvc.web import auditing

    name = check_user_name(name) if name else ask("NAME", "User name", check_user_name)
    password = ask_password(partial(check_password, user_name=name), from_stdin=password_stdin)
    user = new_user(service.now(), name=name, password=password, role=role, display_name=display_name, email=email)
    with service.writing() as session:
        record = _row(add_user(session, user))
        auditing.record(session, Event.USER_ADDED, subject=user, detail=f"role {user.role}")
    print_record(_COLUMNS, record)


@users.command()
@click.argument("search", default="", shell_complete=complete_users)
@count_option
@format_options()
@with_database
def ls(service: "Service", search: str, count: int) -> None:
    """List accounts by name. SEARCH is the beginning of a name, a UID or a role."""
    from photosvc.auth.users import list_users

    with service.loading() as session:
        rows = [_row(user) for user in list_users(session, search=search, limit=count)]
    print_list(_COLUMNS, rows)


@users.command()
@click.argument("name", shell_complete=complete_users)
@format_options()
@with_database
def show(service: "Service", name: str) -> None:
    """Show one account, by its name or UID."""
    from photosvc.auth.users import find_user

    with service.loading() as session:
        row = _row(find_user(session, name))
    print_record(_COLUMNS, row)


@users.command()
@click.argument("name", shell_complete=complete_users)
@click.option("--role", "-r", type=_ROLES, help="Role of the account.")
@click.option("--display-name", "-d", help="Display name.")
@click.option("--email", help="Email address.")
@click.option("--disable/--enable", "disabled", default=None, help="Refuse or accept its credentials.")
@click.option("--disable-2fa", is_flag=True, help="Turn two-factor authentication off.")
@format_options(short=False)
@with_database
def mod(service: "Service", /, name: str, disable_2fa: bool, **changes: Any) -> None:  # noqa: ANN401
    """Change an account."""
    from photosvc.auth import audit_log, second_factor
    from photosvc.auth.audit_log import Event
    from photosvc.auth.users import change_user, find_user
    from photosvc.web import auditing

    changes = {key: value for key, value in changes.items() if value is not None}
    if not changes and not disable_2fa:
        msg = "nothing to change: give at least one option"
        raise click.UsageError(msg)
    now = service.now()
    with service.writing() as session:
        user = find_user(session, name)
        if changes:
            auditing.record(session, Event.USER_CHANGED, subject=user, detail=audit_log.changes(user, changes))
            change_user(session, user, now, keep_admin=False, **changes)
        if disable_2fa:
            second_factor.reset(session, now, user)
            auditing.record(session, Event.SECOND_FACTOR_OFF, subject=user)
        session.flush()
        session.refresh(user)
        record = _row(user)
    print_record(_COLUMNS, record)


@users.command()
@click.argument("name", shell_complete=complete_users)
@yes_option
@with_database
def rm(service: "Service", name: str, yes: bool) -> None:
    """Remove an account and all of its credentials."""
    from photosvc.auth.audit_log import Event
    from photosvc.auth.users import find_user, remove_user
    from photosvc.web import auditing

    with service.loading() as session:
        uid = find_user(session, name).uid
    confirm(f"Remove the account {name} and all of its credentials?", yes=yes)
    with service.writing() as session:
        user = find_user(session, uid)
        auditing.record(session, Event.USER_REMOVED, subject=user)
        remove_user(session, user, keep_admin=False)
    click.echo(f"The account {name} is removed.", err=True)


@users.command()
@click.argument("name", shell_complete=complete_users)
@format_options()
@with_database
def sessions(service: "Service", name: str) -> None:
    """List an account's open login sessions, the most recently used first."""
    from photosvc.auth.bearer import list_sessions
    from photosvc.auth.users import find_user
    from photosvc.records.accounts import OpenSessionSchema

    with service.loading() as session:
        rows = OpenSessionSchema(many=True).dump(list_sessions(session, find_user(session, name), service.now()))
    print_list(_SESSION_COLUMNS, rows)


@users.command()
@click.argument("name", shell_complete=complete_users)
@yes_option
@with_database
def logout(service: "Service", name: str, yes: bool) -> None:
    """End all login sessions of an account; `svc auth rm ID` ends one. Its app passwords stay valid."""
    from photosvc.auth.audit_log import Event
    from photosvc.auth.bearer import end_sessions
    from photosvc.auth.users import find_user
    from photosvc.web.auditing import record

    with service.loading() as session:
        uid = find_user(session, name).uid
    confirm(f"End all login sessions of {name}?", yes=yes)
    with service.writing() as session:
        user = find_user(session, uid)
        count = end_sessions(session, user)
        record(session, Event.SESSION_ENDED, subject=user, detail=f"all ({count})")
    click.echo(f"{counted(count, 'login session')} ended.", err=True)


@users.command()
@yes_option
@with_database
def reset(service: "Service", yes: bool) -> None:
    """Remove every account and all of their credentials."""
    from photosvc.auth.audit_log import Event
    from photosvc.auth.users import remove_all_users
    from photosvc.web import auditing

    confirm("Remove every account and all of their credentials?", yes=yes)
    with service.writing() as session:
        count = remove_all_users(session)
        auditing.record(session, Event.USER_REMOVED, detail=f"all {count} accounts")
    click.echo(f"{counted(count, 'account')} removed.", err=True)


@click.command()
@click.argument("name", shell_complete=complete_users)
@_stdin_option
@with_database
def passwd(service: "Service", name: str, password_stdin: bool) -> None:
    """Change an account's password. Its login sessions end; its app passwords stay valid."""
    from photosvc.auth.audit_log import Event
    from photosvc.auth.passwords import check_password, new_hash
    from photosvc.auth.users import find_user, set_password
    from photosvc.web import auditing

    with service.loading() as session:
        user = find_user(session, name)
    check = partial(check_password, user_name=user.name)
    password = new_hash(ask_password(check, from_stdin=password_stdin), user_name=user.name)
    with service.writing() as session:
        user = find_user(session, user.uid)
        auditing.record(session, Event.PASSWORD_CHANGED, subject=user)
        set_password(session, user, service.now(), password)
    click.echo("The password is changed.", err=True)


def _row(user: "User") -> dict[str, Any]:
    from photosvc.records.accounts import UserSchema

    row: dict[str, Any] = UserSchema().dump(user)
    if user.login_at is None:
        row["LoginAt"] = None
    return row
