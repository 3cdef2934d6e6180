"""Credentials end with their owners on databases that do not cascade, such as a host's SQLite."""

import pytest
from sqlalchemy import create_engine, delete, func, select, update
from sqlalchemy.orm import Session

from photosvc.auth import accounts, clients, credentials, grants
from photosvc.auth.errors import InvalidTokenError, LastAdminError
from photosvc.auth.login import log_out
from photosvc.auth.scopes import parse_scope
from photosvc.auth.tokens import verify, verify_uid
from photosvc.core.accounts import NO_LIMIT
from photosvc.core.ids import new_access_token
from photosvc.models import (
    APP_PASSWORD,
    CLIENT_TOKEN,
    LOGIN_SESSION,
    VISIT,
    Client,
    Credential,
    Link,
    RecoveryCode,
    User,
    Visit,
    ZipSelection,
)
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_client, add_credential, add_user
from tests.helpers.library import database_of_models
from tests.unit.auth.operations import by_anonymous, by_command


@pytest.fixture
def session(tmp_path):
    (tmp_path / "host.db").write_bytes(database_of_models())
    engine = create_engine(f"sqlite:///{tmp_path / 'host.db'}")
    with Session(engine) as session:
        assert session.connection().exec_driver_sql("PRAGMA foreign_keys").scalar() == 0
        yield session
    engine.dispose()


def add_pair(session, owner, **values):
    """An app password and the login session made from it."""
    parent = add_credential(session, APP_PASSWORD, user_id=owner.id, **values)
    child = add_credential(session, LOGIN_SESSION, user_id=owner.id, parent_id=id_of(session, parent))
    return parent, child


def id_of(session, secret):
    return credentials.find_credential(session, secret).id


def left(session, model=Credential):
    return session.scalar(select(func.count()).select_from(model))


@pytest.mark.parametrize("owner", [User, Client, Credential])
def test_a_credential_whose_owner_is_gone_is_not_valid(session, owner):
    vera, client = add_user(session, "vera", role="viewer"), add_client(session)
    parent, child = add_pair(session, vera)
    token = add_credential(session, CLIENT_TOKEN, client_id=client.id)
    secret, owner_id = {
        User: (parent, vera.id),
        Client: (token, client.id),
        Credential: (child, id_of(session, parent)),
    }[owner]
    uid = verify(session.connection(), secret, NOW).credential_uid
    session.execute(delete(owner).where(owner.id == owner_id))
    with pytest.raises(InvalidTokenError):
        verify(session.connection(), secret, NOW)
    with pytest.raises(InvalidTokenError):
        verify_uid(session.connection(), uid, NOW)


def test_a_token_whose_clients_owner_is_gone_is_not_valid(session):
    client = add_client(session, role="admin", user_id=add_user(session, "vera", role="viewer").id)
    secret = add_credential(session, CLIENT_TOKEN, client_id=client.id)
    assert not verify(session.connection(), secret, NOW).sees_private
    session.execute(delete(User))
    with pytest.raises(InvalidTokenError):
        verify(session.connection(), secret, NOW)


def test_an_account_that_may_not_be_removed_keeps_its_credentials(session):
    alice = add_user(session, role="admin")
    add_pair(session, alice)
    session.commit()
    with pytest.raises(LastAdminError):
        accounts.remove(by_anonymous(session), alice.uid)
    session.rollback()
    assert left(session) == 2


def expire(session, client):
    clients.change(by_command(session), client.uid, {"token_limit": NO_LIMIT})
    session.execute(update(Credential).where(Credential.kind == CLIENT_TOKEN).values(expires_at=NOW))
    found = grants.authenticate(session.connection(), client.uid, "secret")
    grants.grant_token(by_anonymous(session), found, new_access_token(), found.scope)


#: Ways in which credentials end: each gets a session, an account, its app password's id and a client.
DELETIONS = {
    "log-out": lambda session, *_: log_out(by_anonymous(session), verify(session.connection(), "c" * 48, NOW)),
    "oldest session": lambda session, alice, parent, _: credentials.end_oldest_sessions(
        session, alice.id, parent, keep=0
    ),
    "oldest token": lambda session, *owners: grants.keep_newest(session, owners[-1].id, 0, NOW),
    "expired token": lambda session, *owners: expire(session, owners[-1]),
    "revoked token": lambda session, *_: credentials.revoke(by_command(session), "a" * 48),
    "app password": lambda session, alice, *_: credentials.revoke_owned(
        by_command(session), alice, APP_PASSWORD, session.scalar(select(Credential.uid).where(OF_APP))
    ),
    "sweep": lambda session, *_: credentials.sweep(session, NOW + SECOND),
    "all": lambda session, *_: credentials.revoke_all(by_command(session)),
    "client": lambda session, *owners: clients.remove(by_command(session), owners[-1].uid),
    "all clients": lambda session, *_: clients.remove_all(by_command(session)),
    "scope of a client": lambda session, *owners: clients.change(
        by_command(session), owners[-1].uid, {"scope": parse_scope("metrics")}
    ),
    "account": lambda session, alice, *_: accounts.remove(by_command(session), alice.uid),
    "all accounts": lambda session, *_: accounts.remove_all(by_command(session)),
}
OF_APP = Credential.kind == APP_PASSWORD


@pytest.mark.parametrize("way", DELETIONS)
def test_rows_of_a_credential_end_with_it_in_every_way_to_end_it(session, way):
    alice, client = add_user(session), add_client(session, secret="secret")
    add_client(session, user_id=alice.id)
    parent = id_of(session, add_credential(session, APP_PASSWORD, user_id=alice.id))
    add_credential(session, LOGIN_SESSION, secret="c" * 48, user_id=alice.id, parent_id=parent)
    add_credential(session, CLIENT_TOKEN, "photos", "a" * 48, client_id=client.id, expires_at=NOW + SECOND)
    session.add(RecoveryCode(user_id=alice.id, digest="x", created_at=NOW))
    link = Link(uid="sl1", digest="x", slug="", album_uid="a", user_id=alice.id, created_at=NOW, updated_at=NOW)
    session.add(link)
    session.flush()
    visit = id_of(session, add_credential(session, VISIT))
    session.add(Visit(credential_id=visit, link_id=link.id))
    client_uid, before = client.uid, session.scalars(select(Credential.uid)).all()
    for uid in before:
        session.add(ZipSelection(name=uid, principal_uid=uid, title="", file_ids="[]", expires_at=NOW))
    session.commit()
    DELETIONS[way](session, alice, parent, client)
    session.commit()
    after = set(session.scalars(select(Credential.uid)))
    ids = set(session.scalars(select(Credential.id)))
    assert set(before) - after
    assert set(session.scalars(select(ZipSelection.principal_uid))) == after.intersection(before)
    assert set(session.scalars(select(Visit.credential_id))) <= ids
    assert set(session.scalars(select(Credential.parent_id).where(Credential.parent_id.is_not(None)))) <= ids
    assert left(session, Visit) == session.scalar(select(func.count()).where(Credential.kind == VISIT))
    is_left = left(session, User)
    assert left(session, RecoveryCode) == is_left
    owned = select(Client.enabled).where(Client.uid != client_uid)
    assert set(session.scalars(owned)) <= {bool(is_left)}


@pytest.mark.parametrize("kind", ["users", "clients", "credentials"])
def test_the_id_of_a_removed_user_is_never_given_again(session, kind):
    def add():
        if kind == "users":
            return add_user(session).id
        return add_client(session).id if kind == "clients" else id_of(session, add_credential(session, APP_PASSWORD))

    first = add()
    session.execute(delete({"users": User, "clients": Client, "credentials": Credential}[kind]))
    session.commit()
    assert add() > first
