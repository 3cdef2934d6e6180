"""The login session of a browser: its access token in a cookie, for the web page.

All other clients show a header; a request with one has no cookie as far as this service is concerned.
"""

from typing import Final
from urllib.parse import urlsplit

from flask import Request, Response, after_this_request, current_app, g

from photosvc.auth.principal import Principal
from photosvc.auth.service_key import fingerprint
from photosvc.core import ids
from photosvc.web.current import Service, current_service
from photosvc.web.requests.same_origin import Place, cookie_counts

#: The attribute of a view that says what its cookie is shown to; of the API, unless it is there.
PLACE: Final = "photosvc_place"
_API: Final = "photosvc"
#: In `flask.g`: that the request acts by the cookie.
_USED: Final = "photosvc_by_cookie"


def cookie_token(request: Request) -> str | None:
    """The access token in the cookie of a request; None where there is none or it does not count.

    Raises:
        OtherSiteError: a page of others sent the request.

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
    """Whether the current request acts by the session cookie."""
    return bool(g.get(_USED))


def set_cookie(answer: Response, request: Request, token: str, who: Principal, *, stay: bool) -> None:
    """Give the browser the token; `stay` keeps it when the browser is closed, until the session ends."""
    service = current_service()
    seconds = who.expires_in(service.now()) if stay else None
    _write(answer, request, service, token, seconds)


def clear_cookie(answer: Response, request: Request) -> None:
    """Let the browser forget the token."""
    _write(answer, request, current_service(), "", 0)


def cookie_name(request: Request, service: Service) -> str:
    """The name of the cookie: cookies have no port, so services of one host would overwrite each other's."""
    name = f"photosvc-{fingerprint(service.settings.secret_key) & 0xFFFFFF:06x}"
    return f"__Host-{name}" if _is_secure(request, service) else name


def _keep_from_others(answer: Response) -> Response:
    """No page of others shows what the session of a browser opened, and no cache gives it to others."""
    answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    answer.vary.add("Cookie")
    return answer


def _write(answer: Response, request: Request, service: Service, token: str, seconds: int | None) -> None:
    secure = _is_secure(request, service)
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


def _is_secure(request: Request, service: Service) -> bool:
    """Whether the browser uses https, also through a proxy that does not say so; over http it drops secure cookies."""
    base = urlsplit(service.settings.base_url)
    return request.is_secure or (base.scheme == "https" and request.environ.get("HTTP_HOST", "").lower() == base.netloc)


def _place(request: Request) -> Place | None:
    view = current_app.view_functions.get(request.endpoint or "")
    place: Place | None = getattr(view, PLACE, None)
    return place or (Place.API if request.blueprint == _API else None)
