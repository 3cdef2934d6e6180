"""What all pages share: their access, their frame, and their headers."""

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from flask import Response, current_app, g, make_response, url_for
from jinja2 import Environment

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.pages.administration.sections import sections_of
from photosvc.pages.asset_files import asset_version
from photosvc.web.actions import public
from photosvc.web.current import current_service
from photosvc.web.protector import require
from photosvc.web.requests.same_origin import Place
from photosvc.web.sessions.session_cookie import PLACE, by_cookie

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])

#: The endpoint of the OpenAPI document, which a host app may leave out.
API_DOCUMENT: Final = "photosvc.openapi"
#: In the extensions of an app.
_TEMPLATES: Final = "photosvc_templates"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'{}; media-src 'self'; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = (
    ("Content-Security-Policy", _POLICY.format("")),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    # Not `no-referrer`: browsers would send `Origin: null` with our own forms, as if they were those of others.
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


def page(action: str, *, own: bool = False) -> Callable[[Callable[Args, Answer]], Callable[Args, Answer]]:
    """Let a page open only for principals that the policy allows `action`; see `web.protector.require`."""

    def protect(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
        protected = require(action, own=own)(view)
        setattr(protected, PLACE, Place.PAGE)
        return protected

    return protect


def public_page(view: View) -> View:
    """Let a page open without a session; it may ask who is signed in."""
    setattr(view, PLACE, Place.PAGE)
    public(view)
    return view


def show(template: str, status: int = 200, **context: Any) -> Response:  # noqa: ANN401 - what templates read
    """A page made from `photosvc/<template>.html`, within the frame of all pages."""
    who: Principal | None = g.get("photosvc_principal")
    values = {
        "site": current_service().settings.site_name,
        "me": who,
        "leaves": by_cookie(),  # not the user of a host app, who signs out there
        "settings": who is not None and may(who, "users.view", owner_uid=who.user_uid),
        "administration": next((section.endpoint for section in sections_of(who)), ""),
        "api_docs": API_DOCUMENT in current_app.view_functions,
        "sees_albums": who is not None and may(who, "albums.search"),
        "sees_places": who is not None and may(who, "photos.clusters"),
        "asset": asset,
        **context,
    }
    current_app.update_template_context(values)
    text = _templates().get_template(f"photosvc/{template}.html").render(values)
    answer = make_response(text, status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _templates() -> Environment:
    """The templates of the app and ours, which escape values whatever those of a host app do."""
    known: Environment | None = current_app.extensions.get(_TEMPLATES)
    if known is None:
        current_app.extensions[_TEMPLATES] = known = current_app.jinja_env.overlay(autoescape=True)
    return known


def see_other(target: str) -> Response:
    """Lead on to the address `target`, which a GET opens."""
    answer = Response(status=303)
    answer.headers["Location"] = target
    answer.headers["Cache-Control"] = "no-store"
    return answer


def asset(name: str) -> str:
    """The address of a style sheet, script or picture of the pages."""
    return url_for("photosvc_pages.asset", version=asset_version(), name=name)


def allow_pictures(answer: Response, origin: str) -> None:
    """Let this page show pictures of another origin, which the settings name: `https://tiles.example.org`."""
    answer.headers["Content-Security-Policy"] = _POLICY.format(f" {origin}")


def add_page_headers(answer: Response) -> Response:
    """Add the headers of every page: what it may load, who may show it, and that it depends on the cookie."""
    for name, value in _HEADERS:
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", "no-store")
    if "public" not in answer.headers["Cache-Control"]:
        answer.vary.add("Cookie")
    return answer
