"""Operations of nobody, of the command line and of a credential: who may do what, and what the security log says."""

import pytest
from sqlalchemy import select

from photosvc.auth import accounts, credentials, users
from photosvc.auth.audit_log import COMMAND_LINE, Actor
from photosvc.auth.errors import LastAdminError
from photosvc.auth.operation import Operation
from photosvc.auth.scopes import parse_scope
from photosvc.core.errors import PermissionDeniedError
from photosvc.models import AuditEntry
from photosvc.settings import load_settings
from tests.support.clock import NOW


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
