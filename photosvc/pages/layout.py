"""The layout of all pages: blueprint, access, frame, headers, the sections of Administration, and safe paths back.

Each module of pages adds its routes to the blueprint. Style sheets, scripts and pictures lie below one version, as they
refer to each other by relative paths.
"""

import gzip
import hashlib
import re
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar
from urllib.parse import unquote

from flask import Response, current_app, g, make_response, request, url_for
from jinja2 import Environment
from werkzeug.exceptions import HTTPException

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.core.accounts import GUEST
from photosvc.core.errors import NotFoundError
from photosvc.pages.language import IN_TEMPLATES, N_
from photosvc.pages.messages import message_text
from photosvc.pages.script_texts import script_texts
from photosvc.records import limits
from photosvc.web.browser_origin import CookiePlace
from photosvc.web.contract import public
from photosvc.web.cookie import PLACE, by_cookie
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import require
from photosvc.web.service import current_service

#: The most characters of a path to lead back to: less than a form field may have, so that it is never cut off.
_MAX_PATH: Final = 900
#: Characters that browsers read as a slash or leave out, which could turn a path into another host.
_UNSAFE: Final = re.compile(r"[\x00-\x20\\\x7f-\U0010ffff]")
Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])
#: The endpoint of the OpenAPI document, which a host app may leave out.
API_DOCUMENT: Final = "photosvc.config.openapi"
#: The names in templates of our functions that translate.
_TRANSLATING: Final = {
    **IN_TEMPLATES, "message_text": message_text, "script_texts": script_texts,
}  # fmt: skip
#: The key of the templates in the extensions of an app.
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
    # With `no-referrer`, browsers would send `Origin: null` with our own forms, as they do with forms of other sites.
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)
BLUEPRINT: Final = "photosvc_pages"
#: Host apps restyle the pages by templates of the same names (`photosvc/….html`).
pages = OwnBlueprint(BLUEPRINT, __name__, template_folder="templates")
_FOLDER: Final = Path(__file__).with_name("assets")
_TYPES: Final = {
    ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ".png": "image/png", ".webmanifest": "application/manifest+json",
}  # fmt: skip
#: The service worker of the pages, whose scope is not below its own address.
_SHARE_WORKER: Final = "grid/share.js"
_FOREVER: Final = "public, max-age=31536000, immutable"
_CHECKED: Final = "public, no-cache"


def safe_path(target: str) -> str:
    """Return a path with its query if it is one of our pages, else the path of the photos."""
    home = url_for("photosvc_pages.photos")
    if len(target) > _MAX_PATH or _UNSAFE.search(target) or not target.startswith(home) or target.startswith("//"):
        return home
    # Browsers follow `..` out of the prefix of the service, also if it is encoded.
    path = target.partition("#")[0].partition("?")[0]
    return home if {".", ".."} & set(unquote(path).split("/")) else target


def current_path() -> str:
    """Return the path and query of the current page to lead back to; empty for the photos and for other requests."""
    if request.method not in {"GET", "HEAD"}:
        return ""
    path = request.full_path.removesuffix("?")
    path = f"{request.root_path}{path}"
    return path if safe_path(path) == path != url_for("photosvc_pages.photos") else ""


def form_path() -> str:
    """Return the path of the page whose form was sent: the nearest page at or above the path of the request."""
    routes: Any = current_app.create_url_adapter(request)
    path = request.path
    while path:
        try:
            routes.match(path, method="GET")
        except HTTPException:
            path = path.rpartition("/")[0]
        else:
            return f"{request.root_path}{path}"
    return ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of Administration, with a page of its own."""

    endpoint: str
    """The endpoint of the page."""
    label: str
    action: str
    """The action of the policy: principals that may do it see the section."""


SECTIONS: Final = (
    Section("accounts", N_("Accounts"), "users.list"),
    Section("clients", N_("Clients"), "clients.list"),
    Section("devices", N_("Devices"), "tokens.list"),
    Section("security_log", N_("Security log"), "audit.view"),
    Section("library", N_("Library"), "library.view"),
    Section("look_alikes", N_("Look-alikes"), "library.tidy"),
    Section("statistics", N_("Statistics"), "library.view"),
)


def sections_of(who: Principal | None) -> list[Section]:
    """Return the sections that `who` may open, in the order of the navigation."""
    return [section for section in SECTIONS if who is not None and may(who, section.action)]


def page(action: str, *, own: bool = False) -> Callable[[Callable[Args, Answer]], Callable[Args, Answer]]:
    """Open a page only to principals that the policy allows `action`; see `web.protector.require`."""

    def protect(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
        protected = require(action, own=own)(view)
        setattr(protected, PLACE, CookiePlace.PAGE)
        return protected

    return protect


def form_page(
    rule: str, endpoint: str, access: Callable[[Callable[..., Response]], Callable[..., Response]]
) -> Callable[[View], View]:
    """Register a page that `access` protects.

    Returns the unprotected function, which the forms of the page call to show it again.
    """

    def register(view: View) -> View:
        pages.add_url_rule(rule, endpoint, access(view))
        return view

    return register


def public_page(view: View) -> View:
    """Open a page to everybody; its function may still read the principal of a session."""
    setattr(view, PLACE, CookiePlace.PAGE)
    public(view)
    return view


def show(template: str, status: int = 200, **context: Any) -> Response:  # noqa: ANN401 - what templates read
    """Render `photosvc/<template>.html` within the frame of all pages."""
    who: Principal | None = g.get("photosvc_principal")
    settings = current_service().settings
    values = {
        "site": settings.site_name,
        "me": who,
        "leaves": by_cookie(),  # the user of a host app signs out there instead
        "settings": who is not None and may(who, "users.view", owner_uid=who.user_uid),
        "administration": next((section.endpoint for section in sections_of(who)), ""),
        "api_docs": API_DOCUMENT in current_app.view_functions,
        "trash_seen": who is not None and settings.delete_originals and may(who, "trash.view"),
        "reviews": who is not None and may(who, "photos.update"),
        "uploads": who is not None and who.user_id is not None and may(who, "files.upload") and not settings.readonly,
        "guest": who is not None and who.role == GUEST,
        "refused": status >= HTTPStatus.BAD_REQUEST and request.method == "POST",
        "sees_shared": who is not None and who.user_id is not None and may(who, "shared.list"),
        "sees_albums": who is not None and may(who, "albums.search"),
        "sees_folders": who is not None and may(who, "folders.view"),
        "sees_labels": who is not None and may(who, "labels.search"),
        "sees_people": who is not None and may(who, "people.search"),
        "sees_places": who is not None and may(who, "photos.clusters"),
        "asset": asset,
        "limits": limits,
        **_TRANSLATING,  # a host app may have context processors with functions of these names
        **context,
    }
    current_app.update_template_context(values)
    text = templates().get_template(f"photosvc/{template}.html").render(values)
    answer = make_response(text, status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def show_cacheable(template: str, status: int = 200, **context: Any) -> Response:  # noqa: ANN401 - what templates read
    """Render a page as `show` does. The browser may cache it, but must ask the service before each use."""
    answer = show(template, status, **context)
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


def templates() -> Environment:
    """Return the templates of the app and ours, with escaping of values even if a host app has turned it off.

    They translate with our functions, also within macros. The functions of the host app stay in its own templates.
    """
    known: Environment | None = current_app.extensions.get(_TEMPLATES)
    if known is None:
        known = current_app.jinja_env.overlay(autoescape=True)
        both: Any = ChainMap({**_TRANSLATING, "asset": asset, "limits": limits}, known.globals)
        known.globals = both
        current_app.extensions[_TEMPLATES] = known
    return known


def see_other(target: str) -> Response:
    """Redirect to the address `target`, which the browser opens with GET."""
    answer = Response(status=303)
    answer.headers["Location"] = target
    answer.headers["Cache-Control"] = "no-store"
    return answer


def asset(name: str) -> str:
    """Return the address of a style sheet, script or picture of the pages."""
    return url_for("photosvc_pages.asset", version=asset_version(), name=name)


def allow_pictures(answer: Response, origin: str) -> None:
    """Let this page show pictures of another origin, such as `https://tiles.example.org`."""
    answer.headers["Content-Security-Policy"] = _POLICY.format(f" {origin}")


def add_page_headers(answer: Response) -> Response:
    """Add the headers of every page: content security policy, caching, and `Vary`."""
    for name, value in _HEADERS:
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", "no-store")
    if "public" not in answer.headers["Cache-Control"]:
        answer.vary.update(("Cookie", "Accept-Language"))
    return answer


@pages.get("/assets/<version>/<path:name>", endpoint="asset")
@public
def send_asset(version: str, name: str) -> Response:
    """Send a file that pages load; its address changes with its content."""
    content = _contents().get(name)
    if content is None:
        raise NotFoundError("there is no such file")
    packed = _packed(name) if request.accept_encodings["gzip"] else None
    answer = Response(packed or content, content_type=_TYPES[Path(name).suffix])
    if packed:
        answer.headers["Content-Encoding"] = "gzip"
    answer.vary.add("Accept-Encoding")
    answer.headers["Cache-Control"] = _FOREVER if version == asset_version() else _CHECKED
    if name == _SHARE_WORKER:
        answer.headers["Service-Worker-Allowed"] = f"{url_for('.upload')}/"
    answer.set_etag(asset_version() + ("-gzip" if packed else ""))
    answer.make_conditional(request)
    return answer


@cache
def asset_version() -> str:
    """Return a digest of all assets, which changes with each of them."""
    digest = hashlib.blake2b(digest_size=6)
    for name, content in sorted(_contents().items()):
        digest.update(b"%d %s %d " % (len(name), name.encode(), len(content)) + content)
    return digest.hexdigest()


@cache
def _contents() -> dict[str, bytes]:
    """Read the files, by their names below the folder."""
    files = (path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    return {path.relative_to(_FOLDER).as_posix(): path.read_bytes() for path in files}


@cache
def _packed(name: str) -> bytes | None:
    """Return the file compressed with gzip; None if that is not smaller."""
    content = _contents()[name]
    packed = gzip.compress(content, 9, mtime=0)
    return packed if len(packed) < len(content) else None
