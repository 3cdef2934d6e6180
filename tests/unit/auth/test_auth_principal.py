"""Who acts: whose limits they share, and how long their credential lasts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from photosvc.auth.principal import APP_SESSION, Principal
from photosvc.auth.scopes import EVERYTHING
from photosvc.models import ACCESS_TOKEN, LOGIN_SESSION

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
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
