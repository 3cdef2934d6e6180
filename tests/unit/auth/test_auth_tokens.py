import re

import pytest
from sqlalchemy import select

from photosvc.auth.credentials import (
    delete_credentials,
    find_credential,
    issue,
    list_credentials,
    sweep,
)
from photosvc.auth.errors import ExpiredTokenError, InvalidTokenError
from photosvc.auth.grants import use_of_tokens
from photosvc.auth.principal import Origin
from photosvc.auth.scopes import EVERYTHING, parse_scope
from photosvc.auth.tokens import find, needs_touch, touch, verify, verify_uid
from photosvc.core import ids
from photosvc.core.accounts import MAX_CREDENTIAL_LIFETIME
from photosvc.core.errors import NotFoundError
from photosvc.models import ACCESS_TOKEN, APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION, Credential
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_client, add_credential, add_user
from tests.unit.auth.operations import by_command

MINUTE = 60 * SECOND


def test_an_app_password_acts_for_its_owner(session):
    alice = add_user(session, password_version=7)
    secret = add_credential(
        session, APP_PASSWORD, "photos read", ids.new_app_password(), user_id=alice.id, name="frame"
    )
    principal = verify(session.connection(), secret, NOW)
    assert (principal.kind, principal.standing, principal.role) == (APP_PASSWORD, APP_PASSWORD, "user")
    assert (principal.user_id, principal.user_uid, principal.user_name) == (alice.id, alice.uid, "alice")
    assert (principal.password_version, principal.credential_name, str(principal.scope)) == (7, "frame", "photos read")
    assert principal.sees_private
    assert verify_uid(session.connection(), principal.credential_uid, NOW) == principal


def test_a_token_without_an_owner_acts_as_a_client(session):
    secret = add_credential(session, ACCESS_TOKEN, "*")
    principal = verify(session.connection(), secret, NOW)
    assert (principal.role, principal.user_uid, principal.client_uid) == ("client", None, None)
    assert not principal.sees_private


@pytest.mark.parametrize(
    ("client_role", "sponsor_role", "sees_private"),
    [("client", None, False), ("admin", None, True), ("admin", "viewer", False), ("admin", "user", True)],
)
def test_a_clients_token_sees_photos_by_its_role_and_its_sponsor(session, client_role, sponsor_role, sees_private):
    sponsor = add_user(session, role=sponsor_role) if sponsor_role else None
    client = add_client(session, role=client_role, user_id=sponsor.id if sponsor else None)
    secret = add_credential(session, CLIENT_TOKEN, client_id=client.id)
    principal = verify(session.connection(), secret, NOW)
    assert (principal.client_uid, principal.role, principal.user_uid) == (client.uid, client_role, None)
    assert principal.sees_private is sees_private


def test_a_token_ends_exactly_when_it_expires(session):
    secret = add_credential(session, ACCESS_TOKEN, expires_at=NOW)
    for offset in (-3600, -1, -1e-6):
        assert verify(session.connection(), secret, NOW + offset * SECOND).expires_at == NOW, offset
    for offset in (0, 1, 10**9):
        with pytest.raises(ExpiredTokenError):
            verify(session.connection(), secret, NOW + offset * SECOND)


def test_a_deleted_expired_token_stays_invalid_when_the_clock_is_set_back(session):
    secret = add_credential(session, ACCESS_TOKEN, expires_at=NOW)
    with pytest.raises(ExpiredTokenError) as caught:
        verify(session.connection(), secret, NOW)
    delete_credentials(session, Credential.id == caught.value.credential_id)
    with pytest.raises(InvalidTokenError):
        verify(session.connection(), secret, NOW - 3600 * SECOND)


def test_a_login_session_ends_exactly_after_its_idle_time(session):
    alice = add_user(session)
    of_alice = {"user_id": alice.id, "idle_seconds": 100}
    used = add_credential(session, LOGIN_SESSION, **of_alice, last_used_at=NOW)
    unused = add_credential(session, LOGIN_SESSION, **of_alice)
    late = add_credential(session, LOGIN_SESSION, user_id=alice.id, expires_at=NOW + 100 * SECOND)
    for secret in (used, unused, late):
        verify(session.connection(), secret, NOW + 99 * SECOND)
        for seconds in (100, 101):
            with pytest.raises(ExpiredTokenError):
                verify(session.connection(), secret, NOW + seconds * SECOND)


def test_all_refusals_say_the_same(session):
    expired = add_credential(session, ACCESS_TOKEN, expires_at=NOW)
    disabled = add_credential(session, LOGIN_SESSION, user_id=add_user(session, disabled=True).id)
    off = add_credential(session, CLIENT_TOKEN, client_id=add_client(session, enabled=False).id)
    bob = add_user(session, "bob", disabled=True)
    orphan = add_credential(session, CLIENT_TOKEN, client_id=add_client(session, user_id=bob.id).id)
    messages = set()
    unknown = ("0" * 48, ids.new_app_password(), "", "\0", "é", "\ud800", "a" * 10**5)
    for secret in (expired, disabled, off, orphan, *unknown):
        with pytest.raises(InvalidTokenError) as caught:
            verify(session.connection(), secret, NOW)
        messages.add((caught.value.message, caught.value.status))
    assert messages == {("The access token is missing, expired or not valid.", 401)}


def test_verifying_is_one_statement(session):
    secret = add_credential(session, LOGIN_SESSION, user_id=add_user(session).id)
    session.commit()
    statements = []
    session.connection().connection.driver_connection.set_trace_callback(statements.append)
    verify(session.connection(), secret, NOW)
    assert [statement.split()[0] for statement in statements] == ["SELECT"]
    plan = session.connection().exec_driver_sql("EXPLAIN QUERY PLAN " + statements[-1]).all()
    assert not [row for row in plan if "SCAN" in row[3]]


def test_the_last_use_is_written_at_most_once_a_minute(session):
    secret = add_credential(session, ACCESS_TOKEN)
    principal = verify(session.connection(), secret, NOW)
    assert needs_touch(principal, NOW)
    assert touch(session, principal, NOW, Origin.of("192.0.2.1", "Frame/1"))
    assert not touch(session, principal, NOW + 59 * SECOND, Origin.of("192.0.2.2", ""))
    assert not touch(session, principal, NOW - 3600 * SECOND)
    principal = verify(session.connection(), secret, NOW)
    assert not needs_touch(principal, NOW + 59 * SECOND)
    assert needs_touch(principal, NOW + MINUTE)
    assert touch(session, principal, NOW + MINUTE)
    row = session.scalars(select(Credential)).one()
    assert (row.last_used_at, row.last_ip, row.user_agent) == (NOW + MINUTE, "192.0.2.1", "Frame/1")


def test_a_short_session_in_steady_use_stays_alive(session):
    secret = add_credential(session, LOGIN_SESSION, user_id=add_user(session).id, idle_seconds=60)
    for step in range(40):
        now = NOW + step * 50 * SECOND
        principal = verify(session.connection(), secret, now)
        if needs_touch(principal, now):
            touch(session, principal, now)


def test_a_credential_is_found_by_its_secret_even_when_it_has_expired(session):
    secret = add_credential(session, ACCESS_TOKEN, expires_at=NOW - SECOND)
    row = session.execute(select(Credential.id, Credential.uid, Credential.client_id)).one()
    assert find(session.connection(), secret) == tuple(row)
    assert find(session.connection(), ids.new_access_token()) is None


def test_the_live_tokens_of_a_client_are_counted_with_their_last_use(session):
    client, other, later = add_client(session), add_client(session), NOW + MINUTE
    assert use_of_tokens(session, client.id, NOW) == (0, None)
    add_credential(session, CLIENT_TOKEN, client_id=client.id, expires_at=later, last_used_at=NOW - MINUTE)
    add_credential(session, CLIENT_TOKEN, client_id=client.id, expires_at=later)
    add_credential(session, CLIENT_TOKEN, client_id=client.id, expires_at=NOW, last_used_at=NOW)
    add_credential(session, CLIENT_TOKEN, client_id=other.id, expires_at=later, last_used_at=NOW)
    assert use_of_tokens(session, client.id, NOW) == (2, NOW - MINUTE)


def test_an_app_password_is_shown_once_and_stored_as_a_digest(session):
    issued = issue(by_command(session), name=" Frame ", scope=parse_scope("photos read"), user=add_user(session))
    assert ids.is_app_password(issued.secret)
    assert re.fullmatch(r"sess[0-9a-z]{8}", issued.credential.uid)
    assert (issued.credential.kind, issued.credential.name) == (APP_PASSWORD, "Frame")
    assert issued.credential.expires_at == NOW + 31_536_000 * SECOND
    assert verify(session.connection(), issued.secret, NOW).credential_uid == issued.credential.uid
    row = session.execute(select(Credential.__table__)).one()
    assert not [value for value in row if isinstance(value, str) and issued.secret in value]


def test_without_a_user_it_is_an_access_token_of_a_client(session):
    issued = issue(by_command(session), name="cron", scope=EVERYTHING, lifetime=-1)
    assert ids.is_access_token(issued.secret)
    assert (issued.credential.kind, issued.credential.expires_at) == (ACCESS_TOKEN, None)


@pytest.mark.parametrize("lifetime", [1, MAX_CREDENTIAL_LIFETIME])
def test_the_shortest_and_the_longest_lifetime_are_exact(session, lifetime):
    issued = issue(by_command(session), name="x", scope=EVERYTHING, lifetime=lifetime)
    session.commit()
    assert issued.credential.expires_at == NOW + lifetime * SECOND


def test_a_credential_is_found_by_its_uid_or_its_secret(session):
    issued = issue(by_command(session), name="x", scope=EVERYTHING)
    assert find_credential(session, issued.credential.uid) is issued.credential
    assert find_credential(session, issued.secret) is issued.credential
    for wrong in ("sess00000000", "", "x", "\ud800", "sess\ud800"):
        with pytest.raises(NotFoundError):
            find_credential(session, wrong)


def test_credentials_are_listed_by_last_use_and_found_by_prefix(session):
    alice, bob = add_user(session), add_user(session, "bob")
    first = issue(by_command(session), name="100% frame", scope=EVERYTHING, user=alice).credential
    second = issue(by_command(session, NOW + SECOND), name="phone", scope=EVERYTHING, user=bob).credential
    third = issue(by_command(session, NOW + 2 * SECOND), name="cron", scope=EVERYTHING).credential
    first.last_used_at = NOW + 9 * SECOND
    session.flush()
    assert list_credentials(session) == [first, third, second]
    assert list_credentials(session, limit=1) == [first]
    assert list_credentials(session, user=bob) == [second]
    assert list_credentials(session, kinds=[ACCESS_TOKEN]) == [third]
    assert list_credentials(session, search="ALI") == [first]
    assert list_credentials(session, search="100%") == [first]
    assert list_credentials(session, search="%") == list_credentials(session, search="\udcff") == []
    assert list_credentials(session, search="app") == [first, second]
    assert list_credentials(session, search=third.uid) == [third]


def test_the_sweep_deletes_exactly_the_expired_credentials(session):
    alice = add_user(session)
    over = [
        add_credential(session, ACCESS_TOKEN, expires_at=NOW),
        add_credential(session, CLIENT_TOKEN, expires_at=NOW - SECOND),
        add_credential(session, LOGIN_SESSION, user_id=alice.id, idle_seconds=60, last_used_at=NOW - 60 * SECOND),
        add_credential(session, LOGIN_SESSION, user_id=alice.id, idle_seconds=90, created_at=NOW - 90 * SECOND),
    ]
    alive = [
        add_credential(session, ACCESS_TOKEN),
        add_credential(session, ACCESS_TOKEN, expires_at=NOW + SECOND),
        add_credential(session, LOGIN_SESSION, user_id=alice.id, idle_seconds=60, last_used_at=NOW - 59 * SECOND),
        add_credential(session, LOGIN_SESSION, user_id=alice.id, idle_seconds=90, last_used_at=NOW - 60 * SECOND),
    ]
    for secret in over:
        with pytest.raises(InvalidTokenError):
            verify(session.connection(), secret, NOW)
    assert sweep(session, NOW) == 4
    assert sweep(session, NOW) == 0
    for secret in alive:
        verify(session.connection(), secret, NOW)
