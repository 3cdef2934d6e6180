"""A log-in between its two steps: that a password was right, in a text that the sign-in page sends back with the code.

The text is signed and valid for five minutes, so the page need not keep the password. It opens nothing by itself.
"""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from photosvc.auth.credentials.login_sessions import Proof
from photosvc.auth.errors import InvalidCredentialsError, PasscodeRequiredError
from photosvc.auth.keys import derive_key, is_signed, sign
from photosvc.models import User
from photosvc.settings import Settings

#: Seconds to type the code.
SECONDS: Final = 300
_SEPARATOR: Final = "."
_LONGEST: Final = 200
_PURPOSE: Final = "half log-in"


def begin(settings: Settings, now: datetime, error: PasscodeRequiredError) -> str:
    """The text for the account whose password was right."""
    expires = int(now.timestamp()) + SECONDS
    message = _SEPARATOR.join(map(str, (error.user_id, error.password_version, expires)))
    return message + _SEPARATOR + sign(derive_key(settings.secret_key, _PURPOSE), message)


def account_of(connection: Connection, settings: Settings, now: datetime, text: str) -> tuple[Proof, str]:
    """The proof of the password without the code, and the name of the account.

    Raises:
        InvalidCredentialsError: this service did not make the text, it is too old, or the account was removed.

    """
    message, _, signature = text[:_LONGEST].rpartition(_SEPARATOR)
    if not is_signed(derive_key(settings.secret_key, _PURPOSE), message, signature):
        raise InvalidCredentialsError
    user_id, version, expires = map(int, message.split(_SEPARATOR))
    name = connection.scalar(select(User.name).where(User.id == user_id))
    if name is None or now.timestamp() >= expires:
        raise InvalidCredentialsError
    return Proof(user_id=user_id, password_version=version), name
