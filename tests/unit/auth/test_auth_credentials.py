import re

import pytest
from sqlalchemy import select

from photosvc.auth.credentials import (
    end_login_sessions,
    find_credential,
    issue,
    list_credentials,
    revoke,
    revoke_all,
    sweep,
)
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.scopes import EVERYTHING, Scope, parse_scope
from photosvc.auth.tokens import verify
from photosvc.core import ids
from photosvc.core.accounts import MAX_CREDENTIAL_LIFETIME
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import ACCESS_TOKEN, APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION, Credential
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_credential, add_user
from tests.helpers.operations import by_command


def test_an_app_password_is_shown_once_and_kept_as_a_digest(session):
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


@pytest.mark.parametrize("lifetime", [0, -2, -31_536_000, MAX_CREDENTIAL_LIFETIME + 1, 10**30])
def test_a_lifetime_without_meaning_is_refused(session, lifetime):
    with pytest.raises(InvalidValueError) as caught:
        issue(by_command(session), name="x", scope=EVERYTHING, lifetime=lifetime)
    assert caught.value.field == "expires"


@pytest.mark.parametrize("lifetime", [1, MAX_CREDENTIAL_LIFETIME])
def test_the_shortest_and_the_longest_lifetime_are_kept_exactly(session, lifetime):
    issued = issue(by_command(session), name="x", scope=EVERYTHING, lifetime=lifetime)
    session.commit()
    assert issued.credential.expires_at == NOW + lifetime * SECOND


@pytest.mark.parametrize("name", ["", " ", "a" * 161, "a\nb", "a\0", "\u202e"])
def test_a_name_unfit_for_lists_is_refused(session, name):
    with pytest.raises(InvalidValueError) as caught:
        issue(by_command(session), name=name, scope=EVERYTHING)
    assert caught.value.field == "name"


def test_a_scope_that_reaches_nothing_is_refused(session):
    with pytest.raises(InvalidValueError) as caught:
        issue(by_command(session), name="x", scope=Scope())
    assert caught.value.field == "scope"


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


def test_a_revoked_credential_is_dead_and_so_are_its_children(session):
    issued = issue(by_command(session), name="x", scope=EVERYTHING, user=add_user(session))
    child = add_credential(session, LOGIN_SESSION, parent_id=issued.credential.id, user_id=issued.credential.user_id)
    other = add_credential(session, ACCESS_TOKEN)
    revoke(by_command(session), issued.credential.uid)
    for secret in (issued.secret, child):
        with pytest.raises(InvalidTokenError):
            verify(session.connection(), secret, NOW)
    verify(session.connection(), other, NOW)
    assert revoke_all(by_command(session)) == 1


def test_ending_login_sessions_keeps_everything_else(session):
    alice, bob = add_user(session), add_user(session, "bob")
    app_password = issue(by_command(session), name="x", scope=EVERYTHING, user=alice)
    kept = add_credential(session, LOGIN_SESSION, user_id=alice.id)
    ended = add_credential(session, LOGIN_SESSION, user_id=alice.id)
    child = add_credential(session, LOGIN_SESSION, user_id=alice.id, parent_id=app_password.credential.id)
    other = add_credential(session, LOGIN_SESSION, user_id=bob.id)
    assert end_login_sessions(session, alice.id, keep=verify(session.connection(), kept, NOW).credential_id) == 1
    for secret in (app_password.secret, kept, child, other):
        verify(session.connection(), secret, NOW)
    with pytest.raises(InvalidTokenError):
        verify(session.connection(), ended, NOW)
    assert end_login_sessions(session, alice.id) == 1


def test_the_sweep_takes_exactly_what_is_over(session):
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
