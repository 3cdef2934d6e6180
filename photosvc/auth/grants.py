"""OAuth2 client credentials: client authentication by secret, the grant, and the tokens of clients.

The grant (RFC 6749 section 4.4) is the only one: RFC 9700 section 2.4 forbids password grants.

The transaction locks the client's row (PostgreSQL) or the database (SQLite) from the count to the insert, so a client
never has more live tokens than its limit, even with simultaneous requests.
"""

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from authlib.oauth2.rfc6749 import InvalidClientError, InvalidScopeError
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant as AuthlibClientCredentialsGrant
from sqlalchemy import Connection, and_, bindparam, func, insert, not_, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.audit import Event
from photosvc.auth.credentials import ENDED, delete_credentials, end_credentials
from photosvc.auth.operation import Operation
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import Scope, is_within, parse_scope
from photosvc.auth.tokens import TokenRow, is_expired
from photosvc.core import ids
from photosvc.core.accounts import NO_LIMIT
from photosvc.core.errors import InvalidValueError
from photosvc.models import CLIENT_TOKEN, Client, Credential, User

if TYPE_CHECKING:
    from photosvc.auth.signing_keys import SigningKey

CLIENT_CREDENTIALS = "client_credentials"
_BY_UID = (
    select(Client.__table__, User.disabled.label("user_disabled"))
    .outerjoin(User, User.id == Client.user_id)
    .where(Client.uid == bindparam("uid"))
)
#: Dummy digest for unknown clients, so that they take the same time as wrong secrets (ASVS 6.3.8).
_DUMMY = ids.digest("")
GRANT_TYPES = (CLIENT_CREDENTIALS,)
AUTH_METHODS = ("client_secret_basic", "client_secret_post")
#: The media type of RFC 9068 section 2.1, so that no other JWT passes for an access token.
_JWT_TYPE = "at+jwt"
#: Clients without a limit never evict tokens, so each issue also deletes up to this many expired ones.
_MAX_EXPIRED = 20
# Statements are built once: other writers wait while an issue runs.
_OF_CLIENT = and_(Credential.client_id == bindparam("client"), Credential.kind == CLIENT_TOKEN)
_HAS_EXPIRED = is_expired(bindparam("now"))
_HOLD = (
    select(Client.token_limit)
    .where(Client.id == bindparam("client"), Client.enabled, Client.secret_digest == bindparam("digest"))
    .with_for_update()
)
_NEWEST_SURPLUS = (
    select(Credential.id)
    .where(_OF_CLIENT, not_(_HAS_EXPIRED))
    .order_by(Credential.id.desc())
    .offset(bindparam("count"))
    .limit(1)
    .scalar_subquery()
)
_SURPLUS = ENDED.where(_OF_CLIENT, or_(_HAS_EXPIRED, Credential.id <= _NEWEST_SURPLUS))
# Locked rows are skipped, so that two transactions that delete expired tokens do not wait for each other.
_EXPIRED = (
    ENDED.where(_HAS_EXPIRED).order_by(Credential.expires_at).limit(_MAX_EXPIRED).with_for_update(skip_locked=True)
)
_STORE = insert(Credential)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticatedClient:
    """A client that has authenticated, with the methods that Authlib's grants call."""

    id: int
    uid: str
    name: str
    role: str
    scope: Scope
    token_lifetime: int
    token_format: str
    secret_digest: str

    def check_grant_type(self, grant_type: str) -> bool:
        """Return whether the client may use a grant (Authlib's `ClientMixin`)."""
        return grant_type == CLIENT_CREDENTIALS

    def principal(self, now: datetime) -> Principal:
        """Return the principal of a token that has this client's full scope."""
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
    """Return the client with this `client_id` and secret.

    Raises:
        InvalidClientError: unknown, disabled, of a disabled account, or a wrong secret; the same error for all.
    """
    is_uid = ids.is_uid(client_id, ids.CLIENT)
    row = connection.execute(_BY_UID, {"uid": client_id}).first() if is_uid else None
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
    """Return the error for every refused client (RFC 6749 section 5.2)."""
    return InvalidClientError("Client authentication failed", status_code=401)


class ClientCredentialsGrant(AuthlibClientCredentialsGrant):  # type: ignore[misc] # Authlib has no types
    """Authlib's grant, with scopes that are granted as requested or refused."""

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def validate_requested_scope(self) -> None:
        """Raise `InvalidScopeError` for a scope that is unknown or wider than the client's."""
        granted_scope(self.client.scope, self.request.payload.scope)


def granted_scope(own: Scope, requested: str | None) -> Scope:
    """Return the scope of a token: the client's own, or the requested part of it.

    A parameter without a value counts as omitted (RFC 6749 section 3.2). Scopes are case-sensitive (section 3.3). The
    words of the request are granted unchanged, because oauthlib raises when the answer names another scope.

    Raises:
        InvalidScopeError: it is unknown, wider than the client's own, or covers nothing.
    """
    if not requested:
        return own
    try:
        scope = parse_scope(requested)
    except InvalidValueError:
        raise InvalidScopeError from None
    if not is_within(scope, own):
        raise InvalidScopeError("The scope is wider than the client's own")
    if not scope or scope.words != set(requested.split(" ")):
        raise InvalidScopeError
    return scope


def new_jwt_token(
    key: "SigningKey", issuer: str, audience: str, client: AuthenticatedClient, scope: Scope, now: datetime
) -> str:
    """Return a signed access token with all claims of RFC 9068 section 2.2, which the `audience` can verify.

    This service never reads its claims: like opaque tokens, it is found by its digest, capped, and revoked at once. A
    forged or foreign JWT is therefore refused without being parsed.
    """
    issued_at = int(now.timestamp())
    claims = {
        "iss": issuer,
        "aud": audience,
        "sub": client.uid,
        "client_id": client.uid,
        "scope": str(scope),
        "iat": issued_at,
        "exp": issued_at + client.token_lifetime,
        "jti": secrets.token_urlsafe(16),
    }
    return key.sign(claims, kind=_JWT_TYPE)


def grant_token(operation: Operation, client: AuthenticatedClient, secret: str, scope: Scope) -> None:
    """Store `secret` as a token of the client that asks for it, and evict its oldest tokens beyond the limit.

    Raises:
        InvalidClientError: the client was removed, disabled or given another secret meanwhile.
    """
    session, now = operation.session, operation.now
    token = {
        "uid": ids.new_credential_uid(),
        "kind": CLIENT_TOKEN,
        "digest": ids.digest(secret),
        "name": client.name,
        "scope": str(scope),
        "client_id": client.id,
        "expires_at": now + timedelta(seconds=client.token_lifetime),
        "created_at": now,
    }
    connection = session.connection()
    limit = connection.execute(_HOLD, {"client": client.id, "digest": client.secret_digest}).scalar()
    if limit is None:
        raise refused()
    if limit == NO_LIMIT:
        end_credentials(session, connection.execute(_EXPIRED, {"now": now}).all())
    else:
        keep_newest(session, client.id, limit - 1, now)
    connection.execute(_STORE, token)
    by = operation.acting_as(client.principal(now))
    by.record(Event.TOKEN_GRANTED, target=str(token["uid"]), detail=f"scope {scope}")


def revoke_token(operation: Operation, client: AuthenticatedClient | None, token: TokenRow) -> None:
    """Revoke a token that was shown, as the client that shows it; None if no client authenticated itself."""
    delete_credentials(operation.session, Credential.id == token.id)
    by = operation if client is None else operation.acting_as(client.principal(operation.now))
    by.record(Event.TOKEN_REVOKED, target=token.uid)


def keep_newest(session: Session, client_id: int, count: int, now: datetime) -> None:
    """Delete all tokens of a client except the `count` newest live ones; -1 keeps all."""
    if count != NO_LIMIT:
        values = {"client": client_id, "count": count, "now": now}
        end_credentials(session, session.connection().execute(_SURPLUS, values).all())


def use_of_tokens(session: Session, client_id: int, now: datetime) -> tuple[int, datetime | None]:
    """Return the number of a client's live tokens, and the time one of them was last used; None if none was."""
    query = select(func.count(), func.max(Credential.last_used_at)).where(_OF_CLIENT, not_(_HAS_EXPIRED))
    number, used = session.connection().execute(query, {"client": client_id, "now": now}).one()
    return number, used


def end_tokens_beyond(session: Session, client_id: int, scope: Scope) -> None:
    """Delete the tokens of a client whose scope is not within `scope`."""
    granted = session.scalars(select(Credential.scope).where(_OF_CLIENT).distinct(), {"client": client_id})
    beyond = [text for text in granted if not is_within(parse_scope(text, known_only=False), scope)]
    delete_credentials(session, Credential.client_id == client_id, Credential.scope.in_(beyond))
