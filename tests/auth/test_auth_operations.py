"""Operations of nobody, of the command line and of a credential: who may do what, and what the security log says."""

import pytest
from sqlalchemy import select

from photosvc.auth import accounts, bearer, clients, credentials, users
from photosvc.auth.audit_log import COMMAND_LINE, Actor, Event
from photosvc.auth.errors import LastAdminError, OwnSecondFactorError, ScopeTooWideError
from photosvc.auth.operation import Operation
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.core.errors import PermissionDeniedError
from photosvc.models import LOGIN_SESSION, AuditEntry, Client, Credential
from photosvc.settings import load_settings
from tests.support.clock import NOW
from tests.support.factories.accounts import add_client, add_credential


@pytest.fixture
def settings(tmp_path):
    return load_settings(tmp_path)


def operation(session, settings, actor):
    return Operation(session=session, settings=settings, now=NOW, actor=actor)


def test_without_a_credential_nobody_changes_rights_or_makes_credentials(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="alice"))
    nobody = operation(session, settings, Actor(address="192.0.2.7"))
    with pytest.raises(PermissionDeniedError):
        accounts.change(nobody, user.uid, role="admin")
    with pytest.raises(PermissionDeniedError):
        credentials.issue(nobody, name="device", scope=parse_scope("photos"))
    assert session.scalars(select(AuditEntry.event)).all() == []


def test_only_the_command_line_removes_the_last_administrator(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="root", role="admin"))
    with pytest.raises(LastAdminError):
        accounts.remove(operation(session, settings, Actor()), user.uid)
    accounts.remove(operation(session, settings, COMMAND_LINE), user.uid)
    assert users.list_users(session) == []


def acting(session, settings, user, scope="*"):
    """An operation with a login session of this account that its password was just sent with."""
    add_credential(session, LOGIN_SESSION, scope=scope, user_id=user.id, proved_at=NOW)
    row = session.scalars(select(Credential).order_by(Credential.id.desc())).first()
    who = Principal(
        kind=LOGIN_SESSION,
        credential_id=row.id,
        credential_uid=row.uid,
        credential_name="",
        scope=parse_scope(scope),
        role=user.role,
        sees_private=True,
        created_at=NOW,
        expires_at=None,
        proved_at=NOW,
        user_id=user.id,
        user_uid=user.uid,
        user_name=user.name,
    )
    return Operation(session=session, settings=settings, now=NOW, actor=Actor.of(who), principal=who)


def entries(session):
    return session.execute(select(AuditEntry.event, AuditEntry.detail).order_by(AuditEntry.id)).all()


def test_an_account_changes_its_names_by_itself_and_its_rights_not(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="alice"))
    own = acting(session, settings, user)
    assert accounts.change(own, user.uid, display_name="Alice", role="user").display_name == "Alice"
    with pytest.raises(PermissionDeniedError):
        accounts.change(own, user.uid, role="admin")
    assert [event for event, _ in entries(session)] == [Event.USER_CHANGED]


def test_sending_the_password_again_is_stored_with_the_session_of_the_request(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="alice"))
    own = acting(session, settings, user)
    bearer.renew_proof(session, own.credential_id, None)
    accounts.confirm_password(own, user)
    assert session.scalars(select(Credential.proved_at)).all() == [NOW]


def test_an_administrator_cannot_reset_the_own_second_factor(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="root", role="admin"))
    with pytest.raises(OwnSecondFactorError):
        accounts.reset_second_factor(acting(session, settings, user), user.uid)


def test_ending_sessions_keeps_the_one_of_the_request_and_the_command_line_keeps_none(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="alice"))
    for _ in range(2):
        add_credential(session, LOGIN_SESSION, user_id=user.id)
    own = acting(session, settings, user)
    assert credentials.end_sessions(own, user.uid) == 2
    assert session.scalars(select(Credential.id)).all() == [own.credential_id]
    assert credentials.end_sessions(operation(session, settings, COMMAND_LINE), user.uid) == 1
    assert [detail for _, detail in entries(session)] == ["all others (2)", "all (1)"]


def test_a_client_gets_no_wider_scope_than_the_credential_that_changes_it(session, settings):
    user = users.add_user(session, users.new_user(NOW, name="root", role="admin"))
    client = add_client(session, scope="photos")
    narrow = acting(session, settings, user, scope="sessions photos")
    with pytest.raises(ScopeTooWideError):
        clients.change(narrow, client.uid, {"scope": parse_scope("*")})
    changed = clients.change(narrow, client.uid, {"name": "lamp", "scope": None, "user": user})
    assert (changed.client.name, changed.client.scope, changed.client.user, changed.secret) == (
        "lamp", "photos", user, "",
    )  # fmt: skip
    changed = clients.change(narrow, client.uid, {"scope": parse_scope("photos read"), "user": user})
    assert (changed.client.scope, len(entries(session))) == ("photos read", 2)


def test_a_secret_that_could_not_be_shown_is_taken_back(session, settings):
    command = operation(session, settings, COMMAND_LINE)
    client = add_client(session, secret="s" * 32)
    changed = clients.change(command, client.uid, {}, new_secret=True)
    assert changed.old_digest == ids.digest("s" * 32)
    assert session.scalar(select(Client.secret_digest)) == ids.digest(changed.secret)
    clients.undo_new_secret(command, client.uid, changed.old_digest, lost=changed.secret)
    session.expire_all()
    assert session.scalar(select(Client.secret_digest)) == ids.digest("s" * 32)
    assert [detail for _, detail in entries(session)] == ["new secret", "old secret again"]
