"""Proxies in front of the service, and the address of the client behind them."""

import ipaddress
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes, urlsplit

from flask import Request
from werkzeug.middleware.proxy_fix import ProxyFix

from photosvc.auth.principal import Origin

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Key in the environ once Werkzeug's ProxyFix, of photosvc or of a host app, has read the headers of proxies.
_FIXED = "werkzeug.proxy_fix.orig"
_FORWARDED = "HTTP_X_FORWARDED_FOR"
_PREFIX = "HTTP_X_FORWARDED_PREFIX"
#: Accepted values of `X-Forwarded-Prefix`. Pages link below this path, and some proxies pass on the header of a client.
_PREFIX_FORM: Final = re.compile(r"(/[A-Za-z0-9._~-]{1,100}){1,8}", re.ASCII)


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
