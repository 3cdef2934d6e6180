"""The session cookie of the web page: the access token of a browser's login session.

All other clients show a header; the cookie of a request with such a header is ignored.
"""

from typing import Final
from urllib.parse import urlsplit

from flask import Request, Response, after_this_request, current_app, g

from photosvc.auth.principal import Principal
from photosvc.auth.service_key import fingerprint
from photosvc.core import ids
from photosvc.web.browser_origin import CookiePlace, cookie_counts
from photosvc.web.service import Service, current_service

#: The attribute of a view for the place at which its cookie counts; without it, the API.
PLACE: Final = "photosvc_place"
#: The blueprint of the API, and its inner blueprint of OAuth clients, which show secrets of their own.
_API: Final = "photosvc"
_OAUTH: Final = "oauth"
#: Key in `flask.g`: the request acts by the cookie.
_USED: Final = "photosvc_by_cookie"


def cookie_token(request: Request) -> str | None:
    """Return the access token in the cookie of a request; None if there is none or it does not count.

    Raises:
        OtherSiteError: a page of another site sent the request.
    """
    service = current_service()
    if service.pages_path is None:
        return None
    token = request.cookies.get(cookie_name(request, service))
    place = _place(request)
    if token is None or place is None or not ids.is_access_token(token):
        return None
    if not cookie_counts(request, place, service.settings.base_url):
        return None
    setattr(g, _USED, True)
    after_this_request(_keep_from_others)
    return token


def by_cookie() -> bool:
    """Return whether the current request acts by the session cookie."""
    return bool(g.get(_USED))


def set_cookie(answer: Response, request: Request, token: str, who: Principal, *, stay: bool) -> None:
    """Set the cookie of the token; `stay` keeps it when the browser is closed, until the session ends."""
    service = current_service()
    seconds = who.expires_in(service.now()) if stay else None
    _write(answer, request, service, token, seconds)


def clear_cookie(answer: Response, request: Request) -> None:
    """Delete the cookie of the token."""
    _write(answer, request, current_service(), "", 0)


def cookie_name(request: Request, service: Service) -> str:
    """Return the name of the cookie: cookies have no port, so services of one host would overwrite each other's."""
    name = f"photosvc-{fingerprint(service.settings.secret_key) & 0xFFFFFF:06x}"
    return f"__Host-{name}" if is_secure(request, service) else name


def _keep_from_others(answer: Response) -> Response:
    """Forbid pages of other sites to show the answer to a session cookie, and caches to give it to other users."""
    answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    answer.vary.add("Cookie")
    return answer


def _write(answer: Response, request: Request, service: Service, token: str, seconds: int | None) -> None:
    secure = is_secure(request, service)
    below = f"{request.root_path}{service.pages_path or ''}".rstrip("/")
    answer.set_cookie(
        cookie_name(request, service),
        token,
        max_age=seconds,
        path="/" if secure else below or "/",
        secure=secure,
        httponly=True,
        samesite="Strict",
    )


def is_secure(request: Request, service: Service) -> bool:
    """Return whether the browser uses https: over http it drops secure cookies.

    The base address says so even where a proxy does not report https.
    """
    base = urlsplit(service.settings.base_url)
    return request.is_secure or (base.scheme == "https" and request.environ.get("HTTP_HOST", "").lower() == base.netloc)


def _place(request: Request) -> CookiePlace | None:
    view = current_app.view_functions.get(request.endpoint or "")
    place: CookiePlace | None = getattr(view, PLACE, None)
    parent, _, name = (request.blueprint or "").rpartition(".")
    return place or (CookiePlace.API if parent == _API and name != _OAUTH else None)
