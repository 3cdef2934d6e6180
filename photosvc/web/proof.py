"""Proof that a request comes from the owner of the account, beyond the token it shows."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import request

from photosvc.auth.errors import LoginError
from photosvc.core.errors import InvalidValueError
from photosvc.web.current import current_service
from photosvc.web.protector import principal


@contextmanager
def proving() -> Iterator[None]:
    """Wrap a check of the own account's password or passcode; the wrapped code opens its own transactions.

    Raises:
        InvalidValueError: it is wrong. Not a 401, which clients take for the end of their session.
        ThrottledError: too many were wrong; the wrapped code did not run.

    """
    service = current_service()
    credential_uid, address = principal().credential_uid, request.remote_addr or ""
    try:
        with service.throttle.password_check(service.now(), credential_uid=credential_uid, address=address):
            yield
    except LoginError as error:
        raise InvalidValueError(error.message, field=error.field) from None
