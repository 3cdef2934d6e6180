"""What all pages share: their access, their frame, and their headers."""

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from flask import Response, g, make_response, render_template, url_for

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.pages.assets import asset_version
from photosvc.web.current import current_service
from photosvc.web.protector import public, require
from photosvc.web.same_origin import Place
from photosvc.web.session_cookie import PLACE, by_cookie

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = (
    ("Content-Security-Policy", _POLICY),
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
    text = render_template(
        f"photosvc/{template}.html",
        site=current_service().settings.site_name,
        me=who,
        leaves=by_cookie(),  # not the user of a host app, who signs out there
        settings=who is not None and may(who, "users.view", owner_uid=who.user_uid),
        asset=asset,
        **context,
    )
    answer = make_response(text, status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def see_other(target: str) -> Response:
    """Lead on to the address `target`, which a GET opens."""
    answer = Response(status=303)
    answer.headers["Location"] = target
    answer.headers["Cache-Control"] = "no-store"
    return answer


def asset(name: str) -> str:
    """The address of a style sheet, script or picture of the pages."""
    return url_for("photosvc_pages.asset", version=asset_version(), name=name)


def add_page_headers(answer: Response) -> Response:
    """Add the headers of every page: what it may load, who may show it, and that it depends on the cookie."""
    for name, value in _HEADERS:
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", "no-store")
    if "public" not in answer.headers["Cache-Control"]:
        answer.vary.add("Cookie")
    return answer
