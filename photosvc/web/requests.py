"""The origin of a request: the client, its address and connection, proxies in between, and the page that sent it.

Browsers send a cookie with every request to a host, even if pages of other ports or, within limits, of other sites
cause it. So it counts only where `Sec-Fetch-Site` or, where that is absent (plain http in a home network), `Origin`
shows that a page of photosvc sent the request; and at the API only with a header that pages of others cannot set.
"""

import ipaddress
import re
import select
import socket
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_to_bytes, urlsplit

from flask import Request
from werkzeug.middleware.proxy_fix import ProxyFix

from photosvc.auth.principal import Origin
from photosvc.core.errors import NeverPermittedError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Key in the environ once Werkzeug's ProxyFix, of photosvc or of a host app, has read the headers of proxies.
_FIXED = "werkzeug.proxy_fix.orig"
_FORWARDED = "HTTP_X_FORWARDED_FOR"
_PREFIX = "HTTP_X_FORWARDED_PREFIX"
#: Accepted values of `X-Forwarded-Prefix`: pages link to what it names, and some proxies pass on those of clients.
_PREFIX_FORM: Final = re.compile(r"(/[A-Za-z0-9._~-]{1,100}){1,8}", re.ASCII)
#: Keys in the environ of the client's connection: gunicorn's, and that of Werkzeug's development server.
_SOCKETS: Final = ("gunicorn.socket", "werkzeug.socket")


class TrustedProxies(ProxyFix):
    """A middleware that reads the `X-Forwarded-*` headers of this number of proxies."""

    def __init__(self, app: "WSGIApplication", count: int) -> None:
        super().__init__(app, x_for=count, x_proto=count, x_host=count)


class PublicPath:
    """A middleware that moves the path of the public address into `SCRIPT_NAME`, whether or not a proxy cuts it off.

    That path is the one of `PHOTOSVC_BASE_URL`; only without that setting, the one that a proxy has cut off and names
    in `X-Forwarded-Prefix`. An app that another one has mounted somewhere has a `SCRIPT_NAME` and keeps it.

    Args:
        base_url: the public address, or empty.
        proxies: number of proxies whose headers are trusted.
    """

    def __init__(self, app: "WSGIApplication", *, base_url: str, proxies: int) -> None:
        self._app = app
        self._path = unquote_to_bytes(urlsplit(base_url).path).decode("latin-1") if base_url else None
        self._proxies = proxies

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Pass a request on with its mount."""
        if not environ.get("SCRIPT_NAME"):
            cut = self._cut_off(environ)
            mount = cut if self._path is None else self._path
            path = environ.get("PATH_INFO", "")
            # Below a mount as /photos, the path /photos/… may be a page of the service as well.
            if mount and not cut and f"{path}/".startswith(f"{mount}/"):
                environ["PATH_INFO"] = path.removeprefix(mount)
            environ["SCRIPT_NAME"] = mount
        return self._app(environ, start_response)

    def _cut_off(self, environ: "WSGIEnvironment") -> str:
        """Return the path that a trusted proxy reports to have cut off, empty for none."""
        values = environ.get(_PREFIX, "").split(",") if self._proxies else []
        value = values[-self._proxies].strip().rstrip("/") if len(values) >= self._proxies > 0 else ""
        return value if _PREFIX_FORM.fullmatch(value) and not {".", ".."} & set(value.split("/")) else ""


def client_address(request: Request) -> str:
    """Return the address of the client without a port; unchanged if it is not an IP address."""
    return without_port(request.remote_addr or "")


def without_port(address: str) -> str:
    """Return an address without a port; unchanged if it is not an IP address.

    Some proxies write ports into `X-Forwarded-For`, as `192.0.2.7:4711` or `[2001:db8::7]:4711`. With the port, every
    connection would be a client of its own.
    """
    address = address.strip()
    if address.startswith("["):
        host, closed, _ = address[1:].partition("]")
        return host if closed else address
    host, colon, port = address.partition(":")
    return host if colon and port.isdecimal() and _is_ipv4(host) else address


def is_behind_proxy(request: Request) -> bool:
    """Return whether a proxy in front is configured, so that its headers are trusted."""
    return _FIXED in request.environ


def has_unread_proxy(request: Request) -> bool:
    """Return whether the request came through a proxy whose `X-Forwarded-For` is not read."""
    return bool(request.environ.get(_FORWARDED)) and not is_behind_proxy(request)


def origin_of(request: Request) -> Origin:
    """Return the origin of the request for the records of credentials."""
    return Origin.of(client_address(request), request.user_agent.string)


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


class ClientGone:
    """A check whether the client of a request has closed its connection; any thread may call it."""

    __slots__ = ("_environ",)

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._environ = environ

    def __call__(self) -> bool:
        """Return whether the client has closed the connection.

        False if it has already sent its next request, and if the server does not give access to the connection.
        """
        client = next((self._environ[name] for name in _SOCKETS if name in self._environ), None)
        if client is None:
            return False
        try:
            poll = select.poll()
            poll.register(client.fileno(), select.POLLIN)
            # This works for TLS as well: the content of the connection does not matter.
            return bool(poll.poll(0)) and not socket.socket.recv(client, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except (OSError, ValueError):
            return True


#: The header with which photosvc's scripts mark their requests: other origins would need a preflight, which is refused.
MARK = "X-Photosvc"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": ":80", "https": ":443"}


class Place(Enum):
    """The kind of view that a cookie is shown to."""

    API = "api"
    PAGE = "page"
    MEDIA = "media"
    """Originals, which pages link to: no script adds a header to these requests."""


class OtherSiteError(NeverPermittedError):
    """Another site or program sent this request from a browser: open the page again and repeat it."""


def cookie_counts(request: Request, place: Place, base_url: str) -> bool:
    """Return whether the session cookie of a request counts; False: the request is answered as if it had none.

    Raises:
        OtherSiteError: the request would change something, or would show something within a page of another site.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if changes(request):
        if not is_own(request, base_url) or (place is Place.API and not _is_marked(request)):
            raise OtherSiteError
        return True
    if place is Place.API:
        return site in {None, "same-origin"} and _is_marked(request)
    if place is Place.PAGE and is_navigation(request):
        return True
    if site not in {None, "same-origin", "none"}:
        raise OtherSiteError
    return True


def changes(request: Request) -> bool:
    """Return whether the method of a request may change something."""
    return request.method not in _SAFE


def is_foreign(request: Request, base_url: str) -> bool:
    """Return whether a browser reports that a page of another origin caused this request, which may change something.

    False if no browser reports anything, as for programs; `is_own` requires the report of a browser. A person or an
    extension of the browser causes `none`, which no page can.
    """
    if not changes(request) or request.headers.get("Sec-Fetch-Site") == "none":
        return False
    tells = "Sec-Fetch-Site" in request.headers or "Origin" in request.headers
    return tells and not is_own(request, base_url)


def is_own(request: Request, base_url: str) -> bool:
    """Return whether a request that changes something comes from a page of photosvc, as far as browsers report it."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    public = urlsplit(base_url)
    return request.headers.get("Origin", "").lower() in {
        _origin(public.scheme, public.netloc),
        # `request.host` would leave out ports by the scheme and refuse some names.
        _origin(request.scheme, str(request.environ.get("HTTP_HOST", ""))),
    }


def is_navigation(request: Request) -> bool:
    """Return whether a browser opens this as a page of its own, not within another one, or is too old to report it."""
    return request.headers.get("Sec-Fetch-Dest", "document") == "document"


def _is_marked(request: Request) -> bool:
    return request.headers.get(MARK) == "1"


def _origin(scheme: str, host: str) -> str:
    """Return scheme, host and port as browsers write them: in lower case, without the port that the scheme implies.

    The host of a request is arbitrary text, so it is compared unchanged and never parsed.
    """
    return f"{scheme}://{host.removesuffix(_PORTS.get(scheme.lower(), ''))}".lower()
