"""Tokens of registered clients: issued under a cap, ended with their client.

Whoever issues holds the client's row (PostgreSQL) or the database (SQLite) from the count to the insert: a client never
has more live tokens than its limit, however many ask at once.
"""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.client_authentication import AuthenticatedClient, refused
from photosvc.auth.credentials import new_credential_uid
from photosvc.auth.scopes import Scope, is_within, parse_scope
from photosvc.core import ids
from photosvc.models import CLIENT_TOKEN, Client, Credential
from photosvc.models.database import begin_write

NO_LIMIT = -1
#: An issue removes so many credentials that are over, whoever had them: the table never grows by forgotten ones.
_TIDY = 20


def store_token(session: Session, client: AuthenticatedClient, secret: str, scope: Scope, now: datetime) -> None:
    """Make `secret` a live token of `client`; the oldest ones beyond its limit end.

    Raises:
        InvalidClientError: the client was removed, disabled or given another secret meanwhile.

    """
    begin_write(session)
    limit = session.scalar(
        select(Client.token_limit)
        .where(Client.id == client.id, Client.enabled, Client.secret_digest == client.secret_digest)
        .with_for_update()
    )
    if limit is None:
        raise refused()
    if limit != NO_LIMIT:
        keep_newest(session, client.id, limit - 1, now)
    _tidy(session, now)
    session.connection().execute(
        insert(Credential).values(
            uid=new_credential_uid(),
            kind=CLIENT_TOKEN,
            digest=ids.digest(secret),
            name=client.name,
            scope=str(scope),
            client_id=client.id,
            expires_at=now + timedelta(seconds=client.token_lifetime),
            created_at=now,
        )
    )


def keep_newest(session: Session, client_id: int, count: int, now: datetime) -> None:
    """End all tokens of a client but the `count` newest live ones; -1 keeps all that live."""
    surplus: ColumnElement[bool] = Credential.expires_at <= now
    if count != NO_LIMIT:
        newest_to_go = (
            select(Credential.id)
            .where(_tokens_of(client_id), Credential.expires_at > now)
            .order_by(Credential.id.desc())
            .offset(count)
            .limit(1)
            .scalar_subquery()
        )
        surplus = or_(surplus, Credential.id <= newest_to_go)
    session.connection().execute(delete(Credential).where(_tokens_of(client_id), surplus))


def end_tokens(session: Session, client_id: int) -> None:
    """End every token of a client."""
    session.connection().execute(delete(Credential).where(_tokens_of(client_id)))


def end_tokens_beyond(session: Session, client_id: int, scope: Scope) -> None:
    """End the tokens of a client that reach further than `scope`."""
    granted = session.execute(select(Credential.scope).where(_tokens_of(client_id)).distinct()).scalars()
    beyond = [text for text in granted if not is_within(parse_scope(text, known_only=False), scope)]
    session.connection().execute(delete(Credential).where(_tokens_of(client_id), Credential.scope.in_(beyond)))


def _tokens_of(client_id: int) -> ColumnElement[bool]:
    return and_(Credential.client_id == client_id, Credential.kind == CLIENT_TOKEN)


def _tidy(session: Session, now: datetime) -> None:
    # Rows another transaction is at are passed over: two that tidy up must not wait for each other.
    over = (
        select(Credential.id)
        .where(Credential.expires_at <= now)
        .order_by(Credential.expires_at)
        .limit(_TIDY)
        .with_for_update(skip_locked=True)
    )
    session.connection().execute(delete(Credential).where(Credential.id.in_(over)))
