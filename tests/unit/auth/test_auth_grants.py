import pytest
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidScopeError
from hypothesis import given
from hypothesis import strategies as st

from photosvc.auth import clients
from photosvc.auth.grants import authenticate, grant_token, granted_scope
from photosvc.auth.scopes import EVERYTHING, SCOPES, is_within, parse_scope
from photosvc.core import ids
from tests.helpers.clock import NOW
from tests.helpers.examples import examples
from tests.helpers.library import open_session
from tests.helpers.operations import by_anonymous, by_command

WORDS = st.lists(
    st.sampled_from([scope.name for scope in SCOPES] + ["users:false", "photos:true", "Photos", "x", ""]), max_size=5
)


@examples(300)
@given(own=WORDS, wanted=WORDS)
def test_what_is_granted_is_what_was_asked_for_and_never_more_than_the_client_has(own, wanted):
    own_scope = parse_scope(" ".join(own), known_only=False)
    requested = " ".join(wanted)
    try:
        scope = granted_scope(own_scope, requested)
    except InvalidScopeError:
        return
    assert is_within(scope, own_scope)
    assert set(str(scope).split()) == set(requested.split()) or not requested


def test_a_client_that_changes_between_its_proof_and_its_token_gets_none(tmp_path):
    with open_session(tmp_path) as session:
        for end in (
            lambda uid: clients.change(by_command(session), uid, {"enabled": False}),
            lambda uid: clients.change(by_command(session), uid, {}, new_secret=True),
            lambda uid: clients.remove(by_command(session), uid),
        ):
            registered = clients.register(by_command(session), name="frame", scope=EVERYTHING)
            session.commit()
            client = authenticate(session.connection(), registered.client.uid, registered.secret)
            end(client.uid)
            session.commit()
            with pytest.raises(InvalidClientError):
                grant_token(by_anonymous(session), client, ids.new_access_token(), EVERYTHING)
            session.rollback()


def test_a_client_acts_with_its_scope_and_role_and_sees_nothing_private(session):
    registered = clients.register(by_command(session), name="frame", scope=parse_scope("photos"), role="admin")
    who = authenticate(session.connection(), registered.client.uid, registered.secret).principal(NOW)
    assert (who.kind, who.client_uid, who.role) == ("client_token", registered.client.uid, "admin")
    assert (str(who.scope), who.sees_private, who.credential_name) == ("photos", False, "frame")
