"""Principals, their shared limits and their lifetimes; users of a host app, and when their links open."""

from dataclasses import replace
from datetime import timedelta

import pytest

from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.link_tokens import download_token, preview_token, verify_any, verify_download
from photosvc.auth.principal import APP_SESSION, HOST_USER, HostUser, Principal, is_host_uid
from photosvc.auth.scopes import EVERYTHING
from photosvc.core import ids
from photosvc.models import ACCESS_TOKEN, LOGIN_SESSION
from tests.helpers.clock import NOW
from tests.helpers.library import new_settings


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"id": ""}, "id must be a text of 1 to 500 characters, not ''"),
        ({"id": "x" * 501}, "id must be a text of 1 to 500 characters"),
        ({"id": 7}, "id must be a text of 1 to 500 characters, not 7"),
        ({"id": "7", "role": "root"}, "role must be one of admin, user, viewer, not 'root'"),
        ({"id": "7", "role": "client"}, "role must be one of admin, user, viewer, not 'client'"),
        ({"id": "7", "scope": "fotos"}, '"fotos" is not a scope; did you mean "photos"?'),
    ],
)
def test_a_user_that_makes_no_sense_is_refused_where_it_is_made(values, sentence):
    with pytest.raises(ValueError, match=r"HostUser: .*") as refused:
        HostUser(**values)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("values", "role", "sees_private"),
    [
        ({}, "viewer", False),
        ({"role": "user"}, "user", True),
        ({"role": "admin"}, "admin", True),
        ({"sees_private": True}, "viewer", True),
        ({"role": "admin", "sees_private": False}, "admin", False),
    ],
)
def test_a_user_becomes_a_principal_with_the_role_and_the_sight_that_the_host_says(values, role, sees_private):
    who = HostUser(id="jane@example.org", name="Jane", scope="photos read", **values).principal(NOW)
    assert (who.kind, who.standing, who.role, who.sees_private) == (HOST_USER, HOST_USER, role, sees_private)
    assert (who.credential_name, str(who.scope), who.expires_in(NOW)) == ("Jane", "photos read", 0)
    assert (who.user_uid, who.user_id, who.client_uid) == (None, None, None)


def test_a_user_without_a_name_is_called_by_the_id():
    assert HostUser(id="jane").principal(NOW).credential_name == "jane"


def test_uids_tell_users_apart_say_nothing_of_them_and_are_no_uids_of_credentials():
    uids = {HostUser(id=one).uid for one in ("jane", "Jane", "jane ", "\ud800", "7")}
    assert len(uids) == 5
    assert all(is_host_uid(uid) and len(uid) == 28 and "." not in uid for uid in uids)
    assert HostUser(id="jane").principal(NOW).owner_uid == HostUser(id="jane", role="admin").uid
    assert not is_host_uid(ids.new_uid("sess", NOW))


@pytest.fixture
def tokens(tmp_path):
    """Settings, and the preview and download token of a user of a host."""
    settings, jane = new_settings(tmp_path), HostUser(id="jane").principal(NOW)
    return settings, preview_token(settings, jane), download_token(settings, jane, NOW)


def verified(tokens, signed_in):
    """Tell whether the tokens open what they are for while this user is signed in; nothing is read from a database."""
    settings, preview, download = tokens
    loader = (lambda: signed_in.principal(NOW)) if signed_in else (lambda: None)
    opened = []
    for verify, token in (
        (verify_any, preview),
        (verify_any, download),
        (verify_download, download),
    ):
        try:
            opened.append(verify(None, settings, token, NOW, loader).credential_uid)
        except InvalidTokenError:
            opened.append(None)
    return opened


def test_links_open_while_the_same_user_is_signed_in_with_the_same_role(tokens):
    assert verified(tokens, HostUser(id="jane")) == [HostUser(id="jane").uid] * 3


@pytest.mark.parametrize("signed_in", [None, HostUser(id="john"), HostUser(id="jane", role="user")])
def test_links_open_nothing_for_anybody_else(tokens, signed_in):
    assert verified(tokens, signed_in) == [None] * 3


def test_links_of_host_users_open_nothing_where_no_host_says_who_is_signed_in(tokens):
    settings, preview, _ = tokens
    with pytest.raises(InvalidTokenError):
        verify_any(None, settings, preview, NOW)


FRAME = Principal(
    kind=ACCESS_TOKEN,
    credential_id=1,
    credential_uid="sess1",
    credential_name="frame",
    scope=EVERYTHING,
    role="client",
    sees_private=False,
    created_at=NOW,
    expires_at=None,
)


@pytest.mark.parametrize(
    ("left", "seconds"),
    [(None, 0), (timedelta(hours=1), 3600), (timedelta(seconds=1.9), 1), (timedelta(0), 1), (timedelta(seconds=-9), 1)],
)
def test_whole_seconds_are_left_at_least_one_and_zero_without_a_limit(left, seconds):
    principal = replace(FRAME, expires_at=None if left is None else NOW + left)
    assert principal.expires_in(NOW) == seconds


def test_a_session_made_from_an_app_password_has_a_standing_of_its_own():
    assert FRAME.standing == replace(FRAME, parent_id=1).standing == ACCESS_TOKEN
    assert replace(FRAME, kind=LOGIN_SESSION).standing == LOGIN_SESSION
    assert replace(FRAME, kind=LOGIN_SESSION, parent_id=1).standing == APP_SESSION


def test_the_owner_is_the_account_or_the_client_or_the_credential_itself():
    assert FRAME.owner_uid == "sess1"
    assert replace(FRAME, client_uid="c1").owner_uid == "c1"
    assert replace(FRAME, client_uid="c1", user_uid="u1").owner_uid == "u1"
