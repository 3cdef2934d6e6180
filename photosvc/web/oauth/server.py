"""Authlib's authorization server for Flask, one for each app: authenticates clients and makes tokens."""

from collections.abc import Sequence
from typing import Any

import orjson
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidGrantError, InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from flask import Response, current_app, request

from photosvc.auth import policy
from photosvc.auth.audit.events import Event
from photosvc.auth.credentials import bearer, tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.oauth.client_assertions import check_assertion, client_of
from photosvc.auth.oauth.client_authentication import (
    AUTH_METHODS,
    AuthenticatedClient,
    ClientCredentialsGrant,
    authenticate,
    find_with_keys,
    granted_scope,
    refused,
)
from photosvc.auth.oauth.client_tokens import new_jwt_token, store_token
from photosvc.auth.oauth.metadata import API
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import parse_scope
from photosvc.auth.throttle import buckets
from photosvc.core import ids
from photosvc.core.accounts import JWT
from photosvc.web.auditing import record, refuse_client
from photosvc.web.current import Service, current_service
from photosvc.web.oauth.request import ClientAssertion, ClientCredentials, OAuthRequest
from photosvc.web.requests.client_address import client_address
from photosvc.web.service.addresses import issuer_of, known_issuer


class InvalidTargetError(OAuth2Error):  # type: ignore[misc] # Authlib has no types
    """The requested resource is not one that tokens are issued for (RFC 8707 section 2)."""

    error = "invalid_target"


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

    def revoke_token(self, token: tokens.Found, request: OAuthRequest) -> None:
        """From the next request on, every worker refuses it."""
        service = current_service()
        by = None if request.client is None else request.client.principal(service.now())
        with service.writing() as session:
            bearer.revoke(session, token.id)
            record(session, Event.TOKEN_REVOKED, by=by, target=token.uid)


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
        issuer = known_issuer(current_service())
        payload = {
            "active": True,
            "token_type": "Bearer",
            "scope": str(token.scope),
            "client_id": token.client_uid,
            "username": token.user_name,
            "sub": token.user_uid or token.client_uid,
            "iss": issuer,
            "aud": issuer,
            "iat": int(token.created_at.timestamp()),
            "exp": None if token.expires_at is None else int(token.expires_at.timestamp()),
        }
        return {name: value for name, value in payload.items() if value is not None}


def _named(request: OAuthRequest) -> str:
    token = request.form.get("token")
    if token is None:
        raise InvalidRequestError("The parameter token is missing")
    return token


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
        if request.resources and not _has_parts(issuer_of(current_service()), request.resources):
            raise InvalidTargetError("The resource is not a part of this service")
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
            if isinstance(request.credentials, ClientAssertion):
                return _by_assertion(service, request.credentials)
            with service.reading() as connection:
                return authenticate(connection, *request.credentials)
        except InvalidClientError:
            refuse_client(_shown_id(request.credentials))
            service.throttle.count_unknown_token(service.now(), address=_address())
            raise

    def save_token(self, token: dict[str, Any], request: OAuthRequest) -> None:
        """Store the token under the client's cap; it is valid from now on."""
        service = current_service()
        scope = parse_scope(token["scope"], known_only=False)
        with service.writing() as session:
            uid = store_token(session, request.client, token["access_token"], scope, service.now())
            by = request.client.principal(service.now())
            record(session, Event.TOKEN_GRANTED, by=by, target=uid, detail=f"scope {scope}")

    def handle_response(self, status: int, payload: Any, headers: list[tuple[str, str]]) -> Response:  # noqa: ANN401
        """Authlib's answer as Flask's."""
        return Response(orjson.dumps(payload), status, headers=headers)

    def handle_error_response(self, request: OAuthRequest, error: OAuth2Error) -> Response:  # noqa: ARG002
        """All errors are answered in one place, by the blueprint."""
        raise error


def _has_parts(issuer: str, resources: Sequence[str]) -> bool:
    return all(one == issuer or (one.startswith(f"{issuer}/") and "#" not in one) for one in resources)


def _by_assertion(service: Service, shown: ClientAssertion) -> AuthenticatedClient:
    """The client that signed an assertion, which is accepted once (RFC 7523 section 3)."""
    issuer, now = issuer_of(service), service.now()
    client_id = client_of(shown.assertion)
    if shown.client_id not in {None, client_id}:
        raise refused()
    with service.reading() as connection:
        client, keys = find_with_keys(connection, client_id)
    audiences = {issuer, f"{issuer}{API}/oauth/token", issuer + request.path}
    found = check_assertion(shown.assertion, keys, client_id=client_id, audiences=audiences, now=now)
    with service.writing() as session:
        if not buckets.remember_once(session, found.key, found.expires_at, now):
            raise refused()
    return client


def current_oauth_server() -> OAuthServer:
    """The OAuth server of the current app."""
    server: OAuthServer = current_app.extensions[OAUTH_EXTENSION]
    return server


def new_token(*, client: AuthenticatedClient, scope: str | None, **_others: object) -> dict[str, Any]:
    """An access token for `client` that is not stored yet, with its description for the client (section 5.1)."""
    service = current_service()
    granted = granted_scope(client.scope, scope)
    if client.token_format == JWT:
        key, issuer = service.signing_keys.current(), issuer_of(service)
        secret = new_jwt_token(key, issuer, client, granted, service.now())
    else:
        secret = ids.new_access_token()
    return {
        "access_token": secret,
        "token_type": "Bearer",
        "expires_in": client.token_lifetime,
        "scope": str(granted),
    }


def _shown_id(shown: ClientCredentials | ClientAssertion) -> str:
    """The `client_id` that a request shows; empty in an assertion that cannot be read."""
    if not isinstance(shown, ClientAssertion):
        return shown.client_id
    try:
        return client_of(shown.assertion)
    except InvalidClientError:
        return ""


def _address() -> str:
    return client_address(request)
