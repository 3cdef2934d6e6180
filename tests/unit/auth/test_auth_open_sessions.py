"""The open login sessions of an account."""

import pytest

from photosvc.auth.credentials import find_owned, list_sessions, renew_proof
from photosvc.auth.tokens import verify
from photosvc.core.errors import NotFoundError
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, Credential
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_credential, add_user
from tests.helpers.operations import by_principal


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


def test_a_credential_is_found_by_its_owner_its_kind_and_its_uid_only(session, alice):
    mine = add(session, alice)
    assert find_owned(session, alice, LOGIN_SESSION, mine.credential_uid).id == mine.credential_id
    for user, kind, uid in (
        (add_user(session, "bob"), LOGIN_SESSION, mine.credential_uid),
        (alice, APP_PASSWORD, mine.credential_uid),
        (alice, LOGIN_SESSION, "sess00000000"),
        (alice, LOGIN_SESSION, "a\0"),
        (alice, LOGIN_SESSION, ""),
    ):
        with pytest.raises(NotFoundError, match=f"no such {kind.replace('_', ' ')}"):
            find_owned(session, user, kind, uid)


def test_a_renewed_proof_belongs_to_one_session(session, alice):
    one, other = add(session, alice), add(session, alice)
    renew_proof(by_principal(session, one, NOW + SECOND))
    found = {row.id: row.proved_at for row in session.query(Credential)}
    assert found == {one.credential_id: NOW + SECOND, other.credential_id: None}
