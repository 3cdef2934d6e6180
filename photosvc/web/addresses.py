"""Addresses of the service: never from the Host header, which clients choose.

With `PHOTOSVC_BASE_URL` they are absolute. Without it they are paths from the root of the server: right on any host and
port, behind any WSGI mount (`SCRIPT_NAME`) and prefix of a host app. Only OAuth needs an absolute one, its issuer.
"""

import logging
from http import HTTPStatus
from urllib.parse import quote

from flask import Request

from photosvc.core.errors import PhotosvcError
from photosvc.core.logs import START
from photosvc.web.current import Service
from photosvc.web.parts import OAUTH, WELL_KNOWN

_LOG = logging.getLogger(START)
#: Characters that a path may have unescaped (RFC 3986 section 3.3).
_SAFE = "/!$&'()*+,;=:@~"


def address_of(service: Service, request: Request, path: str) -> str:
    """Return the address by which clients reach `path`, which begins with a slash."""
    if service.settings.base_url:
        return service.settings.base_url + path
    mount = request.environ.get("SCRIPT_NAME", "") + service.url_prefix
    return _quoted(mount) + path if mount else path


def _quoted(mount: str) -> str:
    """Return a WSGI mount as a path.

    Its bytes are decoded as Latin-1 (PEP 3333). The path never begins with `//`, which would name another host.
    """
    return "/" + quote(mount.strip("/").encode("latin-1", "replace"), safe=_SAFE)


def issuer_of(service: Service) -> str:
    """Return the issuer of tokens and metadata: the public address, or the one at which `svc run` serves.

    Raises:
        PhotosvcError: neither address is known.
    """
    known = known_issuer(service)
    if known is None:
        msg = (
            "PHOTOSVC_BASE_URL is not set, and OAuth names the public address of the service: its operator must set it."
        )
        raise PhotosvcError(msg, field="PHOTOSVC_BASE_URL", status=HTTPStatus.SERVICE_UNAVAILABLE)
    return known


def known_issuer(service: Service) -> str | None:
    """Return the issuer as `issuer_of` does; None when it is not known."""
    return service.settings.base_url or service.address or None


def warn_of_missing_address(service: Service) -> None:
    """Log at the start that OAuth metadata will be missing."""
    if service.parts & {OAUTH, WELL_KNOWN} and known_issuer(service) is None:
        _LOG.warning(
            "PHOTOSVC_BASE_URL is not set: the metadata at %s/.well-known/ are answered 503, and tokens in the format "
            "jwt are not issued, until it is the public address of the service, such as https://photos.example.org%s",
            service.url_prefix,
            service.url_prefix,
        )
