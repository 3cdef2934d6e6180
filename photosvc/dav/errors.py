"""The errors of WebDAV: conditions as XML (RFC 4918 section 16), all others in the form of the API."""

from collections.abc import Collection, Iterable
from http import HTTPStatus

from flask import Response

from photosvc.auth.errors import InvalidTokenError
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.dav.xml import CONTENT_TYPE, DAV, document, element, text
from photosvc.web import errors
from photosvc.web.errors import BASIC, Failure, render

#: Conditions of RFC 4918 section 16.
TOKEN_SUBMITTED, TOKEN_MATCHES = "lock-token-submitted", "lock-token-matches-request-uri"
NO_CONFLICT, FINITE_DEPTH = "no-conflicting-lock", "propfind-finite-depth"


def error_answer(error: Exception) -> Response:
    """Answer a failed request; without a valid credential, ask for one as Basic or Bearer."""
    return errors.error_answer(error, _render)


class DAVError(Exception):
    """The failure of a request, which has a status and maybe a condition of RFC 4918 section 16.

    Args:
        message: the sentence of the answer; by default the phrase of the status.
        condition: the name of the condition that is not met; the answer then is XML.
        paths: the resources that the condition is about, unquoted below the folder of originals, or as `addresses.key`.
    """

    def __init__(
        self, status: HTTPStatus, message: str = "", *, condition: str = "", paths: Collection[str] = ()
    ) -> None:
        super().__init__(message or status.phrase)
        self.status = status
        self.condition = condition
        self.paths = paths


class ChangedMeanwhileError(ConflictError):
    """Another request changed the file or folder at the same time; try again."""


def dav_error_answer(error: DAVError, mount: str) -> Response:
    """Answer a request that failed with an error of WebDAV.

    Args:
        mount: the quoted address of the folder of originals, for the names of resources in conditions.
    """
    if not error.condition:
        return render(Failure(error, error.status, str(error)))
    paths = "".join(element(f"{DAV}href", text(mount + path)) for path in error.paths)
    content = document("error", element(f"{DAV}{error.condition}", paths))
    return Response(content, error.status, content_type=CONTENT_TYPE)


def locked(condition: str, roots: Iterable[str]) -> DAVError:
    """Return the error 423 that names the locked resources.

    Args:
        condition: `TOKEN_SUBMITTED`, or `NO_CONFLICT` for a new lock.
        roots: the locked resources, in the form of `addresses.key`.
    """
    return DAVError(HTTPStatus.LOCKED, condition=condition, paths=list(dict.fromkeys(roots)))


def _render(failure: Failure) -> Response:
    answer = render(failure)
    if isinstance(failure.error, InvalidTokenError):
        others = answer.headers.getlist("WWW-Authenticate")
        answer.headers.setlist("WWW-Authenticate", [BASIC, *others])  # some clients read only the first
        answer.headers["Connection"] = "close"  # the body, if any, is not read
    return answer


class UnfitPathError(PhotosvcError):
    """No file or folder can have this address."""

    status = HTTPStatus.BAD_REQUEST


class ForeignAddressError(PhotosvcError):
    """The address is on another server, or outside of the folder of originals."""

    status = HTTPStatus.BAD_GATEWAY
