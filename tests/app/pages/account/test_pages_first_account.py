"""The first account, made in a browser by the code that `svc run` prints."""

from threading import Barrier, Thread

import pytest
from sqlalchemy import select

from photosvc.auth import first_account
from photosvc.models import User
from photosvc.records.limits import LONGEST_PASSWORD, SHORTEST_PASSWORD
from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import ApiClient
from tests.helpers.library import open_library

PASSWORD = "a library of my own"


@pytest.fixture
def fresh(tmp_path):
    library = open_library(tmp_path)
    yield Browser(ApiClient(library))
    library.close()


@pytest.fixture
def code(fresh):
    return first_account.offer(fresh.api.library.instance)


def make(browser, code, name="Owner", password=PASSWORD, **form):
    return browser.send("/welcome", {"code": code, "name": name, "password": password, "again": password, **form})


def names(browser):
    with browser.api.library.session() as session:
        return session.execute(select(User.name, User.role)).all()


def test_the_code_makes_an_administrator_who_is_signed_in(fresh, code):
    assert fresh.open("/", headers=OWN).headers["Location"] == "/sign-in"
    assert fresh.open("/sign-in", headers=OWN).headers["Location"] == "/welcome"
    page = fresh.open("/welcome", headers=OWN)
    assert page.status_code == 200
    assert code not in page.text
    answer = make(fresh, f" {code.lower().replace('-', ' ')} ")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?welcome=1")
    assert names(fresh) == [("owner", "admin")]
    assert "Sign out owner" in text_of(fresh.open("/", headers=OWN))
    assert not first_account.is_offered(fresh.api.library.instance)


def test_once_there_is_an_account_it_leads_to_sign_in(fresh, code):
    make(fresh, code)
    first_account.offer(fresh.api.library.instance)
    other = Browser(fresh.api)
    assert other.open("/welcome", headers=OWN).headers["Location"] == "/sign-in"
    assert make(other, code, "second").headers["Location"] == "/sign-in"
    assert names(fresh) == [("owner", "admin")]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"code": "AAAA-AAAA"}, "Wrong code."),
        ({"code": ""}, "Wrong code."),
        ({"code": "é" * 900}, "Wrong code."),
        ({"again": "x"}, "The passwords do not match."),
        ({"password": "short", "again": "short"}, "a password has 8 to 128 characters"),
        ({"name": "<b>"}, "a user name has letters"),
        ({"name": ""}, "a user name is needed"),
    ],
)
def test_what_is_wrong_is_told_and_the_code_stays_good(fresh, code, form, message):
    answer = make(fresh, **{"code": code, **form})
    assert answer.status_code == 400
    assert message in text_of(answer)
    assert names(fresh) == []
    assert make(fresh, code).status_code == 303


def test_the_code_cannot_be_guessed(fresh, code):
    answers = [make(fresh, f"AAAA-AAA{digit}") for digit in "23456789ABC"]
    assert [answer.status_code for answer in answers] == [400] * 10 + [429]
    assert make(fresh, code).status_code == 429


def test_failed_log_ins_from_the_owners_address_leave_the_tries_for_the_code(fresh, code):
    for _ in range(11):
        answer = fresh.api.call("POST", "/session", json={"username": "a", "password": "b"}, address=fresh.address)
    assert answer.status_code == 429
    assert [make(fresh, "AAAA-AAAA").status_code for _ in range(9)] == [400] * 9
    assert make(fresh, code).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {**OWN, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {**OWN, "Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8080"},
        {"Origin": "http://localhost:8080"},
        {"Origin": "null"},
    ],
)
def test_forms_of_other_origins_use_up_no_tries_for_the_code(fresh, code, headers):
    form = {"code": "AAAA-AAAA", "name": "x", "password": PASSWORD, "again": PASSWORD}
    assert {fresh.send("/welcome", form, headers=headers).status_code for _ in range(12)} == {403}
    assert make(fresh, code).status_code == 303


def test_nobody_elses_guesses_keep_the_owner_from_it(fresh, code):
    for number in range(3):
        stranger = Browser(fresh.api, address=f"198.51.100.{number}")
        assert [make(stranger, "AAAA-AAAA").status_code for _ in range(11)] == [400] * 10 + [429]
        stranger.sign_in("")
    assert make(fresh, code).status_code == 303


def test_without_a_code_the_page_says_how_to_get_one(fresh):
    page = fresh.open("/welcome", headers=OWN)
    assert "svc users add" in text_of(page)
    assert "<form" not in page.text
    assert make(fresh, "").status_code == 400


def test_a_new_code_replaces_the_one_before(fresh, code):
    new = first_account.offer(fresh.api.library.instance)
    assert make(fresh, code).status_code == 400
    assert make(fresh, new).status_code == 303


def test_the_file_holds_no_code_and_is_closed_to_others(fresh, code):
    path = fresh.api.library.instance / "first_account"
    assert path.stat().st_mode & 0o777 == 0o600
    assert code.replace("-", "") not in path.read_text()
    path.write_bytes(b"\xff\xfe")
    assert make(fresh, code).status_code == 400


def test_of_two_at_once_one_makes_it(fresh, code):
    browsers, start, answers = [Browser(fresh.api) for _ in range(2)], Barrier(2), []

    def run(browser, name):
        start.wait(5)
        answers.append(make(browser, code, name).status_code)

    threads = [Thread(target=run, args=(browser, name)) for browser, name in zip(browsers, ("one", "two"), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(names(fresh)) == 1
    assert set(answers) <= {303, 400, 503}


def test_the_page_says_where_the_code_is_and_which_passwords_it_takes_before_any_is_typed(fresh, code):
    text = text_of(fresh.open("/welcome", headers=OWN))
    assert "in the line “Account” that svc run printed at its start" in text
    assert f"{SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters, not the name, and not a common password" in text
    for wrong in ("x" * (SHORTEST_PASSWORD - 1), "password"):
        page = make(fresh, code, password=wrong, again=wrong).text
        assert 'aria-invalid="true" aria-describedby="wrong-password"' in page
