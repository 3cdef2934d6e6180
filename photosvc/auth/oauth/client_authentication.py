"""Authentication of clients by `client_id` and secret."""

import hmac
from dataclasses import dataclass
from datetime import datetime

from authlib.oauth2.rfc6749 import InvalidClientError
from sqlalchemy import Connection, bindparam, select

from photosvc.auth.principal import Principal
from photosvc.auth.scopes import Scope, parse_scope
from photosvc.core import ids
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
        InvalidClientError: unknown, disabled, of a disabled account, or a wrong secret; the same error for all.

    """
    row = None
    if ids.is_uid(client_id, ids.CLIENT):
        row = connection.execute(_BY_UID, {"uid": client_id}).first()
    expected = _DUMMY if row is None else row.secret_digest
    matches = hmac.compare_digest(ids.digest(secret), expected)
    if row is None or not matches or not row.enabled or row.user_disabled:
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
