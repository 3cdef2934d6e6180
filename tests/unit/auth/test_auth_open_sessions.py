"""The open login sessions of an account."""

from photosvc.auth.credentials import list_sessions
from photosvc.auth.tokens import verify
from photosvc.models import APP_PASSWORD, LOGIN_SESSION
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_credential, add_user


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
