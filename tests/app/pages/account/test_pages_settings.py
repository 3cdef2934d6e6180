"""Settings > Account in a browser without scripts: name, password, apps and devices, two-factor authentication."""

import re
from html import unescape

import pyotp
import pytest

from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import PASSWORD

ACCOUNT = "/settings/account"
APPS = f"{ACCOUNT}/apps"
TWO_FACTOR = f"{ACCOUNT}/two-factor"
NEW = "a much better password"


def scope_of(alice, label):
    page = alice.open(APPS, headers=OWN).text
    return next(
        unescape(scope) for scope, found in re.findall(r'value="([^"]+)"[^>]*><span>([^<]+)', page) if found == label
    )


def make(alice, name="Kitchen photo frame", label="See photos", **form):
    given = {"name": name, "scope": scope_of(alice, label), "lifetime": "2592000", "password": PASSWORD}
    return alice.send(APPS, {**given, **form})


def secret_of(answer):
    return re.search(r'id="secret"[^>]*>([^<]+)<', answer.text)[1]


def test_an_app_password_is_shown_once_works_and_is_revoked(alice, api):
    answer = make(alice)
    assert answer.status_code == 200
    secret = secret_of(answer)
    assert "<svg" in answer.text.partition('class="qr"')[2]
    assert "style=" not in answer.text
    assert api.call("GET", "/photos", secret).status_code == 200
    assert api.call("PUT", "/photos/ptouqe1kbhlaydg7", secret, json={"Title": "x"}).status_code == 403
    later = alice.open(APPS, headers=OWN)
    assert secret not in later.text
    assert "Kitchen photo frame See photos Used just now from 192.0.2.7 · ends 31 March 2026" in text_of(later)
    credential = re.search(r'action="/settings/account/apps/([^/"]+)/revoke"', later.text)[1]
    done = alice.send(f"{APPS}/{credential}/revoke", {})
    assert "App password revoked." in text_of(alice.open(done.headers["Location"], headers=OWN))
    assert not api.is_alive(secret)
    assert alice.send(f"{APPS}/{credential}/revoke", {}).status_code == 404


@pytest.mark.parametrize(
    ("label", "opened", "closed"),
    [
        ("See photos", ["GET /albums", "GET /config"], ["POST /albums", "GET /users"]),
        ("See and change photos", ["POST /albums"], ["GET /audit"]),
        ("Network folder", [], ["GET /photos"]),
        ("Everything but this account", ["POST /albums", "GET /session"], ["GET /users"]),
    ],
)  # fmt: skip
def test_each_choice_opens_what_it_says(alice, api, label, opened, closed):
    secret = secret_of(make(alice, label=label))
    for route in opened + closed:
        method, path = route.split()
        status = api.call(method, path, secret, json={"Title": "x"} if method == "POST" else None).status_code
        assert (status == 403) == (route in closed), route


def test_typed_scopes_are_told_in_words(alice):
    make(alice, "a", scope="typed", scopes="photos albums read", lifetime="-1")
    make(alice, "b", scope="typed", scopes="* photos:false")
    text = text_of(alice.open(APPS, headers=OWN))
    assert "a No end date Read albums and photos Never used" in text
    assert "b Read and change everything, but not photos Never used" in text


def test_what_is_wrong_with_a_new_app_password_is_told_and_nothing_is_made(alice):
    wrong = {"password": "wrong"}, {"scope": "typed", "scopes": "photoz"}, {"name": ""}, {"lifetime": "12"}
    for form, message in zip(wrong, ("Invalid credentials.", "photoz", "name", "choose an expiry"), strict=True):
        answer = make(alice, **form)
        assert (answer.status_code, message in text_of(answer)) == (400, True), form
    assert "Revoke" not in alice.open(APPS, headers=OWN).text


def test_sessions_are_listed_and_ended(alice, api):
    others = [Browser(api, address=f"198.51.100.{number}") for number in range(3)]
    for other in others:
        assert other.sign_in().status_code == 303
    page = alice.open(APPS, headers={**OWN, "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
    assert text_of(page).count("This browser") == 1
    credential = re.search(r'action="/settings/account/sessions/(\w+)/end"', page.text)[1]
    assert alice.send(f"{ACCOUNT}/sessions/{credential}/end", {}).status_code == 303
    assert sum(other.open("/", headers=OWN).status_code == 200 for other in others) == 2
    assert alice.send(f"{ACCOUNT}/sessions/end-others", {}).status_code == 303
    assert sum(other.open("/", headers=OWN).status_code == 200 for other in others) == 0
    assert alice.open("/", headers=OWN).status_code == 200


def test_the_password_is_changed_and_others_are_signed_out(alice, api):
    other = Browser(api)
    other.sign_in()
    done = alice.send(f"{ACCOUNT}/password", {"old": PASSWORD, "new": NEW, "again": NEW})
    assert "Your password is changed." in text_of(alice.open(done.headers["Location"], headers=OWN))
    assert other.open("/", headers=OWN).status_code == 303
    assert other.sign_in().status_code == 403
    assert other.sign_in(password=NEW).status_code == 303


def test_why_a_password_will_not_do_is_told_beside_its_field(alice, api):
    for old, new, again, message in (
        ("wrong", NEW, NEW, "Invalid credentials."),
        (PASSWORD, NEW, "another one", "The passwords do not match."),
        (PASSWORD, "short", "short", "a password has 8 to 128 characters"),
    ):
        answer = alice.send(f"{ACCOUNT}/password", {"old": old, "new": new, "again": again})
        assert (answer.status_code, message in text_of(answer)) == (400, True), message
        assert 'aria-invalid="true"' in answer.text, message
    assert api.log_in().status_code == 200


def test_name_and_address_are_changed(alice, api):
    answer = alice.send(f"{ACCOUNT}/name", {"display_name": "Alice <b>", "email": "a@example.org"})
    assert "Your name is changed." in text_of(alice.open(answer.headers["Location"], headers=OWN))
    page = alice.open(ACCOUNT, headers=OWN).text
    assert 'value="Alice &lt;b&gt;"' in page
    wrong = alice.send(f"{ACCOUNT}/name", {"display_name": "x\u202ey\n", "email": ""})
    assert wrong.status_code == 400


def test_with_two_factor_authentication_a_new_app_password_asks_for_a_code(alice, api):
    assert 'name="code"' not in alice.open(APPS, headers=OWN).text
    started = alice.send(f"{TWO_FACTOR}/start", {"password": PASSWORD})
    totp = pyotp.TOTP(re.search(r'<code class="secret">(\w+)</code>', started.text)[1])
    assert alice.send(f"{TWO_FACTOR}/confirm", {"code": totp.at(api.clock())}).status_code == 200
    api.clock.move(minutes=5)
    assert 'name="code"' in alice.open(APPS, headers=OWN).text
    refused = make(alice)
    assert (refused.status_code, "A passcode is required." in text_of(refused)) == (400, True)
    assert api.is_alive(secret_of(make(alice, code=totp.at(api.clock()))))


def test_two_factor_log_in_is_set_up_used_and_taken_off(alice, api):
    assert "authentication is off" in text_of(alice.open(TWO_FACTOR, headers=OWN))
    assert alice.send(f"{TWO_FACTOR}/start", {"password": "wrong"}).status_code == 400
    started = alice.send(f"{TWO_FACTOR}/start", {"password": PASSWORD})
    assert "style=" not in started.text
    totp = pyotp.TOTP(re.search(r'<code class="secret">(\w+)</code>', started.text)[1])
    wrong = alice.send(f"{TWO_FACTOR}/confirm", {"code": "000000"})
    assert (wrong.status_code, "Invalid passcode." in text_of(wrong)) == (400, True)
    done = alice.send(f"{TWO_FACTOR}/confirm", {"code": totp.at(api.clock())})
    codes = re.findall(r"<li><code>([0-9a-z-]+)</code>", done.text)
    assert len(codes) == 10
    assert "authentication is on" in text_of(alice.open(TWO_FACTOR, headers=OWN))
    again = alice.send(f"{TWO_FACTOR}/start", {"password": PASSWORD})
    assert again.status_code == 409
    refused = alice.send(f"{ACCOUNT}/password", {"old": PASSWORD, "new": NEW, "again": NEW})
    assert "A passcode is required." in text_of(refused)
    assert alice.send(f"{TWO_FACTOR}/end", {"password": PASSWORD, "code": "000000"}).status_code == 400
    off = alice.send(f"{TWO_FACTOR}/end", {"password": PASSWORD, "code": codes[0]})
    assert "Two-factor authentication is off." in text_of(alice.open(off.headers["Location"], headers=OWN))
