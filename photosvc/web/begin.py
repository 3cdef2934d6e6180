"""The beginning and end of every request, of the API, pages, WebDAV and documents below /.well-known alike."""

from contextlib import suppress
from http import HTTPStatus

from flask import Response, g, request

from photosvc.core.clock import Clock
from photosvc.web.access_log import note_access
from photosvc.web.service import Service, current_service

#: The most that is read of a body after its request was refused, in bytes and in seconds.
_DISCARD_BYTES, _DISCARD_SECONDS, _PIECE = 256 << 20, 2.0, 256 << 10
#: Names in `flask.g` of the request's own values; an app context that is older than the request would keep them.
_OF_REQUEST = (
    "photosvc_principal", "photosvc_refused", "photosvc_request_id", "photosvc_refusal_recorded", "photosvc_by_cookie",
)  # fmt: skip


def begin_request(*, is_ready: bool = True) -> Service:
    """Begin a request and return its service; forget notes of an earlier one in the same app context, as in hosts.

    Args:
        is_ready: False for requests that are answered without the database.

    Raises:
        PhotosvcError: the database does not fit.
    """
    service = current_service()
    noted = vars(g._get_current_object())  # noqa: SLF001 - the proxy would look it up each time
    noted["photosvc_began"] = service.clock.monotonic()
    for name in _OF_REQUEST:
        noted.pop(name, None)
    if is_ready:
        service.require_schema()
        service.follow_key(seldom=True)
        service.warn_of_unread_proxy(request)
    return service


def finish_request(answer: Response) -> Response:
    """End the transaction of a request, and log it if that is set.

    The hooks of a host app come later and may commit: on SQLite, an open transaction of ours could block that.
    """
    service = current_service()
    service.close()
    if answer.status_code >= HTTPStatus.BAD_REQUEST and service.settings.proxies:
        _discard_body(service.clock)
    if service.settings.access_log:
        note_access(answer, g.get("photosvc_began"))
    return answer


def _discard_body(clock: Clock) -> None:
    """Read the rest of a refused body, which the proxy in front has whole: a proxy that cannot send it answers 502."""
    end, left, body = clock.monotonic() + _DISCARD_SECONDS, _DISCARD_BYTES, request.environ["wsgi.input"]
    with suppress(OSError, ValueError):  # the server says so itself
        while left > 0 and clock.monotonic() < end and (piece := body.read(_PIECE)):
            left -= len(piece)
