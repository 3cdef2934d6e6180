"""Tokens of registered clients: issued under a cap, ended with their client.

Whoever issues holds the client's row (PostgreSQL) or the database (SQLite) from the count to the insert: a client never
has more live tokens than its limit, however many ask at once.
"""

from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, delete, insert, not_, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.credentials.bearer import new_credential_uid
from photosvc.auth.oauth.client_authentication import AuthenticatedClient, refused
from photosvc.auth.scopes import Scope, is_within, parse_scope
from photosvc.core import ids
from photosvc.core.accounts import NO_LIMIT
from photosvc.models import CLIENT_TOKEN, Client, Credential

#: Without a limit nothing else removes what is over, so an issue removes so many: the table never grows by them.
_TIDY = 20

# Statements are built once: between the first and the last of an issue, others wait.
_OF_CLIENT = and_(Credential.client_id == bindparam("client"), Credential.kind == CLIENT_TOKEN)
_IS_OVER = Credential.expires_at <= bindparam("now")
_HOLD = (
    select(Client.token_limit)
    .where(Client.id == bindparam("client"), Client.enabled, Client.secret_digest == bindparam("digest"))
    .with_for_update()
)
_NEWEST_TO_GO = (
    select(Credential.id)
    .where(_OF_CLIENT, not_(_IS_OVER))
    .order_by(Credential.id.desc())
    .offset(bindparam("count"))
    .limit(1)
    .scalar_subquery()
)
_END_SURPLUS = delete(Credential).where(_OF_CLIENT, or_(_IS_OVER, Credential.id <= _NEWEST_TO_GO))
# Rows another transaction is at are passed over: two that tidy up must not wait for each other.
_OVER = (
    select(Credential.id).where(_IS_OVER).order_by(Credential.expires_at).limit(_TIDY).with_for_update(skip_locked=True)
)
_TIDY_UP = delete(Credential).where(Credential.id.in_(_OVER))
_STORE = insert(Credential)


def store_token(session: Session, client: AuthenticatedClient, secret: str, scope: Scope, now: datetime) -> None:
    """Make `secret` a live token of `client`; the oldest ones beyond its limit end.

    Raises:
        InvalidClientError: the client was removed, disabled or given another secret meanwhile.

    """
    token = {
        "uid": new_credential_uid(),
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
        connection.execute(_TIDY_UP, {"now": now})
    else:
        keep_newest(session, client.id, limit - 1, now)
    connection.execute(_STORE, token)


def keep_newest(session: Session, client_id: int, count: int, now: datetime) -> None:
    """End all tokens of a client but the `count` newest live ones; -1 keeps all."""
    if count != NO_LIMIT:
        session.connection().execute(_END_SURPLUS, {"client": client_id, "count": count, "now": now})


def end_tokens(session: Session, client_id: int) -> None:
    """End every token of a client."""
    session.connection().execute(delete(Credential).where(_OF_CLIENT), {"client": client_id})


def end_tokens_beyond(session: Session, client_id: int, scope: Scope) -> None:
    """End the tokens of a client that reach further than `scope`."""
    connection = session.connection()
    granted = connection.execute(select(Credential.scope).where(_OF_CLIENT).distinct(), {"client": client_id}).scalars()
    beyond = [text for text in granted if not is_within(parse_scope(text, known_only=False), scope)]
    connection.execute(delete(Credential).where(_OF_CLIENT, Credential.scope.in_(beyond)), {"client": client_id})
