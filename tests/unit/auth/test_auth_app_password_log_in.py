"""Logging in with an app password in place of the account's password."""

import pytest

from photosvc.auth import policy
from photosvc.auth.accounts import set_password
from photosvc.auth.credentials import issue, revoke
from photosvc.auth.errors import ClientLoginError, InsufficientScopeError, InvalidCredentialsError
from photosvc.auth.login import check_app_password
from photosvc.auth.login import log_in as open_session
from photosvc.auth.passwords import hash_password
from photosvc.auth.principal import APP_SESSION
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.models import CLIENT_TOKEN, LOGIN_SESSION
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_client, add_credential, add_user, log_in
from tests.helpers.operations import by_anonymous, by_command

DAY = 86400 * SECOND


def test_an_app_password_without_limit_gives_a_session_with_one(session, settings, alice):
    app = issue(by_command(session), name="frame", scope=parse_scope("*"), lifetime=-1, user=alice)
    login = log_in(session, settings, NOW, username="alice", password=app.secret)
    assert login.principal.expires_at == NOW + 14 * DAY


def test_an_app_password_opens_no_account_but_its_owners(session, settings, alice):
    add_user(session, "bob", password_hash=HASH)
    app = issue(by_command(session), name="frame", scope=parse_scope("*"), user=alice)
    for name in ("bob", "", "carol"):
        with pytest.raises(InvalidCredentialsError):
            log_in(session, settings, NOW, username=name, password=app.secret)


def test_an_app_password_that_is_over_or_not_there_is_a_wrong_password(session, settings, alice):
    app = issue(by_command(session), name="frame", scope=parse_scope("*"), lifetime=60, user=alice)
    for secret in (app.secret, ids.new_app_password(), app.secret[:-1] + "!"):
        with pytest.raises(InvalidCredentialsError):
            log_in(session, settings, NOW + 60 * SECOND, username="alice", password=secret)


def test_an_account_password_may_look_like_an_app_password(session, settings, alice):
    password = ids.new_app_password()
    set_password(by_command(session), alice.uid, hash_password(password))
    assert log_in(session, settings, NOW, username="alice", password=password).principal.standing == LOGIN_SESSION


def test_an_app_password_revoked_in_the_middle_of_a_log_in_ends_it(session, settings, alice, monkeypatch):
    app = issue(by_command(session), name="frame", scope=parse_scope("*"), user=alice)
    session.commit()
    real = policy.decide

    def meanwhile(*arguments):
        revoke(by_command(session), app.credential.uid)
        session.commit()
        return real(*arguments)

    monkeypatch.setattr(policy, "decide", meanwhile)
    with pytest.raises(InvalidCredentialsError):
        log_in(session, settings, NOW, username="alice", password=app.secret)


def test_an_app_password_without_a_user_name_opens_a_session_of_its_owner(session, settings, alice):
    app = issue(by_command(session), name="frame", scope=parse_scope("photos sessions"), lifetime=3600, user=alice)
    proof = check_app_password(session.connection(), NOW, app.secret)
    login = open_session(by_anonymous(session, NOW, settings), proof)
    assert (login.principal.user_id, login.principal.standing) == (alice.id, APP_SESSION)
    assert (str(login.principal.scope), login.principal.expires_in(NOW)) == ("photos sessions", 3600)


def test_nothing_else_opens_a_session_without_a_user_name(session, settings, alice):
    connection = session.connection()
    narrow = issue(by_command(session), name="frame", scope=parse_scope("photos"), user=alice)
    with pytest.raises(InsufficientScopeError):
        check_app_password(connection, NOW, narrow.secret)
    secret = ids.new_client_secret()
    client = add_client(session, secret=secret)
    issued = add_credential(session, CLIENT_TOKEN, client_id=client.id)
    for shown in (secret, issued, issue(by_command(session), name="script", scope=parse_scope("*")).secret):
        with pytest.raises(ClientLoginError):
            check_app_password(connection, NOW, shown)
    opened = log_in(session, settings, NOW, username="alice", password=PASSWORD).secret
    for shown in (PASSWORD, opened, ids.new_app_password(), ids.new_access_token(), ""):
        with pytest.raises(InvalidCredentialsError):
            check_app_password(connection, NOW, shown)
