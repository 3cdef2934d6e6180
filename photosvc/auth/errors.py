"""Errors of authentication and authorization; their messages do not reveal whether a name exists."""

from http import HTTPStatus

from photosvc.core.errors import ConflictError, InvalidValueError, PermissionDeniedError, PhotosvcError


class ScopeTooWideError(InvalidValueError):
    """The requested scope is wider than that of the credential."""


class InvalidTokenError(PhotosvcError):
    """The access token is missing, expired or not valid."""

    status = HTTPStatus.UNAUTHORIZED
    shown = True
    """False if the request shows no token at all."""


class ExpiredTokenError(InvalidTokenError):
    """The access token is missing, expired or not valid."""  # as its base class: no reason is revealed

    def __init__(self, credential_id: int) -> None:
        super().__init__()
        self.credential_id = credential_id


class InsufficientScopeError(PermissionDeniedError):
    """The credential's scope does not cover this.

    Args:
        scope: the scope that is needed (RFC 6750 section 3.1).
    """

    def __init__(self, scope: str) -> None:
        super().__init__(f"Permission denied: this needs the scope {scope}.")
        self.scope = scope


class LoginError(PhotosvcError):
    """The log-in failed.

    `code` tells clients of the session endpoint the reason.
    """

    status = HTTPStatus.UNAUTHORIZED
    code: int = 401


class InvalidCredentialsError(LoginError):
    """Invalid credentials."""


class PasscodeRequiredError(LoginError):
    """A passcode is required.

    Args:
        user_id: the account whose password was right; 0 if only the code was missing.
        password_version: of that password.
        field: the missing parameter.
    """

    code = 32

    def __init__(self, *, user_id: int = 0, password_version: int = 0, field: str | None = None) -> None:
        super().__init__(field=field)
        self.user_id, self.password_version = user_id, password_version


class InvalidPasscodeError(LoginError):
    """Invalid passcode."""

    code = 33


class ClientLoginError(PermissionDeniedError):
    """Clients and their tokens cannot log in: use the token directly."""


class PasswordNeededError(PermissionDeniedError):
    """Send your password again, to POST /session/confirm: the last time was over an hour ago."""


class LinkTokenError(PermissionDeniedError):
    """The token in this link is not valid (any more): ask for a new link."""


class ThrottledError(PhotosvcError):
    """Too many failures: try again later.

    Args:
        retry_after: seconds to wait, at least 1 (RFC 6585 section 4).
        what: the events of which there were too many, in the plural.
    """

    status = HTTPStatus.TOO_MANY_REQUESTS
    limit = "failures"

    def __init__(self, retry_after: int, what: str = "failures") -> None:
        super().__init__(f"Too many {what}: try again in {retry_after} s.")
        self.retry_after = retry_after


class BusyError(PhotosvcError):
    """Too many passwords are being checked: try again in a moment."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 1
    limit = "passwords"


class OtherServiceKeyError(PhotosvcError):
    """The database belongs to another service key than this process has; its operator must correct that.

    With a wrong key, second factors could not be checked, and links that other processes made would open nothing.
    """

    status = HTTPStatus.SERVICE_UNAVAILABLE


class UserExistsError(ConflictError):
    """A user of this name exists already."""


class AppPasswordLimitError(ConflictError):
    """The account has the most app passwords allowed: revoke one that is no longer used."""


class LastAdminError(ConflictError):
    """The last enabled administrator must remain: make another user an administrator first."""


class OwnSecondFactorError(ConflictError):
    """Turn your own second factor off with your password and a code, by POST to passcode/disable."""


class SecondFactorStateError(ConflictError):
    """Two-factor authentication is already on, or has not been set up."""
