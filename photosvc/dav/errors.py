"""The errors of WebDAV: conditions as XML (RFC 4918 section 16), all others in the form of the API."""

import logging
from collections.abc import Iterable
from http import HTTPStatus

from flask import Response
from wsgidav.dav_error import HTTP_LOCKED, DAVError, DAVErrorCondition

from photosvc.auth.errors import InvalidTokenError
from photosvc.core.errors import PhotosvcError
from photosvc.web import errors
from photosvc.web.errors import Failure, render

_LOG = logging.getLogger("photosvc")
_CHALLENGE = 'Basic realm="photosvc", charset="UTF-8"'
_XML = "application/xml; charset=utf-8"


def error_answer(error: Exception) -> Response:
    """Answer a failed request; without a valid credential, ask for one as Basic or Bearer."""
    return errors.error_answer(error, _render)


def dav_error_answer(error: DAVError, mount: str) -> Response:
    """Answer a request that failed with an error of WsgiDAV.

    Args:
        error: the error; its own text is shown, not that of its cause, which can contain paths on disk.
        mount: the quoted address of the folder of originals, for the names of resources in conditions.

    """
    if error.value >= HTTPStatus.INTERNAL_SERVER_ERROR and error.src_exception is not None:
        return error_answer(error.src_exception)
    if error.value == HTTPStatus.NOT_MODIFIED:
        return Response(status=error.value)
    condition = error.err_condition
    if condition is not None:
        condition.hrefs = [mount + href for href in condition.hrefs]
        return Response(condition.as_string(), error.value, content_type=_XML)
    message = error.context_info or HTTPStatus(error.value).phrase
    return render(Failure(error, error.value, message))


def locked(condition: str, roots: Iterable[str]) -> DAVError:
    """Return the error 423 that names the locked resources.

    Args:
        condition: from RFC 4918 section 16: `lock-token-submitted`, or `no-conflicting-lock` for a new lock.
        roots: the locked resources, in the form of `addresses.key`.

    """
    named = DAVErrorCondition(condition)
    for root in roots:
        named.add_href(root)
    return DAVError(HTTP_LOCKED, err_condition=named)


def _render(failure: Failure) -> Response:
    answer = render(failure)
    if isinstance(failure.error, InvalidTokenError):
        others = answer.headers.getlist("WWW-Authenticate")
        answer.headers.setlist("WWW-Authenticate", [_CHALLENGE, *others])  # some clients read only the first
        answer.headers["Connection"] = "close"  # the body, if any, is not read
    return answer


class UnfitPathError(PhotosvcError):
    """No file or folder can have this address."""

    status = HTTPStatus.BAD_REQUEST


class ForeignAddressError(PhotosvcError):
    """The address is on another server, or outside of the folder of originals."""

    status = HTTPStatus.BAD_GATEWAY
