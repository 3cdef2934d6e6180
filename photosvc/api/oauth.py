"""The OAuth endpoints below /oauth: tokens for registered clients, their revocation and introspection.

Authlib's authorization server, one for each app, answers. Requests are read strictly: parameters come in a form in the
body, none in the query string, and none is repeated. Authlib's own reader merges query and body, takes the first of
repeated parameters, and fails on bytes that are not UTF-8, against RFC 6749 sections 2.3, 3.2 and appendix B.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

import orjson
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import (
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
    OAuth2Error,
    OAuth2Request,
)
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from flask import Request, Response, current_app, request

from photosvc.auth import policy, tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.grants import (
    AUTH_METHODS,
    AuthenticatedClient,
    ClientCredentialsGrant,
    authenticate,
    grant_token,
    granted_scope,
    new_jwt_token,
    refused,
    revoke_token,
)
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.core.accounts import JWT
from photosvc.web.auditing import operating, refuse_client
from photosvc.web.contract import (
    FLAG,
    MAX_BODY,
    NUMBER,
    TEXT,
    answers,
    json_object,
    public,
    read_body,
    takes_client_form,
    undocumented,
    uses,
)
from photosvc.web.errors import oauth_error, register_errors, render_oauth
from photosvc.web.parts import OwnBlueprint
from photosvc.web.proxies import client_address
from photosvc.web.service import current_service

_FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 50
_NAMES = frozenset({
    "grant_type", "client_id", "client_secret", "scope", "resource", "token", "token_type_hint", "username", "password",
})  # fmt: skip
#: The address for Authlib, which refuses plain http except for localhost. Whether https is used, the operator decides.
_ADDRESS = "https://localhost/"
#: The key of the server in `app.extensions`; one for each app, because Authlib keeps state on its server.
OAUTH_EXTENSION = "photosvc_oauth"


class ClientCredentials(NamedTuple):
    """The id and secret with which clients authenticate."""

    client_id: str
    secret: str


class OAuthRequest(OAuth2Request):  # type: ignore[misc] # Authlib has no types
    """A request in the form that Authlib's grants and endpoints need.

    Raises:
        InvalidRequestError: the request is malformed.
        InvalidClientError: its Basic credentials are malformed.
        RequestEntityTooLarge: the body is longer than `MAX_BODY`.
    """

    def __init__(self, request: Request) -> None:
        super().__init__(request.method, _ADDRESS, headers=request.headers)
        pairs = read_form(request)
        self.resources = [value for name, value in pairs if name == "resource" and value]
        self._parameters = {name: value for name, value in pairs if value and name != "resource"}
        self.payload = BasicOAuth2Payload(self._parameters)
        self.credentials = shown_credentials(request.headers.get("Authorization", ""), self._parameters)

    @property
    def form(self) -> Mapping[str, str]:
        """Return the parameters of the body."""
        return self._parameters


def read_form(request: Request) -> list[tuple[str, str]]:
    """Return the body's parameters; only `resource` may be repeated (RFC 8707 section 2).

    Raises:
        InvalidRequestError: another content type, bad UTF-8, more than 50 fields, a repeated parameter, or one in the
            query string.
        RequestEntityTooLarge: the body is longer than `MAX_BODY`.
    """
    if _NAMES & request.args.keys():
        raise InvalidRequestError("Send parameters in the body, not in the query string")
    if request.mimetype != _FORM:
        raise InvalidRequestError(f"Send the header Content-Type: {_FORM}")
    try:
        body = read_body(MAX_BODY).decode("ascii")
        pairs = parse_qsl(body, keep_blank_values=True, errors="strict")
    except ValueError:
        raise InvalidRequestError("The body is not a form in UTF-8") from None
    if len(pairs) > _MAX_FIELDS:
        raise InvalidRequestError(f"The form has more than {_MAX_FIELDS} fields")
    names = [name for name, _ in pairs if name != "resource"]
    if len(set(names)) < len(names):
        raise InvalidRequestError("A parameter is repeated")
    return pairs


def shown_credentials(authorization: str, form: Mapping[str, str]) -> ClientCredentials | None:
    """Return the credentials of the client, by one of the `AUTH_METHODS`; None if it shows none.

    Raises:
        InvalidRequestError: two methods at once (section 2.3), or two different client ids.
        InvalidClientError: the Authorization header cannot be read, or has another scheme.
    """
    client_id, secret = form.get("client_id"), form.get("client_secret")
    if not authorization.strip():
        return ClientCredentials(client_id, secret) if client_id and secret else None
    if secret:
        raise InvalidRequestError("Two ways to authenticate the client at once; use one")
    basic = _read_basic(authorization)
    if client_id and client_id != basic.client_id:
        raise InvalidRequestError("Two different client ids")
    return basic


def _read_basic(authorization: str) -> ClientCredentials:
    """Return the id and secret of a Basic header; both are form-encoded before they are joined (section 2.3.1)."""
    scheme, _, encoded = authorization.strip().partition(" ")
    try:
        if scheme.lower() != "basic":
            raise refused()
        decoded = base64.b64decode(encoded.strip().encode("ascii"), validate=True)
        client_id, colon, secret = decoded.partition(b":")
        shown = ClientCredentials(_form_decoded(client_id), _form_decoded(secret))
    except (binascii.Error, UnicodeError):
        raise refused() from None
    if not (colon and shown.client_id and shown.secret):
        raise refused()
    return shown


def _form_decoded(part: bytes) -> str:
    return unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8")


class InvalidTargetError(OAuth2Error):  # type: ignore[misc] # Authlib has no types
    """The requested resource is not one that tokens are issued for (RFC 8707 section 2)."""

    error = "invalid_target"


class Revocation(RevocationEndpoint):  # type: ignore[misc] # Authlib has no types
    """The revocation endpoint, for tokens of the authenticated client or, without client credentials, any token.

    Unknown tokens are answered like known ones (section 2.2), and hints are not needed to find a token (section 2.1).
    """

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def authenticate_endpoint_client(self, request: OAuthRequest) -> AuthenticatedClient | None:
        """Return the client; None without client credentials: the token itself is enough to revoke it."""
        return None if request.credentials is None else super().authenticate_endpoint_client(request)

    def authenticate_token(self, request: OAuthRequest, client: AuthenticatedClient | None) -> tokens.TokenRow | None:
        """Return the token to revoke.

        Raises:
            InvalidRequestError: the request has no token.
            InvalidGrantError: it belongs to another client.
        """
        with current_service().reading() as connection:
            token = tokens.find(connection, _named(request))
        if token is not None and client is not None and token.client_id != client.id:
            raise InvalidGrantError("The token was issued to another client")
        return token

    def revoke_token(self, token: tokens.TokenRow, request: OAuthRequest) -> None:
        """Delete the token, so that every worker refuses it from the next request on."""
        with operating() as operation:
            revoke_token(operation, request.client, token)


class Introspection(IntrospectionEndpoint):  # type: ignore[misc] # Authlib has no types
    """The introspection endpoint, for tokens of the authenticated client, and for others if the policy allows it."""

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def authenticate_token(self, request: OAuthRequest, client: AuthenticatedClient) -> tuple[Principal, str] | None:
        """Return the token and its principal; None if it is invalid or the client may not see it (section 2.2).

        Raises:
            InvalidRequestError: the request has no token.
        """
        service = current_service()
        now, text = service.now(), _named(request)
        try:
            with service.reading() as connection:
                token = tokens.verify(connection, text, now)
        except InvalidTokenError:
            return None
        is_own = token.client_id == client.id
        return (token, text) if is_own or policy.may(client.principal(now), "oauth.introspect") else None

    def create_introspection_payload(self, shown: tuple[Principal, str] | None) -> dict[str, Any]:
        """Return the answer of section 2.2; only `active` for tokens that are invalid or hidden from the client."""
        if shown is None:
            return {"active": False}
        token, text = shown
        service = current_service()
        issuer = service.known_issuer
        audience = service.settings.token_audience if tokens.is_jwt(text) else ""
        payload = {
            "active": True,
            "token_type": "Bearer",
            "scope": str(token.scope),
            "client_id": token.client_uid,
            "username": token.user_name,
            "sub": token.user_uid or token.client_uid,
            "iss": issuer,
            "aud": audience or issuer,
            "iat": int(token.created_at.timestamp()),
            "exp": None if token.expires_at is None else int(token.expires_at.timestamp()),
        }
        return {name: value for name, value in payload.items() if value is not None}


def _named(request: OAuthRequest) -> str:
    token = request.form.get("token")
    if token is None:
        raise InvalidRequestError("The parameter token is missing")
    return token


class OAuthServer(AuthorizationServer):  # type: ignore[misc] # Authlib has no types
    """The authorization server with its one grant; it reads no `OAUTH2_…` setting of a host app."""

    def __init__(self) -> None:
        super().__init__()
        self.register_token_generator("default", new_token)
        self.register_grant(ClientCredentialsGrant)
        self.register_endpoint(Revocation)
        self.register_endpoint(Introspection)

    def create_oauth2_request(self, _request: object) -> OAuthRequest:
        """Return the current request, read strictly."""
        return OAuthRequest(request)

    def get_token_grant(self, request: OAuthRequest) -> Any:  # noqa: ANN401
        """Return the requested grant (RFC 6749 section 4.4.2 requires the parameter)."""
        if not request.payload.grant_type:
            raise InvalidRequestError("The parameter grant_type is missing")
        service = current_service()
        others = [uri for uri in request.resources if uri != service.settings.token_audience]
        if others and not _has_parts(service.issuer(), others):
            raise InvalidTargetError("The resource is not a part of this service")
        return super().get_token_grant(request)

    def authenticate_client(
        self, request: OAuthRequest, _methods: object, _endpoint: str = "token"
    ) -> AuthenticatedClient:
        """Return the client of the request. Failures are counted by address; they never block the right secret.

        Raises:
            InvalidClientError: the request shows no credentials, or wrong ones.
            ThrottledError: too many wrong credentials came from this address.
        """
        if request.credentials is None:
            raise refused()
        service = current_service()
        try:
            with service.reading() as connection:
                return authenticate(connection, *request.credentials)
        except InvalidClientError:
            service.throttle.count_unknown_token(service.now(), address=_address())
            refuse_client(request.credentials.client_id)
            raise

    def save_token(self, token: dict[str, Any], request: OAuthRequest) -> None:
        """Store the token under the client's cap; it is valid from now on."""
        scope = parse_scope(token["scope"], known_only=False)
        with operating() as operation:
            grant_token(operation, request.client, token["access_token"], scope)

    def handle_response(self, status: int, payload: Any, headers: list[tuple[str, str]]) -> Response:  # noqa: ANN401
        """Return Authlib's answer as an answer of Flask."""
        return Response(orjson.dumps(payload), status, headers=headers)

    def handle_error_response(self, request: OAuthRequest, error: OAuth2Error) -> Response:  # noqa: ARG002
        """Raise the error, because the blueprint answers all errors in one place."""
        raise error


def _has_parts(issuer: str, resources: Sequence[str]) -> bool:
    return all(uri == issuer or (uri.startswith(f"{issuer}/") and "#" not in uri) for uri in resources)


def current_oauth_server() -> OAuthServer:
    """Return the OAuth server of the current app."""
    server: OAuthServer = current_app.extensions[OAUTH_EXTENSION]
    return server


def new_token(*, client: AuthenticatedClient, scope: str | None, **_others: object) -> dict[str, Any]:
    """Make an access token for `client` that is not stored yet; return it with its description (section 5.1)."""
    service = current_service()
    granted = granted_scope(client.scope, scope)
    if client.token_format == JWT:
        key, issuer = service.signing_keys.current(), service.issuer()
        secret = new_jwt_token(key, issuer, service.settings.token_audience or issuer, client, granted, service.now())
    else:
        secret = ids.new_access_token()
    return {"access_token": secret, "token_type": "Bearer", "expires_in": client.token_lifetime, "scope": str(granted)}


def _address() -> str:
    return client_address(request)


_CLIENT = dict.fromkeys(("client_id", "client_secret"), TEXT)
_TOKEN_REQUEST = json_object(
    "grant_type", grant_type={"const": "client_credentials"}, scope=TEXT, resource=TEXT, **_CLIENT
)
_TOKEN = json_object(access_token=TEXT, token_type={"const": "Bearer"}, expires_in=NUMBER, scope=TEXT)
_NAMED_TOKEN = json_object("token", token=TEXT, token_type_hint=TEXT, **_CLIENT)


#: Its errors have the form of RFC 6749. Extensions of a host app see it only by the name `oauth`.
oauth = OwnBlueprint("oauth", __name__, url_prefix="/oauth")
register_errors(oauth, render_oauth)


@oauth.post("/token")
@public
@takes_client_form(_TOKEN_REQUEST)
@answers(_TOKEN, "The access token.", refuses=(401, 403, 429))
def token() -> Response:
    """Issue an access token to a client that shows its secret (RFC 6749 section 4.4)."""
    answer: Response = current_oauth_server().create_token_response()
    return answer


@oauth.post("/revoke")
@public
@takes_client_form(_NAMED_TOKEN)
@answers(None, "The token is revoked, or never existed.", refuses=(401, 403, 429))
def revoke() -> Response:
    """Revoke a token (RFC 7009)."""
    answer: Response = current_oauth_server().create_endpoint_response("revocation")
    return answer


@oauth.post("/introspect")
@public
@uses("oauth.introspect")
@takes_client_form(_NAMED_TOKEN)
@answers(json_object(active=FLAG), "The state of the token.", refuses=(401, 403, 429))
def introspect() -> Response:
    """Show whether a token is valid, and for which scope (RFC 7662)."""
    answer: Response = current_oauth_server().create_endpoint_response("introspection")
    return answer


@oauth.route("/authorize", methods=["GET", "POST"], endpoint="authorize")
@oauth.route("/userinfo", methods=["GET", "POST"], endpoint="userinfo")
@public
@undocumented
def not_implemented() -> Response:
    """Refuse OpenID Connect log-ins, which clients may try although the metadata do not name these addresses."""
    return oauth_error(501, "not_implemented", "This service does not implement OpenID Connect log-ins.")
