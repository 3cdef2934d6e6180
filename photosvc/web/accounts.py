"""The account a path names; the resource protector has decided before that the request may touch it."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import request

from photosvc.auth.accounts import users
from photosvc.auth.errors import LoginError
from photosvc.auth.throttle import attempts
from photosvc.core.errors import InvalidValueError
from photosvc.models import User
from photosvc.models.database import begin_write
from photosvc.web.current import current_service
from photosvc.web.protector import principal


def find_account(user_uid: str) -> User:
    """The account with this UID.

    Raises:
        NotFoundError: there is none.

    """
    return users.find_user(current_service().session, user_uid)


def find_account_to_change(user_uid: str) -> User:
    """The same, inside a transaction that will write."""
    begin_write(current_service().session)
    return find_account(user_uid)


@contextmanager
def proving() -> Iterator[None]:
    """Wrap a check of the own account's password or passcode: failures are counted, too many end in 429.

    Raises:
        InvalidValueError: it is wrong. Not a 401: clients take that for the end of their session and log in again.

    """
    service = current_service()
    check = attempts.password_check(
        service.failures,
        service.session,
        service.now(),
        credential_uid=principal().credential_uid,
        address=request.remote_addr or "",
    )
    try:
        with check:
            yield
    except LoginError as error:
        raise InvalidValueError(error.message, field=error.field) from None
