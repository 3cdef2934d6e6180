"""Logging in by a password or an app password, and the login sessions of an account: listed, limited, swept."""

from dataclasses import replace

import pyotp
import pytest
from sqlalchemy import insert

from photosvc.auth import passwords, policy, second_factor
from photosvc.auth.accounts import set_password
from photosvc.auth.credentials import issue, list_sessions, revoke, sweep
from photosvc.auth.errors import (
    ClientLoginError,
    InsufficientScopeError,
    InvalidCredentialsError,
    InvalidTokenError,
    PasscodeRequiredError,
)
from photosvc.auth.login import check_app_password, read_proof, sign_proof
from photosvc.auth.login import log_in as open_session
from photosvc.auth.passwords import hash_password
from photosvc.auth.principal import APP_SESSION
from photosvc.auth.scopes import EVERYTHING, parse_scope
from photosvc.auth.tokens import verify
from photosvc.core import ids
from photosvc.models import APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION, Credential, User
from photosvc.models.engine import begin_write
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_client, add_credential, add_user, log_in
from tests.unit.auth.operations import by_anonymous, by_command


def test_names_that_do_not_exist_cost_the_same_hash(session, settings, alice, service_hasher, monkeypatch):
    begin_write(session)
    alice.password_hash = stored_hash = passwords.hash_password(PASSWORD)
    hashed = []
    verify_hash = passwords._HASHER.verify
    monkeypatch.setattr(
        type(passwords._HASHER),
        "verify",
        lambda self, stored, given: hashed.append(stored) or verify_hash(stored, given),
    )
    add_user(session, "carol", password_hash=stored_hash, disabled=True)
    add_user(session, "dave", password_hash="")
    for name in ("alice", "bob", "carol", "dave", "no such name!"):
        with pytest.raises(InvalidCredentialsError):
            log_in(session, settings, NOW, username=name, password="wrong horse")
    assert len(hashed) == 5
    assert {stored.split("$")[1:4][2] for stored in hashed} == {"m=19456,t=2,p=1"}


def with_second_factor(session, settings, alice):
    enrolment = second_factor.enrol(by_command(session, NOW, settings), alice)
    totp = pyotp.TOTP(enrolment.secret)
    before = NOW - 60 * SECOND
    codes = second_factor.confirm(by_command(session, before, settings), alice, code=totp.at(before))
    session.commit()
    return totp, codes


def test_a_password_changed_in_the_middle_of_a_log_in_ends_it(session, settings, alice, monkeypatch):
    real = passwords.needs_rehash

    def meanwhile(stored):
        session.rollback()
        set_password(by_command(session), alice.uid, passwords.hash_password("another horse"))
        session.commit()
        return real(stored)

    monkeypatch.setattr(passwords, "needs_rehash", meanwhile)
    with pytest.raises(InvalidCredentialsError):
        log_in(session, settings, NOW, username="alice", password=PASSWORD)


def test_a_weaker_hash_is_replaced_at_log_in(session, settings, alice, service_hasher):
    from argon2 import PasswordHasher

    begin_write(session)
    alice.password_hash = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD.encode())
    version = alice.password_version
    session.commit()
    log_in(session, settings, NOW, username="alice", password=PASSWORD)
    assert "m=19456,t=2,p=1" in alice.password_hash
    assert alice.password_version == version
    log_in(session, settings, NOW, username="alice", password=PASSWORD)


def test_a_second_factor_turned_on_in_the_middle_of_a_log_in_is_asked_for(session, settings, alice, monkeypatch):
    def meanwhile(stored):
        session.rollback()
        with_second_factor(session, settings, session.get(User, alice.id))
        return False

    monkeypatch.setattr(passwords, "needs_rehash", meanwhile)
    with pytest.raises(PasscodeRequiredError):
        log_in(session, settings, NOW, username="alice", password=PASSWORD)


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
    for shown in (PASSWORD, opened, ids.new_app_password(), ids.new_access_token(), ids.new_client_secret(), ""):
        with pytest.raises(InvalidCredentialsError):
            check_app_password(connection, NOW, shown)


def add(session, user, **values):
    secret = add_credential(session, LOGIN_SESSION, user_id=user.id, **values)
    return verify(session.connection(), secret, NOW)


def ids_of(session, user, now=NOW):
    return [one.id for one in list_sessions(session, user, now)]


def test_a_session_is_listed_to_the_second_at_which_it_ends(session, alice):
    lasting = add(session, alice).credential_id
    limited = add(session, alice, expires_at=NOW + 60 * SECOND).credential_id
    idle = add(session, alice, idle_seconds=60).credential_id
    used = add(session, alice, idle_seconds=60, last_used_at=NOW + 30 * SECOND).credential_id
    add_credential(session, APP_PASSWORD, user_id=alice.id)
    add(session, add_user(session, "bob"))
    assert sorted(ids_of(session, alice, NOW + 59 * SECOND)) == [lasting, limited, idle, used]
    assert sorted(ids_of(session, alice, NOW + 60 * SECOND)) == [lasting, used]
    assert ids_of(session, alice, NOW + 90 * SECOND) == [lasting]


@pytest.fixture
def three(settings):
    return replace(settings, sessions_each=3)


def is_alive(session, secret):
    try:
        verify(session.connection(), secret, NOW)
    except InvalidTokenError:
        return False
    return True


def add_sessions(session, user, count, **values):
    begin_write(session)
    row = {"kind": LOGIN_SESSION, "scope": "*", "user_id": user.id, "created_at": NOW, "last_used_at": NOW}
    session.execute(
        insert(Credential),
        [{**row, "uid": f"sess{number:08d}", "digest": f"{number:064x}", **values} for number in range(count)],
    )
    session.flush()


def test_a_session_beyond_the_limit_ends_the_oldest_session_of_the_account(session, three):
    alice, bob = (add_user(session, name, password_hash=HASH) for name in ("alice", "bob"))
    app = issue(by_command(session), name="frame", scope=EVERYTHING, user=alice)
    others = [
        log_in(session, three, NOW, username="bob", password=PASSWORD).secret,
        log_in(session, three, NOW, username="alice", password=app.secret).secret,
    ]
    own = [log_in(session, three, NOW, username="alice", password=PASSWORD).secret for _ in range(5)]
    assert [is_alive(session, secret) for secret in own] == [False, False, True, True, True]
    assert all(is_alive(session, secret) for secret in (*others, app.secret))
    assert bob.id != alice.id


def test_the_sessions_of_each_app_password_are_limited_apart(session, three):
    alice = add_user(session, password_hash=HASH)
    first, second = (issue(by_command(session), name=name, scope=EVERYTHING, user=alice).secret for name in ("a", "b"))
    kept = [log_in(session, three, NOW, username="alice", password=PASSWORD).secret]
    kept += [log_in(session, three, NOW, username="alice", password=second).secret for _ in range(3)]
    many = [log_in(session, three, NOW, username="alice", password=first).secret for _ in range(4)]
    assert [is_alive(session, secret) for secret in many] == [False, True, True, True]
    assert all(is_alive(session, secret) for secret in (*kept, first, second))


def test_a_sweep_deletes_no_more_than_it_may(session):
    alice = add_user(session)
    add_sessions(session, alice, 30, expires_at=NOW)
    assert [sweep(session, NOW, most=20) for _ in range(3)] == [20, 10, 0]
    add_sessions(session, alice, 30, idle_seconds=60, last_used_at=NOW - 60 * SECOND)
    assert [sweep(session, NOW, most=20) for _ in range(3)] == [20, 10, 0]


def test_a_signed_proof_of_a_removed_account_is_refused(session, settings):
    text = sign_proof(settings, NOW, PasscodeRequiredError(user_id=999, password_version=1))
    with pytest.raises(InvalidCredentialsError):
        read_proof(session.connection(), settings, NOW, text)
