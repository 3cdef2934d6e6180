"""Authentication of clients by `client_id` and secret or key, and their grant (RFC 6749 section 4.4).

It is the only grant: RFC 9700 section 2.4 forbids password grants.
"""

import hmac
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from authlib.oauth2.rfc6749 import InvalidClientError, InvalidScopeError
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant as AuthlibClientCredentialsGrant
from sqlalchemy import Connection, Row, bindparam, select

from photosvc.auth.errors import ScopeTooWideError
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import Scope, narrow, parse_scope
from photosvc.core import ids
from photosvc.core.errors import InvalidValueError
from photosvc.models import CLIENT_TOKEN, Client, User

CLIENT_CREDENTIALS = "client_credentials"

_BY_UID = (
    select(Client.__table__, User.disabled.label("user_disabled"))
    .outerjoin(User, User.id == Client.user_id)
    .where(Client.uid == bindparam("uid"))
)

#: Dummy digest for unknown clients, so that they take the same time as wrong secrets (ASVS 6.3.8).
_DUMMY = ids.digest("")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticatedClient:
    """A client that has shown its secret, with the methods that Authlib's grants call."""

    id: int
    uid: str
    name: str
    role: str
    scope: Scope
    token_lifetime: int
    token_format: str
    secret_digest: str

    def check_grant_type(self, grant_type: str) -> bool:
        """Whether the client may use a grant (Authlib's `ClientMixin`)."""
        return grant_type == CLIENT_CREDENTIALS

    def principal(self, now: datetime) -> Principal:
        """The principal of a token of this client with the client's full scope."""
        return Principal(
            kind=CLIENT_TOKEN,
            credential_id=0,
            credential_uid="",
            credential_name=self.name,
            scope=self.scope,
            role=self.role,
            sees_private=False,
            created_at=now,
            expires_at=now,
            client_id=self.id,
            client_uid=self.uid,
        )


def authenticate(connection: Connection, client_id: str, secret: str) -> AuthenticatedClient:
    """The client with this `client_id` and secret.

    Raises:
        InvalidClientError: unknown, disabled, of a disabled account, one with public keys, or a wrong secret; the same
            error for all.

    """
    row = _find(connection, client_id)
    expected = _DUMMY if row is None else row.secret_digest
    matches = hmac.compare_digest(ids.digest(secret), expected)
    if row is None or not matches or row.public_keys:
        raise refused()
    return _authenticated(row)


def find_with_keys(connection: Connection, client_id: str) -> tuple[AuthenticatedClient, str]:
    """The client with this `client_id` and its public keys; who asks has to prove that it is that client.

    Raises:
        InvalidClientError: unknown, disabled, of a disabled account, or without public keys; the same error for all.

    """
    row = _find(connection, client_id)
    if row is None or not row.public_keys:
        raise refused()
    return _authenticated(row), row.public_keys


def _find(connection: Connection, client_id: str) -> Row[Any] | None:
    return connection.execute(_BY_UID, {"uid": client_id}).first() if ids.is_uid(client_id, ids.CLIENT) else None


def _authenticated(row: Row[Any]) -> AuthenticatedClient:
    if not row.enabled or row.user_disabled:
        raise refused()
    return AuthenticatedClient(
        id=row.id,
        uid=row.uid,
        name=row.name,
        role=row.role,
        scope=parse_scope(row.scope, known_only=False),
        token_lifetime=row.token_lifetime,
        token_format=row.token_format,
        secret_digest=row.secret_digest,
    )


def refused() -> InvalidClientError:
    """The error for every refused client (RFC 6749 section 5.2)."""
    return InvalidClientError("Client authentication failed", status_code=401)


GRANT_TYPES = (CLIENT_CREDENTIALS,)
AUTH_METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt")


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
