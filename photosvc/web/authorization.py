"""The token of a request, and the challenges for requests with none or an invalid one (RFC 6750)."""

from flask import Request

from photosvc.auth.oauth.metadata import resource_metadata_url
from photosvc.core.errors import InvalidValueError
from photosvc.web.current import current_service

_REALM = 'Bearer realm="photosvc"'
#: Names in the WSGI environ. A header that is sent twice is one value with a comma, which no token contains.
_OWN_HEADERS = ("HTTP_X_AUTH_TOKEN", "HTTP_X_SESSION_ID")
_MAX_TOKEN = 4096
#: Characters allowed around a value (RFC 9110 section 5.6.3); `str.strip` alone removes more.
_BLANKS = " \t"


def token_of(request: Request) -> str | None:
    """The token in `Authorization: Bearer`, `X-Auth-Token` or `X-Session-ID`; None when there is none.

    Query strings are not read, because logs contain them (RFC 9700 section 4.3.2).

    Raises:
        InvalidValueError: the request has two different tokens (RFC 6750 section 2).

    """
    environ = request.environ
    tokens = {environ.get(header, "").strip(_BLANKS) for header in _OWN_HEADERS}
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").strip(_BLANKS).partition(" ")
    if scheme.lower() == "bearer":
        tokens.add(token.strip(_BLANKS))
    tokens.discard("")
    if len(tokens) > 1:
        msg = "the request shows two different tokens; send one"
        raise InvalidValueError(msg, field="Authorization")
    return next(iter(tokens), "")[:_MAX_TOKEN] or None


def challenge(error: str = "", *, scope: str = "", description: str = "") -> str:
    """A `WWW-Authenticate` value; without `error` when the request had no token (RFC 6750 section 3).

    It always names the address of the resource's metadata (RFC 9728 section 5.1).
    """
    parts = [_REALM]
    if error:
        parts.append(f'error="{error}"')
    if description:
        parts.append(f'error_description="{description}"')
    if scope:
        parts.append(f'scope="{scope}"')
    parts.append(f'resource_metadata="{resource_metadata_url(current_service().settings.base_url)}"')
    return ", ".join(parts)
