"""Revocation (RFC 7009) and introspection (RFC 7662) of tokens."""

from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint

from photosvc.auth import policy
from photosvc.auth.credentials import bearer, tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.oauth.client_authentication import AuthenticatedClient
from photosvc.auth.oauth.grants import AUTH_METHODS
from photosvc.auth.principal import Principal
from photosvc.web.current import current_service
from photosvc.web.oauth.request import OAuthRequest


class Revocation(RevocationEndpoint):  # type: ignore[misc] # Authlib has no types
    """Revokes a token of the client that asks or, without client credentials, the token in the request.

    Unknown tokens are answered like known ones (section 2.2), and hints are not needed to find one (section 2.1).
    """

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def authenticate_endpoint_client(self, request: OAuthRequest) -> AuthenticatedClient | None:
        """The client that asks; None without client credentials: the token itself is enough to revoke it."""
        return None if request.credentials is None else super().authenticate_endpoint_client(request)

    def authenticate_token(self, request: OAuthRequest, client: AuthenticatedClient | None) -> tokens.Found | None:
        """The token to revoke.

        Raises:
            InvalidRequestError: the request has no token.
            InvalidGrantError: it belongs to another client.

        """
        with current_service().reading() as connection:
            found = tokens.find(connection, _named(request))
        if found is not None and client is not None and found.client_id != client.id:
            raise InvalidGrantError("The token was issued to another client")
        return found

    def revoke_token(self, token: tokens.Found, _request: OAuthRequest) -> None:
        """From the next request on, every worker refuses it."""
        with current_service().writing() as session:
            bearer.revoke(session, token.id)


class Introspection(IntrospectionEndpoint):  # type: ignore[misc] # Authlib has no types
    """Describes tokens of the client that asks, and those of others if the policy allows it."""

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def authenticate_token(self, request: OAuthRequest, client: AuthenticatedClient) -> Principal | None:
        """The principal of the token; None if it is invalid or the client may not see it (section 2.2).

        Raises:
            InvalidRequestError: the request has no token.

        """
        service = current_service()
        now = service.now()
        try:
            with service.reading() as connection:
                found = tokens.verify(connection, _named(request), now)
        except InvalidTokenError:
            return None
        is_own = found.client_id == client.id
        return found if is_own or policy.may(client.principal(now), "oauth.introspect") else None

    def create_introspection_payload(self, token: Principal | None) -> dict[str, Any]:
        """The answer of section 2.2; only `active` for a token that is invalid or of others."""
        if token is None:
            return {"active": False}
        payload = {
            "active": True,
            "token_type": "Bearer",
            "scope": str(token.scope),
            "client_id": token.client_uid,
            "username": token.user_name,
            "sub": token.user_uid or token.client_uid,
            "iss": current_service().settings.base_url,
            "aud": current_service().settings.base_url,
            "iat": int(token.created_at.timestamp()),
            "exp": None if token.expires_at is None else int(token.expires_at.timestamp()),
        }
        return {name: value for name, value in payload.items() if value is not None}


def _named(request: OAuthRequest) -> str:
    token = request.form.get("token")
    if token is None:
        raise InvalidRequestError("The parameter token is missing")
    return token
