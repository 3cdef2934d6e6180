"""Errors with a message for users; each class has an HTTP status and a CLI exit code."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, TypedDict

#: The program in a message that names a command.
_COMMAND: Final = re.compile(r"(?<![\w/.-])(?<!flask )svc (?=[a-z])")


def in_host(message: str) -> str:
    """Return the message with the commands of a host app: `flask svc …` in place of `svc …`."""
    return _COMMAND.sub("flask svc ", message) if _COMMAND.search(message) else message


class Detail(TypedDict):
    """The fault of one field, in the form of error answers."""

    field: str
    message: str


class PhotosvcError(Exception):
    """Something went wrong.

    The message is safe to show to any client: it never contains a secret, SQL or a path outside the library.

    Args:
        message: one sentence; the first line of the class docstring when left out.
        field: name of the invalid parameter, column or option, as the caller wrote it.
        status: the HTTP status in place of that of the class.
        exit_code: the exit code of the command in place of that of the class.
        retry_after: seconds after which another try may succeed (RFC 9110 section 10.2.3), in place of the
            seconds of the class.
    """

    status: HTTPStatus = HTTPStatus.INTERNAL_SERVER_ERROR
    exit_code: int = 1
    retry_after: int | None = None
    limit: str = ""
    """The limit that refused the request, a word of `web.refusals.LIMITS`; empty for other reasons."""
    details: Sequence[Detail] = ()
    """The faults of several fields."""
    done: Mapping[str, object] = MappingProxyType({})
    """The part of the change that was stored nevertheless, with the names of a successful answer."""

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        status: HTTPStatus | None = None,
        exit_code: int | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.message = message or (self.__doc__ or "").strip().splitlines()[0]
        self.field = field
        self.status = status or self.status
        self.exit_code = exit_code or self.exit_code
        self.retry_after = retry_after or self.retry_after
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all attributes."""
        return (restore_error, (type(self), dict(self.__dict__)))


def restore_error(kind: type[PhotosvcError], state: dict[str, object]) -> PhotosvcError:
    """Return an error of this class with these attributes, without calling its constructor."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (state["message"],)
    return error


class InvalidValueError(PhotosvcError):
    """A value is not valid."""

    status = HTTPStatus.BAD_REQUEST
    exit_code = 2


class NotFoundError(PhotosvcError):
    """No such thing."""

    status = HTTPStatus.NOT_FOUND
    exit_code = 3


class ConflictError(PhotosvcError):
    """It exists already, or changed meanwhile."""

    status = HTTPStatus.CONFLICT
    exit_code = 1


class PermissionDeniedError(PhotosvcError):
    """Permission denied."""

    status = HTTPStatus.FORBIDDEN
    by_credential = True
    """True if another credential could be permitted; the answer then says how to authenticate."""


class NeverPermittedError(PermissionDeniedError):
    """Permission denied, with any credential."""

    by_credential = False


class SettingError(PhotosvcError):
    """A setting is unknown or invalid."""

    exit_code = 2


class SchemaError(PhotosvcError):
    """The database schema is missing or old: run `svc db upgrade`."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
