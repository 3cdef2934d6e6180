"""The client credentials grant (RFC 6749 section 4.4), the only one: RFC 9700 section 2.4 forbids password grants."""

from functools import lru_cache

from authlib.oauth2.rfc6749 import InvalidScopeError
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant as AuthlibClientCredentialsGrant

from photosvc.auth.errors import ScopeTooWideError
from photosvc.auth.oauth.client_authentication import CLIENT_CREDENTIALS
from photosvc.auth.scopes import Scope, narrow, parse_scope
from photosvc.core.errors import InvalidValueError

GRANT_TYPES = (CLIENT_CREDENTIALS,)
AUTH_METHODS = ("client_secret_basic", "client_secret_post")


class ClientCredentialsGrant(AuthlibClientCredentialsGrant):  # type: ignore[misc] # Authlib has no types
    """Authlib's grant; a requested scope is granted as it is or refused."""

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def validate_requested_scope(self) -> None:
        """Refuse a scope that is unknown or wider than the client's."""
        granted_scope(self.client.scope, self.request.payload.scope)


@lru_cache(maxsize=1024)
def granted_scope(own: Scope, requested: str | None) -> Scope:
    """The scope of a token: the client's own, or the part of it that was asked for.

    A parameter without a value counts as omitted (RFC 6749 section 3.2). Scopes are case-sensitive (section 3.3), and
    the granted words are those of the request, because oauthlib raises when the answer names another scope.

    Raises:
        InvalidScopeError: it is unknown, wider than the client's own, or covers nothing.

    """
    if not requested:
        return own
    try:
        scope = narrow(own, parse_scope(requested))
    except ScopeTooWideError:
        msg = "The scope is wider than the client's own"
        raise InvalidScopeError(msg) from None
    except InvalidValueError:
        raise InvalidScopeError from None
    if not scope or scope.words != set(requested.split(" ")):
        raise InvalidScopeError
    return scope
