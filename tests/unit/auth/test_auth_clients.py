from datetime import timedelta

import pytest
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidScopeError
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.auth import accounts, clients, credentials
from photosvc.auth.errors import ScopeTooWideError
from photosvc.auth.grants import authenticate, grant_token, granted_scope
from photosvc.auth.scopes import EVERYTHING, SCOPES, Scope, is_within, parse_scope
from photosvc.core import ids
from photosvc.core.errors import InvalidValueError, PermissionDeniedError
from photosvc.models import AuditEntry
from tests.helpers.clock import NOW
from tests.helpers.examples import examples
from tests.helpers.factories.accounts import add_client, add_user
from tests.helpers.library import open_session
from tests.unit.auth.operations import by_anonymous, by_command, by_user

LATER = NOW + timedelta(hours=1)


def new(session, **values):
    return clients.register(by_command(session), **{"name": "frame", "scope": parse_scope("photos"), **values})


def test_a_value_that_makes_no_sense_is_refused_when_added_and_when_changed(session):
    uid = new(session).client.uid
    session.commit()
    for name, field, values in (
        ("name", "name", ("", "x" * 161, "a\x00b")),
        ("scope", "scope", (Scope(),)),
        ("role", "role", ("user", "")),
        ("lifetime", "expires", (0, -1, 2_678_401)),
        ("limit", "tokens", (0, -2, 2**31)),
        ("token_format", "token_format", ("JWT",)),
    ):
        for value in values:
            for act in (
                lambda given: new(session, **given),
                lambda given: clients.change(by_command(session), uid, given),
            ):
                with pytest.raises(InvalidValueError) as caught:
                    act({name: value})
                assert (caught.value.field, caught.value.exit_code) == (field, 2), value
                session.rollback()
    assert clients.find_client(session, uid).updated_at == NOW
    for values in ({"lifetime": 1}, {"lifetime": 2_678_400}, {"limit": 1}, {"limit": -1}):
        assert new(session, **values).client.id


def test_lists_are_by_name_and_searched_by_beginning(session):
    owner = add_user(session, "zoe")
    first = new(session, name="Prometheus").client
    new(session, name="frame", role="admin", user=owner)
    new(session, name="100% frame_x")

    def names(search="", limit=100):
        return [client.name for client in clients.list_clients(session, search=search, limit=limit)]

    assert names() == ["100% frame_x", "Prometheus", "frame"]
    assert names(limit=1) == ["100% frame_x"]
    assert names("prom") == names(first.uid) == names(first.uid.upper()) == ["Prometheus"]
    assert names("admin") == names("ZOE") == ["frame"]
    assert names("%") == names("_") == names("nobody") == names("\x00\udc80") == []
    assert names("100%") == ["100% frame_x"]


def test_a_secret_that_was_never_seen_is_replaced_by_the_old_one_unless_it_was_replaced_again(session):
    for is_replaced_again in (False, True):
        registered = new(session)
        uid, digest = registered.client.uid, registered.client.secret_digest
        lost = clients.change(by_command(session), uid, {}, new_secret=True).secret
        right, wrong = registered.secret, lost
        if is_replaced_again:
            right, wrong = clients.change(by_command(session), uid, {}, new_secret=True).secret, registered.secret
        clients.undo_new_secret(by_command(session), uid, digest, lost=lost)
        assert authenticate(session.connection(), uid, right).uid == uid
        with pytest.raises(InvalidClientError):
            authenticate(session.connection(), uid, wrong)


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


WORDS = st.lists(
    st.sampled_from([scope.name for scope in SCOPES] + ["users:false", "photos:true", "Photos", "x", ""]), max_size=5
)


@examples(300)
@given(own=WORDS, wanted=WORDS)
def test_the_requested_scope_is_granted_and_never_more_than_the_client_has(own, wanted):
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
