import re

import pytest
from sqlalchemy import select

from photosvc.auth.credentials import (
    find_credential,
    issue,
    list_credentials,
    sweep,
)
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.scopes import EVERYTHING, parse_scope
from photosvc.auth.tokens import verify
from photosvc.core import ids
from photosvc.core.accounts import MAX_CREDENTIAL_LIFETIME
from photosvc.core.errors import NotFoundError
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


@pytest.mark.parametrize("lifetime", [1, MAX_CREDENTIAL_LIFETIME])
def test_the_shortest_and_the_longest_lifetime_are_kept_exactly(session, lifetime):
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
