"""The address of a client, and a warning when a proxy in front is not configured."""

import ipaddress
import logging
from typing import TYPE_CHECKING

from flask import Request
from werkzeug.middleware.proxy_fix import ProxyFix

from photosvc.auth.credentials.origin import Origin
from photosvc.web.current import Service

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_LOG = logging.getLogger("photosvc")

#: In the environ once Werkzeug's ProxyFix has read the headers of proxies, ours or that of a host app.
_FIXED = "werkzeug.proxy_fix.orig"
_FORWARDED = "HTTP_X_FORWARDED_FOR"


class TrustedProxies(ProxyFix):
    """The middleware that reads the `X-Forwarded-*` headers of this number of proxies."""

    def __init__(self, app: "WSGIApplication", count: int) -> None:
        super().__init__(app, x_for=count, x_proto=count, x_host=count)


def client_address(request: Request) -> str:
    """The address that the request comes from, without a port; as it is when it is no address.

    Some proxies write ports into `X-Forwarded-For`, as `192.0.2.7:4711` or `[2001:db8::7]:4711`. With them, every
    connection would be a client of its own.
    """
    address = (request.remote_addr or "").strip()
    if address.startswith("["):
        host, closed, _ = address[1:].partition("]")
        return host if closed else address
    host, colon, port = address.partition(":")
    return host if colon and port.isdecimal() and _is_ipv4(host) else address


def is_behind_proxy(request: Request) -> bool:
    """Whether a proxy in front is configured, whose headers are trusted."""
    return _FIXED in request.environ


def origin_of(request: Request) -> Origin:
    """Where the request comes from, as credentials remember it."""
    return Origin.of(client_address(request), request.user_agent.string)


def warn_of_unread_proxy(service: Service, request: Request) -> None:
    """Log once that a request came through a proxy whose `X-Forwarded-For` is not read."""
    if request.environ.get(_FORWARDED) and not is_behind_proxy(request) and not service.warned_of_proxy:
        service.warned_of_proxy = True
        _LOG.warning(
            "X-Forwarded-For arrived from %s, but PHOTOSVC_PROXIES is 0: all clients behind a proxy count as one "
            "address. Set it to the number of proxies in front, or wrap the app that photosvc is part of in Werkzeug's "
            "ProxyFix; without a proxy, a client made the header up.",
            client_address(request),
        )


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
