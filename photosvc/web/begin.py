"""The beginning and end of every request, of the API, pages, WebDAV and documents below /.well-known alike."""

from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from flask import Blueprint, Request, Response, g, request

from photosvc.core.clock import Clock
from photosvc.web.access_log import note_access
from photosvc.web.browser_origin import OtherSiteError, changes
from photosvc.web.service import Service, current_service

#: The most that is read of a body after its request was refused, in bytes and in seconds.
_DISCARD_BYTES, _DISCARD_SECONDS, _PIECE = 256 << 20, 2.0, 256 << 10
#: Names in `flask.g` of the request's own values; an app context that is older than the request would keep them.
_OF_REQUEST = (
    "photosvc_principal", "photosvc_refused", "photosvc_request_id", "photosvc_refusal_recorded", "photosvc_by_cookie",
)  # fmt: skip


def add_hooks(
    blueprint: Blueprint,
    *,
    add_headers: Callable[[Response], Response],
    needs_database: Callable[[str], bool] = lambda _endpoint: True,
    is_foreign: Callable[[Request, str], bool] = lambda _request, _base_url: False,
) -> None:
    """Let every request of a blueprint begin and end as requests of this service do.

    Args:
        add_headers: adds the headers of all answers.
        needs_database: returns whether requests for an endpoint are answered with the database.
        is_foreign: returns whether a page of another site may have sent a request, which may change something, to the
            service at this base address.
    """

    @blueprint.before_request
    def begin() -> None:
        ready = needs_database(request.endpoint or "")
        service = _begin_request(needs_database=ready)
        if ready and changes(request) and is_foreign(request, service.settings.base_url):
            raise OtherSiteError

    @blueprint.after_request
    def end(answer: Response) -> Response:
        return _finish_request(add_headers(answer))


def _begin_request(*, needs_database: bool) -> Service:
    """Begin a request and return its service; forget notes of an earlier one in the same app context, as in hosts.

    Raises:
        PhotosvcError: the database does not fit.
    """
    service = current_service()
    notes = vars(g._get_current_object())  # noqa: SLF001 - the proxy would look it up each time
    notes["photosvc_began"] = service.clock.monotonic()
    for name in _OF_REQUEST:
        notes.pop(name, None)
    if needs_database:
        service.require_schema()
        service.follow_key(seldom=True)
        service.warn_of_missing_address()
        service.warn_of_unread_proxy(request)
    return service


def _finish_request(answer: Response) -> Response:
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
