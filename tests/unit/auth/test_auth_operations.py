"""Operations of anonymous requests, commands and credentials: who may do what, and what the security log says."""

import pytest
from sqlalchemy import select

from photosvc.auth import accounts, clients, credentials, second_factor
from photosvc.auth.audit_log import Event
from photosvc.auth.errors import OwnSecondFactorError, ScopeTooWideError
from photosvc.auth.scopes import parse_scope
from photosvc.core.errors import PermissionDeniedError
from photosvc.models import LOGIN_SESSION, AuditEntry, Credential
from tests.helpers.factories.accounts import add_client, add_credential, add_user
from tests.helpers.operations import by_anonymous, by_command, by_user


def test_without_a_credential_no_rights_are_changed_and_no_credentials_made(session):
    user = add_user(session, name="alice")
    anonymous = by_anonymous(session)
    with pytest.raises(PermissionDeniedError):
        accounts.change(anonymous, user.uid, role="admin")
    with pytest.raises(PermissionDeniedError):
        credentials.issue(anonymous, name="device", scope=parse_scope("photos"))
    assert session.scalars(select(AuditEntry.event)).all() == []


def entries(session):
    return session.execute(select(AuditEntry.event, AuditEntry.detail).order_by(AuditEntry.id)).all()


def test_an_account_changes_its_names_by_itself_and_its_rights_not(session):
    user = add_user(session, name="alice")
    own = by_user(session, user)
    assert accounts.change(own, user.uid, display_name="Alice", role="user").display_name == "Alice"
    with pytest.raises(PermissionDeniedError):
        accounts.change(own, user.uid, role="admin")
    assert [event for event, _ in entries(session)] == [Event.USER_CHANGED]


def test_an_administrator_cannot_reset_the_own_second_factor(session):
    user = add_user(session, name="root", role="admin")
    with pytest.raises(OwnSecondFactorError):
        second_factor.reset(by_user(session, user), user)


def test_ending_sessions_keeps_the_one_of_the_request_and_the_command_line_keeps_none(session):
    user = add_user(session, name="alice")
    for _ in range(2):
        add_credential(session, LOGIN_SESSION, user_id=user.id)
    own = by_user(session, user)
    assert credentials.end_sessions(own, user) == 2
    assert session.scalars(select(Credential.id)).all() == [own.credential_id]
    assert credentials.end_sessions(by_command(session), user) == 1
    assert [detail for _, detail in entries(session)] == ["all others (2)", "all (1)"]


def test_a_client_gets_no_wider_scope_than_the_credential_that_changes_it(session):
    user = add_user(session, name="root", role="admin")
    client = add_client(session, scope="photos")
    narrow = by_user(session, user, scope="sessions photos")
    with pytest.raises(ScopeTooWideError):
        clients.change(narrow, client.uid, {"scope": parse_scope("*")})
    changed = clients.change(narrow, client.uid, {"name": "lamp", "scope": None, "user": user})
    assert (changed.client.name, changed.client.scope, changed.client.user, changed.secret) == (
        "lamp", "photos", user, "",
    )  # fmt: skip
    changed = clients.change(narrow, client.uid, {"scope": parse_scope("photos read"), "user": user})
    assert (changed.client.scope, len(entries(session))) == ("photos read", 2)
