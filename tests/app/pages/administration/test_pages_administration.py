"""Administration in a browser without scripts: its frame, the password again after an hour, the list of accounts."""

import pytest

from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import PASSWORD

ACCOUNTS = "/administration/accounts"
CONFIRM = "/administration/confirm"


def make(ann, **form):
    given = {"name": "bob", "role": "user", "password": "a long password", "again": "a long password"}
    return ann.send(ACCOUNTS, {**given, **form})


def test_only_administrators_see_the_way_to_administration(ann, alice):
    assert f'href="{ACCOUNTS}"' in ann.open("/", headers=OWN).text
    assert "Administration" not in alice.open("/", headers=OWN).text
    assert alice.open(ACCOUNTS, headers=OWN).status_code == 403


def test_an_hour_after_the_password_pages_ask_for_it_and_lead_back(ann, api):
    assert ann.open(ACCOUNTS, headers=OWN).status_code == 200
    api.clock.move(seconds=3601)
    led = ann.open(f"{ACCOUNTS}?q=al%26x", headers=OWN)
    assert (led.status_code, led.headers["Location"]) == (303, f"{CONFIRM}?next=/administration/accounts?q%3Dal%2526x")
    asking = ann.open(led.headers["Location"], headers=OWN)
    assert "Confirm your password" in text_of(asking)
    assert 'value="/administration/accounts?q=al%26x"' in asking.text
    target = {"next": f"{ACCOUNTS}?q=al%26x"}
    wrong = ann.send(CONFIRM, {**target, "password": "wrong"})
    assert (wrong.status_code, "Invalid credentials." in text_of(wrong)) == (400, True)
    assert ann.open(ACCOUNTS, headers=OWN).status_code == 303
    right = ann.send(CONFIRM, {**target, "password": PASSWORD})
    assert (right.status_code, right.headers["Location"]) == (303, f"{ACCOUNTS}?q=al%26x")
    assert ann.open(ACCOUNTS, headers=OWN).status_code == 200


def test_a_form_that_comes_after_the_hour_changes_nothing_and_is_led_back_to_its_page(ann, api):
    api.clock.move(seconds=3601)
    led = make(ann)
    assert (led.status_code, led.headers["Location"]) == (303, f"{CONFIRM}?next={ACCOUNTS}&unsent=1")
    assert "Nothing was changed: send the form again" in text_of(ann.open(led.headers["Location"], headers=OWN))
    ann.send(CONFIRM, {"password": PASSWORD})
    assert "bob" not in ann.open(ACCOUNTS, headers=OWN).text


@pytest.mark.parametrize("target", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)"])
def test_the_password_page_leads_to_pages_of_the_service_alone(ann, target):
    assert ann.send(CONFIRM, {"next": target, "password": PASSWORD}).headers["Location"] == "/"


def test_guessing_the_password_of_an_open_browser_is_slowed_down(ann):
    answers = [ann.send(CONFIRM, {"password": "wrong"}) for _ in range(11)]
    assert (answers[-1].status_code, int(answers[-1].headers["Retry-After"]) > 0) == (429, True)


def test_an_account_is_made_and_signs_in(ann, api):
    made = make(ann, display_name="Bob <b>", email="bob@example.org", role="viewer")
    assert made.status_code == 303
    page = ann.open(made.headers["Location"], headers=OWN)
    assert "Account created." in text_of(page)
    assert "bob Bob <b> · Viewer Never signed in" in text_of(ann.open(ACCOUNTS, headers=OWN))
    assert "Bob &lt;b&gt;" in page.text
    assert Browser(api).sign_in("bob", "a long password").status_code == 303


def test_an_account_without_a_password_is_made(ann, api):
    assert make(ann, password="", again="").status_code == 303
    assert Browser(api).sign_in("bob", "").status_code == 403


@pytest.mark.parametrize(
    ("form", "status", "message"),
    [
        ({"name": "alice"}, 409, "A user of this name exists already."),
        ({"name": ""}, 400, "name"),
        ({"role": "owner"}, 400, "a user's role is admin, user or viewer"),
        ({"role": ""}, 400, "a user's role is admin, user or viewer"),
        ({"email": "nobody"}, 400, "an email address is one such as"),
        ({"display_name": "x\u202ey"}, 400, "printable"),
        ({"password": "short", "again": "short"}, 400, "a password has 8 to 128 characters"),
        ({"again": "another password"}, 400, "The passwords do not match."),
    ],
)
def test_what_is_wrong_with_a_new_account_is_told_beside_its_field(ann, form, status, message):
    answer = make(ann, **form)
    assert (answer.status_code, message in text_of(answer)) == (status, True)
    assert 'aria-invalid="true"' in answer.text or "role" in form
    assert "a long password" not in answer.text
    assert "bob" not in ann.open(ACCOUNTS, headers=OWN).text


def test_accounts_are_found_by_the_beginning_of_their_name(ann):
    found = text_of(ann.open(f"{ACCOUNTS}?q=ALI", headers=OWN))
    assert ("alice User" in found, "vera Viewer" in found) == (True, False)
    nothing = ann.open(f"{ACCOUNTS}?q=%3Cimg%20src=x%20onerror=alert(1)%3E%00", headers=OWN)
    assert "No matching accounts." in text_of(nothing)
    assert "<img" not in nothing.text
