"""Proof that the own account's owner is there: the password or a passcode, where a change needs it again."""

from collections.abc import Iterator
from contextlib import contextmanager

from photosvc.auth.audit.events import Event
from photosvc.auth.errors import LoginError
from photosvc.core.errors import InvalidValueError
from photosvc.web.auditing import refuse
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
    try:
        with service.throttle.password_check(service.now(), credential_uid=principal().credential_uid):
            yield
    except LoginError as error:
        refuse(Event.PASSWORD_REFUSED, detail=error.field or "")
        raise InvalidValueError(error.message, field=error.field) from None
