"""Operations of anonymous requests, commands and credentials: who may do what, and what the security log says."""

import pytest
from sqlalchemy import select

from photosvc.auth import accounts, clients, credentials
from photosvc.auth.errors import ScopeTooWideError
from photosvc.auth.scopes import parse_scope
from photosvc.core.errors import PermissionDeniedError
from photosvc.models import AuditEntry
from tests.helpers.factories.accounts import add_client, add_user
from tests.helpers.operations import by_anonymous, by_user


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
