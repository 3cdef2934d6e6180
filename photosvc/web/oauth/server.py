"""Authlib's authorization server for Flask, one for each app: authenticates clients and makes tokens."""

from typing import Any

import orjson
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidRequestError, OAuth2Error
from flask import Response, current_app, request

from photosvc.auth.oauth.client_authentication import AuthenticatedClient, authenticate, refused
from photosvc.auth.oauth.client_tokens import new_jwt_token, store_token
from photosvc.auth.oauth.grants import ClientCredentialsGrant, granted_scope
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.core.accounts import JWT
from photosvc.web.current import current_service
from photosvc.web.oauth.endpoints import Introspection, Revocation
from photosvc.web.oauth.request import OAuthRequest

#: The key of the server in `app.extensions`; one for each app, because Authlib keeps state on its server.
OAUTH_EXTENSION = "photosvc_oauth"


class OAuthServer(AuthorizationServer):  # type: ignore[misc] # Authlib has no types
    """One grant, revocation and introspection. Reads no `OAUTH2_…` setting of a host app."""

    def __init__(self) -> None:
        super().__init__()
        self.register_token_generator("default", new_token)
        self.register_grant(ClientCredentialsGrant)
        self.register_endpoint(Revocation)
        self.register_endpoint(Introspection)

    def create_oauth2_request(self, _request: object) -> OAuthRequest:
        """The current request, read strictly."""
        return OAuthRequest(request)

    def get_token_grant(self, request: OAuthRequest) -> Any:  # noqa: ANN401
        """The grant that is asked for (RFC 6749 section 4.4.2 requires the parameter)."""
        if not request.payload.grant_type:
            raise InvalidRequestError("The parameter grant_type is missing")
        return super().get_token_grant(request)

    def authenticate_client(
        self,
        request: OAuthRequest,
        _methods: object,
        _endpoint: str = "token",
    ) -> AuthenticatedClient:
        """The client of the request. Failures are counted by address; they never block the right secret.

        Raises:
            InvalidClientError: it shows no credentials, or wrong ones.
            ThrottledError: too many wrong ones came from this address.

        """
        if request.credentials is None:
            raise refused()
        service = current_service()
        try:
            with service.reading() as connection:
                return authenticate(connection, *request.credentials)
        except InvalidClientError:
            service.throttle.count_unknown_token(service.now(), address=_address())
            raise

    def save_token(self, token: dict[str, Any], request: OAuthRequest) -> None:
        """Store the token under the client's cap; it is valid from now on."""
        service = current_service()
        scope = parse_scope(token["scope"], known_only=False)
        with service.writing() as session:
            store_token(session, request.client, token["access_token"], scope, service.now())

    def handle_response(self, status: int, payload: Any, headers: list[tuple[str, str]]) -> Response:  # noqa: ANN401
        """Authlib's answer as Flask's."""
        return Response(orjson.dumps(payload), status, headers=headers)

    def handle_error_response(self, request: OAuthRequest, error: OAuth2Error) -> Response:  # noqa: ARG002
        """All errors are answered in one place, by the blueprint."""
        raise error


def current_oauth_server() -> OAuthServer:
    """The OAuth server of the current app."""
    server: OAuthServer = current_app.extensions[OAUTH_EXTENSION]
    return server


def new_token(*, client: AuthenticatedClient, scope: str | None, **_others: object) -> dict[str, Any]:
    """An access token for `client` that is not stored yet, with its description for the client (section 5.1)."""
    service = current_service()
    granted = granted_scope(client.scope, scope)
    if client.token_format == JWT:
        key, issuer = service.signing_keys.current(), service.settings.base_url
        secret = new_jwt_token(key, issuer, client, granted, service.now())
    else:
        secret = ids.new_access_token()
    return {
        "access_token": secret,
        "token_type": "Bearer",
        "expires_in": client.token_lifetime,
        "scope": str(granted),
    }


def _address() -> str:
    return request.remote_addr or ""
