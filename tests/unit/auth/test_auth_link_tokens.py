import re

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from photosvc.auth import accounts, passwords
from photosvc.auth.credentials import issue, revoke
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.link_tokens import download_token, preview_token, verify_any, verify_download
from photosvc.auth.scopes import EVERYTHING
from photosvc.auth.tokens import verify
from photosvc.models import ACCESS_TOKEN, LOGIN_SESSION
from tests.helpers.clock import NOW, SECOND
from tests.helpers.examples import examples
from tests.helpers.factories.accounts import add_credential, add_user
from tests.helpers.library import new_settings
from tests.unit.auth.operations import by_anonymous, by_command, by_principal


def login(session, user, **values):
    secret = add_credential(session, LOGIN_SESSION, user_id=user.id, **values)
    principal = verify(session.connection(), secret, NOW)
    session.commit()
    return principal


def test_a_preview_token_is_always_the_same_for_its_credential_and_another_for_others(session, settings, alice):
    principal = login(session, alice)
    token = preview_token(settings, principal)
    for text in (token, download_token(settings, principal, NOW)):
        assert re.fullmatch(r"[A-Za-z0-9_-]{30,80}", text)  # clients put tokens into addresses unescaped
    assert preview_token(settings, principal) == token
    assert verify_any(session.connection(), settings, token, NOW) == principal
    others = {
        preview_token(settings, login(session, alice)),
        preview_token(settings, login(session, add_user(session, "bob"))),
    }
    assert len(others | {token}) == 3


#: Changes after which the links of an account's credential open nothing; each gets a session, a principal, a user.
ENDS = {
    "password": lambda session, principal, user: accounts.change_own_password(
        by_principal(session, principal), user, passwords.hash_password("another horse"), code=None
    ),
    **{
        f"{name} {value}": lambda session, _, user, change={name: value}: accounts.change(
            by_command(session), user.uid, **change
        )
        for name, value in (("role", "viewer"), ("role", "admin"), ("disabled", True))
    },
    "removal": lambda session, _, user: accounts.remove(by_anonymous(session), user.uid),
}


@pytest.mark.parametrize("end", ENDS)
def test_link_tokens_end_with_the_password_the_role_and_the_account(session, settings, alice, end):
    principal = login(session, alice)
    preview, download = preview_token(settings, principal), download_token(settings, principal, NOW)
    ENDS[end](session, principal, alice)
    for check, token in ((verify_any, preview), (verify_any, download), (verify_download, download)):
        with pytest.raises(InvalidTokenError):
            check(session.connection(), settings, token, NOW)
    if end == "password":
        renewed = preview_token(settings, login(session, alice))
        verify_any(session.connection(), settings, renewed, NOW)


def test_the_preview_token_of_a_credential_without_a_user_lives_as_long_as_that(session, settings):
    secret = add_credential(session, ACCESS_TOKEN, expires_at=NOW + 60 * SECOND)
    principal = verify(session.connection(), secret, NOW)
    token = preview_token(settings, principal)
    assert not verify_any(session.connection(), settings, token, NOW + 59 * SECOND).sees_private
    with pytest.raises(InvalidTokenError):
        verify_any(session.connection(), settings, token, NOW + 60 * SECOND)


def test_a_download_token_lasts_one_hour(session, settings, alice):
    principal = login(session, alice)
    token = download_token(settings, principal, NOW)
    for text in (token, download_token(settings, principal, NOW)):
        assert re.fullmatch(r"[A-Za-z0-9_-]{30,80}", text)  # clients put tokens into addresses unescaped
    early, late = (download_token(settings, principal, NOW + seconds * SECOND) for seconds in (0.5, 60))
    assert early == late != token  # it ends at a full minute, so that answers of one minute have the same
    for check in (verify_download, verify_any):
        for seconds in (-1, 0, 3599):
            assert check(session.connection(), settings, token, NOW + seconds * SECOND) == principal
        for seconds in (3600, 3601):
            with pytest.raises(InvalidTokenError):
                check(session.connection(), settings, token, NOW + seconds * SECOND)


def test_thumbnails_and_videos_open_with_a_preview_token_too_and_for_longer_than_an_hour(session, settings, alice):
    principal = login(session, alice)
    token = preview_token(settings, principal)
    assert verify_any(session.connection(), settings, token, NOW + 3601 * SECOND) == principal


def test_a_download_token_dies_with_its_credential(session, settings, alice):
    app = issue(by_command(session), name="x", scope=EVERYTHING, lifetime=60, user=alice)
    token = download_token(settings, verify(session.connection(), app.secret, NOW), NOW)
    verify_download(session.connection(), settings, token, NOW + 59 * SECOND)
    with pytest.raises(InvalidTokenError):
        verify_download(session.connection(), settings, token, NOW + 60 * SECOND)
    revoke(by_command(session), app.credential.uid)
    with pytest.raises(InvalidTokenError):
        verify_download(session.connection(), settings, token, NOW)


def test_a_preview_token_opens_no_download(session, settings, alice):
    principal = login(session, alice)
    with pytest.raises(InvalidTokenError):
        verify_download(session.connection(), settings, preview_token(settings, principal), NOW)


def test_another_service_key_signs_other_tokens(session, settings, alice, tmp_path):
    other = new_settings(tmp_path, secret_key="x" * 32)
    with pytest.raises(InvalidTokenError):
        verify_any(session.connection(), settings, preview_token(other, login(session, alice)), NOW)


@examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_changed_token_opens_anything(session, settings, alice, data):
    principal = login(session, alice)
    token = data.draw(st.sampled_from([preview_token(settings, principal), download_token(settings, principal, NOW)]))
    position = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.characters())
    changed = data.draw(
        st.sampled_from([token[:position] + character + token[position + 1 :], token[:position], token + character])
    )
    if changed == token:
        return
    for check in (verify_download, verify_any):
        with pytest.raises(InvalidTokenError):
            check(session.connection(), settings, changed, NOW)


@pytest.mark.parametrize("token", ["", "-", "--", "a-b-c", "é-1-x", "\ud800", "-" * 10**5, "u-1-" + "x" * 10**6])
def test_texts_that_are_no_link_tokens_are_refused(session, settings, token):
    for check in (verify_download, verify_any):
        with pytest.raises(InvalidTokenError):
            check(session.connection(), settings, token, NOW)
