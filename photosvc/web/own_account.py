"""Changes of the own account, confirmed with its password, of requests to the API or the web page."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from photosvc.auth import accounts, credentials, passwords, users
from photosvc.auth.operation import Operation
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.auth.second_factor import find_proven, prove_password
from photosvc.models import User
from photosvc.records.accounts import CredentialSchema
from photosvc.web.auditing import operating
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.sessions import proving

Answer = TypeVar("Answer")
_CREDENTIAL = CredentialSchema()


def with_password(user_uid: str, password: str, change: Callable[[Operation, User], Answer]) -> Answer:
    """Check the account's password; return the result of `change` in a transaction in which it is still the same.

    Raises:
        InvalidValueError: the password is wrong.
        ThrottledError: too many passwords were wrong.
    """
    user = _find(user_uid)
    with proving():
        prove_password(user, password)
        with operating() as operation:
            return change(operation, find_proven(operation.session, user))


def add_app_password(user_uid: str, *, name: str, scope: str, lifetime: int, password: str) -> dict[str, Any]:
    """Create an app password as `credentials.issue` does; return its record, the only one with the secret.

    Raises:
        InvalidValueError: the password is wrong.
        ThrottledError: too many passwords were wrong.
    """
    wanted = parse_scope(scope)
    check_grantable(principal(), wanted)  # before the password is checked and counted

    def issue(operation: Operation, user: User) -> dict[str, Any]:
        issued = credentials.issue(operation, user, name=name, scope=wanted, lifetime=lifetime)
        return {**_CREDENTIAL.dump(issued.credential), "secret": issued.secret}

    return with_password(user_uid, password, issue)


def change_password(user_uid: str, *, old: str, new: str, code: str | None) -> None:
    """Change the password; other login sessions of the account end, its app passwords stay valid.

    Raises:
        InvalidValueError: the old password, the new one or the code of the second factor is not valid.
        ThrottledError: too many passwords were wrong.
    """
    user = _find(user_uid)
    with proving():
        prove_password(user, old, field="old")
        fresh = passwords.new_hash(new, user_name=user.name, field="new")
        with operating() as operation:
            proven = find_proven(operation.session, user, field="old")
            accounts.change_own_password(operation, proven, fresh, code=code)


def confirm_second_factor(user_uid: str, code: str) -> tuple[str, ...]:
    """Turn two-factor authentication on as `accounts.confirm_second_factor` does.

    Raises:
        InvalidValueError: the code is wrong.
        ThrottledError: too many codes were wrong.
    """
    with proving(), operating() as operation:
        return accounts.confirm_second_factor(operation, user_uid, code)


def end_second_factor(user_uid: str, *, password: str, code: str | None) -> None:
    """Turn two-factor authentication off as `accounts.end_second_factor` does.

    Raises:
        InvalidValueError: the password or the code is wrong.
        ThrottledError: too many passwords or codes were wrong.
    """
    with_password(user_uid, password, partial(accounts.end_second_factor, code=code))


def _find(user_uid: str) -> User:
    with current_service().reading(orm=True) as session:
        return users.find_user(session, user_uid)
