"""Errors as pages; without a session, users are led to the sign-in page and back."""

from http import HTTPStatus
from typing import Any, Final

from flask import Request, Response, request, url_for

from photosvc.auth.errors import InvalidTokenError
from photosvc.core.errors import PhotosvcError
from photosvc.pages.language import N_
from photosvc.pages.layout import add_page_headers, current_path, form_path, pages, see_other, show
from photosvc.web.browser_origin import OtherSiteError
from photosvc.web.cookie import by_cookie, clear_cookie
from photosvc.web.errors import Failure, error_answer

_TITLES: Final = {
    400: N_("Invalid request"), 403: N_("No permission"), 404: N_("Not found"), 405: N_("Not found"),
    429: N_("Too many attempts"), 503: N_("Not now"),
}  # fmt: skip
#: Values of `Sec-Fetch-Site` when a user types the address, or follows a link of ours.
_HERE: Final = frozenset({"same-origin", "none"})


@pages.errorhandler(Exception)
def answer_error(error: Exception) -> Response:
    """Answer an error of a page as a page."""
    return error_answer(error, render_page)


def render_page(failure: Failure) -> Response:
    """Render a failure as a page, or lead to the sign-in page."""
    if isinstance(failure.error, InvalidTokenError):
        return _lead_to_sign_in()
    title = title_of(failure.status)
    is_other = isinstance(failure.error, OtherSiteError)
    unsent = request.method == "POST"
    answer = show("error", failure.status, title=title, message=failure.message, other=is_other, unsent=unsent)
    return add_page_headers(answer)


def title_of(status: int) -> str:
    """Return the title of a page about an error of this status."""
    return _TITLES.get(status, N_("Something went wrong"))


def wants_page(request: Request) -> bool:
    """Return whether a browser opens an address that belongs neither to the API nor to WebDAV."""
    inside = request.path.startswith(("/api/", "/.well-known/", "/originals/"))
    return not inside and request.method == "GET" and "text/html" in request.headers.get("Accept", "")


def _lead_to_sign_in() -> Response:
    unsent = request.method not in {"GET", "HEAD"}
    back = form_path() if unsent else current_path()
    target = url_for("photosvc_pages.sign_in", next=back or None, unsent="1" if unsent else None)
    # After a link on another site, the browser has not sent the cookie; it does with a request from a page of ours.
    at_home = request.headers.get("Sec-Fetch-Site") in _HERE
    answer = see_other(target) if at_home else show("onward", target=target)
    if by_cookie():  # its session has ended
        clear_cookie(answer, request)
    return answer


def show_form(
    template: str,
    error: PhotosvcError | None = None,
    *,
    done_texts: dict[str, str] | None = None,
    unauthorized: HTTPStatus = HTTPStatus.BAD_REQUEST,
    **context: Any,  # noqa: ANN401 - what templates read
) -> Response:
    """Render a page with a form, and the error of the form that was sent.

    Args:
        done_texts: the messages of success, by the value of `done` in the address to which forms lead.
        unauthorized: the status in place of 401, which is for credentials in headers and must name their scheme.
    """
    if done_texts is not None:
        context["done"] = done_texts.get(request.args.get("done", ""), "") if error is None else ""
    if error is None:
        return show(template, error=None, **context)
    status = unauthorized if error.status == HTTPStatus.UNAUTHORIZED else error.status
    answer = show(template, status, error=error, **context)
    if error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer
