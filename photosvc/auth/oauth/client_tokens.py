"""Tokens of registered clients: made, stored under a cap, deleted with their client.

The transaction locks the client's row (PostgreSQL) or the database (SQLite) from the count to the insert, so a client
never has more live tokens than its limit, even with simultaneous requests.
"""

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, func, insert, not_, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.credentials.bearer import new_credential_uid
from photosvc.auth.oauth.client_authentication import AuthenticatedClient, refused
from photosvc.auth.scopes import Scope, is_within, parse_scope
from photosvc.core import ids
from photosvc.core.accounts import NO_LIMIT
from photosvc.models import CLIENT_TOKEN, Client, Credential

if TYPE_CHECKING:
    from photosvc.auth.oauth.signing_keys import SigningKey

#: The media type of RFC 9068 section 2.1, so that no other JWT passes for an access token.
_JWT_TYPE = "at+jwt"

#: Clients without a limit never evict tokens, so each issue also deletes up to this many expired ones.
_MAX_EXPIRED = 20

# Statements are built once: other writers wait while an issue runs.
_OF_CLIENT = and_(Credential.client_id == bindparam("client"), Credential.kind == CLIENT_TOKEN)
_HAS_EXPIRED = Credential.expires_at <= bindparam("now")
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
_END_SURPLUS = delete(Credential).where(_OF_CLIENT, or_(_HAS_EXPIRED, Credential.id <= _NEWEST_SURPLUS))
# Locked rows are skipped, so that two transactions that delete expired tokens do not wait for each other.
_EXPIRED = (
    select(Credential.id)
    .where(_HAS_EXPIRED)
    .order_by(Credential.expires_at)
    .limit(_MAX_EXPIRED)
    .with_for_update(skip_locked=True)
)
_DELETE_EXPIRED = delete(Credential).where(Credential.id.in_(_EXPIRED))
_STORE = insert(Credential)


def new_jwt_token(key: "SigningKey", issuer: str, client: AuthenticatedClient, scope: Scope, now: datetime) -> str:
    """A signed access token with all claims of RFC 9068 section 2.2, for the service itself (`issuer`).

    This service never reads its claims: like opaque tokens, it is found by its digest, capped, and revoked at once. A
    forged or foreign JWT is therefore refused without being parsed.
    """
    issued_at = int(now.timestamp())
    claims = {
        "iss": issuer,
        "aud": issuer,
        "sub": client.uid,
        "client_id": client.uid,
        "scope": str(scope),
        "iat": issued_at,
        "exp": issued_at + client.token_lifetime,
        "jti": secrets.token_urlsafe(16),
    }
    return key.sign(claims, kind=_JWT_TYPE)


def store_token(session: Session, client: AuthenticatedClient, secret: str, scope: Scope, now: datetime) -> str:
    """Store `secret` as a token of `client`, and evict its oldest tokens beyond the limit; gives the UID of the token.

    Raises:
        InvalidClientError: the client was removed, disabled or given another secret meanwhile.

    """
    uid = new_credential_uid()
    token = {
        "uid": uid,
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
        connection.execute(_DELETE_EXPIRED, {"now": now})
    else:
        keep_newest(session, client.id, limit - 1, now)
    connection.execute(_STORE, token)
    return uid


def keep_newest(session: Session, client_id: int, count: int, now: datetime) -> None:
    """Delete all tokens of a client but the `count` newest live ones; -1 keeps all."""
    if count != NO_LIMIT:
        session.connection().execute(_END_SURPLUS, {"client": client_id, "count": count, "now": now})


def use_of_tokens(session: Session, client_id: int, now: datetime) -> tuple[int, datetime | None]:
    """How many live tokens a client has, and when one of them was last used; None: not yet."""
    found = select(func.count(), func.max(Credential.last_used_at)).where(_OF_CLIENT, not_(_HAS_EXPIRED))
    number, used = session.connection().execute(found, {"client": client_id, "now": now}).one()
    return number, used


def end_tokens(session: Session, client_id: int) -> None:
    """Delete every token of a client."""
    session.connection().execute(delete(Credential).where(_OF_CLIENT), {"client": client_id})


def end_tokens_beyond(session: Session, client_id: int, scope: Scope) -> None:
    """Delete the tokens of a client whose scope is not within `scope`."""
    connection = session.connection()
    granted = connection.execute(select(Credential.scope).where(_OF_CLIENT).distinct(), {"client": client_id}).scalars()
    beyond = [text for text in granted if not is_within(parse_scope(text, known_only=False), scope)]
    connection.execute(delete(Credential).where(_OF_CLIENT, Credential.scope.in_(beyond)), {"client": client_id})
