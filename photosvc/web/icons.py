"""Icons in place of pictures that cannot be shown, for clients that asked for an image and for pages."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Final, ParamSpec

from flask import Response, request

from photosvc.core.errors import PhotosvcError
from photosvc.web.errors import error_answer

Args = ParamSpec("Args")
_ICON: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="96" height="96" fill="none" stroke="#888" '
    b'stroke-width="1.5"><rect x="3" y="5" width="18" height="14" rx="2"/><circle cx="8.5" cy="10" r="1.5"/>'
    b'<path d="M4 17l5-4 4 3 3-2 4 3"/><path d="M3 3l18 18"/></svg>'
)
#: The same icon, small in the middle of a space of any shape.
_SMALL_ICON: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120" width="1200" height="1200" fill="none" '
    b'stroke="#888" stroke-width="1.5"><g transform="translate(48 48)">'
    + _ICON[_ICON.index(b"<rect") : -6]
    + b"</g></svg>"
)
#: Caching of the icon by a page: pictures that cannot be decoded are not tried again for as long.
_REMEMBERED: Final = "private, max-age=300"
_TYPE: Final = "image/svg+xml"
_QUIET: Final = frozenset(
    {
        HTTPStatus.NOT_FOUND,
        HTTPStatus.GONE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
#: Limit, because Werkzeug takes quadratic time for blanks in `Accept`, even for requests without a valid token.
_LONGEST_ACCEPT: Final = 1000


def or_icon(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Answer errors of the view with an icon and the same status if `Accept` names image types."""

    @wraps(view)
    def shown(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        try:
            return view(*args, **kwargs)
        except PhotosvcError as error:
            if error.status == HTTPStatus.INTERNAL_SERVER_ERROR or not accepts("image/"):
                raise
            answer = error_answer(error)
            answer.data, answer.content_type = _ICON, _TYPE
            answer.headers["Vary"] = "Accept"
            return answer

    return shown


def quiet(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Answer errors that are no fault of the page with 2xx if the address has `quiet`: browsers would log them.

    A picture that is not ready is 202 without a body, with `Retry-After`; one that cannot be shown is an icon.
    """

    @wraps(view)
    def shown(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        try:
            return view(*args, **kwargs)
        except PhotosvcError as error:
            if not is_quiet() or error.status not in _QUIET:
                raise
            answer = error_answer(error)
            if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
                answer.data, answer.status_code = b"", HTTPStatus.ACCEPTED
            else:
                answer.data, answer.status_code, answer.content_type = _SMALL_ICON, HTTPStatus.OK, _TYPE
                answer.headers["Cache-Control"] = _REMEMBERED
            return answer

    return shown


def is_quiet() -> bool:
    """Return whether the address has the parameter `quiet`."""
    return "quiet" in request.args


def accepts(start: str) -> bool:
    """Return whether `Accept` names a media type that begins with `start`; False for a header over 1,000 characters."""
    given = request.headers.get("Accept", "")
    if start not in given or len(given) > _LONGEST_ACCEPT:
        return False
    return any(kind.startswith(start) for kind, quality in request.accept_mimetypes if quality > 0)
