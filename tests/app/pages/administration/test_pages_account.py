"""Administration > Accounts > one, in a browser without scripts."""

import re

import pyotp
import pytest

from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import PASSWORD

ACCOUNTS = "/administration/accounts"
NEW = "a much better password"


@pytest.fixture
def path(api):
    return f"{ACCOUNTS}/{api.uids['alice']}"


@pytest.fixture
def own(api):
    return f"{ACCOUNTS}/{api.uids['ann']}"


def follow(browser, answer):
    assert answer.status_code == 303, text_of(answer)
    return text_of(browser.open(answer.headers["Location"], headers=OWN))


def test_role_and_names_are_changed(ann, api, path):
    sent = {"role": "viewer", "display_name": "Alice <img src=x onerror=alert(1)>", "email": "a@example.org"}
    assert "Account saved." in follow(ann, ann.send(f"{path}/change", sent))
    page = ann.open(path, headers=OWN).text
    assert 'value="viewer" checked' in page
    assert 'value="Alice &lt;img src=x onerror=alert(1)&gt;"' in page
    assert "<img src=x" not in page + ann.open(ACCOUNTS, headers=OWN).text
    answer = api.call("GET", api.user_path("alice"), api.session_of("ann")).json
    assert (answer["Role"], answer["Email"]) == ("viewer", "a@example.org")


def test_what_is_wrong_with_a_change_is_told_and_nothing_is_changed(ann, path):
    answer = ann.send(f"{path}/change", {"role": "user", "email": "nobody"})
    assert (answer.status_code, "an email address is one such as" in text_of(answer)) == (400, True)
    assert 'value="user" checked' in ann.open(path, headers=OWN).text


def test_a_disabled_account_is_out_at_once_and_in_again_when_enabled(ann, alice, api, path):
    secret = api.app_password()
    assert "The account is disabled" in follow(ann, ann.send(f"{path}/disable", {}))
    assert (alice.open("/", headers=OWN).status_code, api.is_alive(secret)) == (303, False)
    assert Browser(api).sign_in().status_code == 403
    assert "alice Disabled" in text_of(ann.open(ACCOUNTS, headers=OWN))
    assert "Account enabled." in follow(ann, ann.send(f"{path}/enable", {}))
    assert (Browser(api).sign_in().status_code, api.is_alive(secret)) == (303, True)


def test_the_last_administrator_stays_one(ann, own):
    for rest, form in (("/disable", {}), ("/delete", {}), ("/change", {"role": "viewer"})):
        answer = ann.send(f"{own}{rest}", form)
        assert (answer.status_code, "The last enabled administrator must remain" in text_of(answer)) == (409, True)
    assert ann.open(ACCOUNTS, headers=OWN).status_code == 200


def test_a_new_password_signs_the_account_out_and_keeps_its_app_passwords(ann, alice, api, path):
    secret = api.app_password()
    done = ann.send(f"{path}/password", {"new": NEW, "again": NEW})
    assert "The password is changed." in follow(ann, done)
    assert (alice.open("/", headers=OWN).status_code, api.is_alive(secret)) == (303, True)
    assert (Browser(api).sign_in().status_code, Browser(api).sign_in(password=NEW).status_code) == (403, 303)


def test_why_a_new_password_will_not_do_is_told_in_its_open_form(ann, api, path):
    for again, message in (("short", "a password has 8 to 128 characters"), (NEW, "The passwords do not match.")):
        answer = ann.send(f"{path}/password", {"new": "short", "again": again})
        assert (answer.status_code, message in text_of(answer)) == (400, True)
        assert 'aria-invalid="true"' in answer.text
        assert re.search(r'<details class="sure" open>\s*<summary>New password', answer.text)
    assert api.log_in().status_code == 200


def test_the_own_password_and_second_factor_are_left_to_settings(ann, api, own):
    assert "Your own password and two-factor authentication are in Settings" in text_of(ann.open(own, headers=OWN))
    refused = ann.send(f"{own}/password", {"new": NEW, "again": NEW})
    assert (
        refused.status_code,
        "Change your own password in Settings: that needs your current password." in text_of(refused),
    ) == (409, True)
    refused = ann.send(f"{own}/two-factor/reset", {})
    assert (refused.status_code, "Turn your own two-factor authentication off in Settings." in text_of(refused)) == (
        409,
        True,
    )
    assert api.log_in("ann").status_code == 200


def test_the_second_factor_of_somebody_who_lost_the_phone_is_turned_off(ann, alice, api, path):
    settings = "/settings/account/two-factor"
    assert "Two-factor authentication is off." in text_of(ann.open(path, headers=OWN))
    started = alice.send(f"{settings}/start", {"password": PASSWORD})
    totp = pyotp.TOTP(re.search(r'<code class="secret">(\w+)</code>', started.text)[1])
    alice.send(f"{settings}/confirm", {"code": totp.at(api.clock())})
    assert api.log_in().status_code == 401
    assert "two-factor authentication" in text_of(ann.open(ACCOUNTS, headers=OWN))
    assert "Two-factor authentication is off." in follow(ann, ann.send(f"{path}/two-factor/reset", {}))
    assert api.log_in().status_code == 200


def test_sessions_of_an_account_are_listed_and_ended(ann, api, path):
    others = [Browser(api, address=f"198.51.100.{number}") for number in range(3)]
    for other in others:
        assert other.sign_in().status_code == 303
    page = ann.open(path, headers=OWN).text
    assert "198.51.100.2" in page
    credential = re.search(r"/sessions/(\w+)/end", page)[1]
    assert "Signed out." in follow(ann, ann.send(f"{path}/sessions/{credential}/end", {}))
    assert sum(other.open("/", headers=OWN).status_code == 200 for other in others) == 2
    follow(ann, ann.send(f"{path}/sessions/end", {}))
    assert sum(other.open("/", headers=OWN).status_code == 200 for other in others) == 0
    assert "No sessions" in text_of(ann.open(path, headers=OWN))
    assert ann.send(f"{path}/sessions/{credential}/end", {}).status_code == 404


def test_ending_the_own_sessions_keeps_this_browser(ann, api, own):
    other = Browser(api)
    other.sign_in("ann")
    follow(ann, ann.send(f"{own}/sessions/end", {}))
    assert (ann.open("/", headers=OWN).status_code, other.open("/", headers=OWN).status_code) == (200, 303)


def test_app_passwords_of_others_are_revoked_and_never_made(ann, api, path):
    secret = api.app_password()
    page = ann.open(path, headers=OWN)
    credential = re.search(r"/apps/(\w+)/revoke", page.text)[1]
    assert "frame No end date Everything but this account Never used" in text_of(page)
    vera = f"{ACCOUNTS}/{api.uids['vera']}"
    assert ann.send(f"{vera}/apps/{credential}/revoke", {}).status_code == 404
    assert "App password revoked." in follow(ann, ann.send(f"{path}/apps/{credential}/revoke", {}))
    assert not api.is_alive(secret)


def test_an_account_is_deleted_after_a_page_that_tells_what_goes_with_it(ann, alice, api, path):
    secret = api.app_password()
    asking = text_of(ann.open(f"{path}/delete", headers=OWN))
    assert "Delete alice ?" in asking
    assert "with it 1 app password and 1 session." in asking
    assert api.is_alive(secret)
    assert "Account deleted." in follow(ann, ann.send(f"{path}/delete", {}))
    assert (alice.open("/", headers=OWN).status_code, api.is_alive(secret)) == (303, False)
    assert ann.open(path, headers=OWN).status_code == 404
    assert ann.send(f"{path}/delete", {}).status_code == 404


def test_a_form_that_comes_after_the_hour_leads_back_to_the_page_of_the_account(ann, api, path):
    api.clock.move(seconds=3601)
    led = ann.send(f"{path}/two-factor/reset", {})
    assert (led.status_code, led.headers["Location"]) == (303, f"/administration/confirm?next={path}&unsent=1")
