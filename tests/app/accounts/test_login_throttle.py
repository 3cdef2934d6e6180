"""Guessing over HTTP is slowed down without affecting other callers (OWASP ASVS 6.3.1)."""

import pytest

from photosvc.auth import passwords, throttle
from photosvc.auth.passwords import Hashing, hash_password
from photosvc.core import ids
from photosvc.models import User
from tests.helpers.api_client import PASSWORD, check_error, open_api

HOME, AWAY = "192.0.2.7", "198.51.100.200"


def guess(api, times, **options):
    return [api.log_in(password="wrong horse", **options).status_code for _ in range(times)]


def test_wrong_passwords_from_one_address_get_the_burst_and_then_one_a_minute(api):
    names = [("alice", "nobody", f"user{number}")[number % 3] for number in range(12)]
    assert [api.log_in(name, "wrong horse", AWAY).status_code for name in names] == [401] * 10 + [429] * 2
    assert api.log_in(address=HOME).status_code == 200
    api.clock.move(minutes=1)
    assert [api.log_in(name, "wrong horse", AWAY).status_code for name in names[:2]] == [401, 429]


def test_an_owner_gets_in_at_home_for_thirty_days_while_others_guess(api):
    assert api.log_in(address=HOME).status_code == 200
    api.clock.move(days=30, seconds=-1)

    def guess_everywhere():
        for number in range(21):
            api.log_in(password="wrong horse", address=f"198.51.100.{number}")

    guess_everywhere()
    check_error(api.log_in(address=AWAY), 429)
    assert api.log_in(address=HOME).status_code == 200
    api.clock.move(days=30)
    guess_everywhere()
    check_error(api.log_in(address=HOME), 429)


@pytest.fixture
def hashing(api, monkeypatch):
    """Pauses of log-ins move the clock of the library."""
    limits = Hashing(api.clock)
    for module in (passwords, throttle):
        monkeypatch.setattr(module, "HASHING", limits)


@pytest.mark.usefixtures("hashing")
def test_home_is_no_place_to_guess_at_either(api):
    assert api.log_in(address=HOME).status_code == 200
    assert guess(api, 12, address=HOME) == [401] * 10 + [429] * 2


@pytest.mark.usefixtures("hashing")
def test_an_allowance_of_an_account_at_an_address_is_used_up_like_others(api):
    assert api.log_in(address=HOME).status_code == 200
    for number in range(10):
        api.log_in(f"name{number}", "wrong horse", HOME)
    assert guess(api, 9, address=HOME) == [429] * 9
    assert api.log_in(address=HOME).status_code == 200
    assert guess(api, 1, address=HOME) == [429]
    check_error(api.log_in(address=HOME), 429)
    api.clock.move(minutes=1)
    assert api.log_in(address=HOME).status_code == 200


def test_429_says_when_to_come_back_and_that_is_true(api):
    guess(api, 10, address=AWAY)
    answer = api.log_in(address=AWAY)
    body = check_error(answer, 429)
    wait = int(answer.headers["Retry-After"])
    assert (wait, body["error"]) == (60, "Too many failures: try again in 60 s.")
    api.clock.move(seconds=wait - 1)
    check_error(api.log_in(address=AWAY), 429)
    api.clock.move(seconds=1)
    assert api.log_in(address=AWAY).status_code == 200


def test_names_that_do_not_exist_are_throttled_alike(api):
    known, unknown = (
        [api.log_in(name, "wrong horse", f"198.51.100.{number}").status_code for number in range(25)]
        for name in ("alice", "nobody")
    )
    assert known == unknown == [401] * 20 + [429] * 5


def from_proxy(api, number, address=AWAY, **headers):
    """The status of a wrong log-in with another name each time, in which a proxy or a client set headers."""
    body = {"username": f"user{number}", "password": "no"}
    return api.call("POST", "/session", json=body, headers=headers, address=address).status_code


def test_without_a_proxy_in_front_forged_headers_do_not_help(api):
    assert [from_proxy(api, number) for number in range(12)] == [401] * 10 + [429] * 2
    for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP"):
        assert from_proxy(api, 13, **{header: "203.0.113.1"}) == 429, header


@pytest.fixture
def behind_proxy(tmp_path):
    """A function that gives the status of a wrong log-in for a value of X-Forwarded-For behind one proxy."""
    with open_api(tmp_path, settings={"PHOTOSVC_PROXIES": 1}) as api:
        yield lambda number, forwarded: from_proxy(api, number, "127.0.0.1", **{"X-Forwarded-For": forwarded})


def test_behind_one_proxy_only_the_address_that_it_adds_counts(behind_proxy):
    forged = [behind_proxy(number, f"203.0.113.{number}, 198.51.100.1") for number in range(12)]
    others = [behind_proxy(number, f"198.51.100.{number}") for number in range(2, 14)]
    assert forged == [401] * 10 + [429] * 2
    assert others == [401] * 12


def test_ports_that_a_proxy_adds_to_addresses_do_not_count(behind_proxy):
    for address, of_neighbour in (("198.51.100.9:{}", 401), ("[2001:db8::9]:{}", 429)):
        statuses = [behind_proxy(number, address.format(4000 + number)) for number in range(12)]
        assert statuses == [401] * 10 + [429] * 2, address
        assert behind_proxy(1, address.replace("9", "8").format(4711)) == of_neighbour, address
    assert behind_proxy(1, "203.0.113.5:4711") == 401


def test_a_header_of_a_proxy_that_is_not_configured_is_warned_about_once(api, caplog):
    for number in range(3):
        api.call("GET", "/status", headers={"X-Forwarded-For": f"203.0.113.{number}"}, address="127.0.0.1")
    (record,) = [record for record in caplog.records if "X-Forwarded-For" in record.getMessage()]
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith(
        "X-Forwarded-For arrived from 127.0.0.1, but PHOTOSVC_PROXIES is 0: all clients behind a proxy count as one"
    )


def test_nothing_is_warned_about_behind_a_configured_proxy_or_without_one(api, tmp_path, caplog):
    api.call("GET", "/status")
    with open_api(tmp_path / "behind", settings={"PHOTOSVC_PROXIES": 1}) as behind:
        behind.call("GET", "/status", headers={"X-Forwarded-For": "203.0.113.1"})
    assert not [record for record in caplog.records if "X-Forwarded-For" in record.getMessage()]


def test_unknown_tokens_are_slowed_down_and_valid_ones_from_there_never(api):
    valid, app, login = api.access_token(), api.app_password(), api.session_of()
    guess(api, 12, address=AWAY)
    statuses = [api.call("GET", "/photos", f"{number:048x}", address=AWAY).status_code for number in range(62)]
    assert statuses == [401] * 60 + [429] * 2
    answer = api.call("GET", "/photos", "0" * 48, address=AWAY)
    check_error(answer, 429)
    assert answer.headers["Retry-After"] == "10"
    for token in (valid, app, login):
        assert api.call("GET", "/photos", token, address=AWAY).status_code == 200


def test_an_app_password_gets_in_past_unknown_app_passwords_from_its_address(api):
    app = api.app_password()
    unknown = [ids.new_app_password() for _ in range(62)]
    statuses = [api.log_in(password=secret, address=AWAY).status_code for secret in unknown]
    assert statuses == [401] * 60 + [429] * 2
    assert {api.log_in(password=app, address=AWAY).status_code for _ in range(5)} == {200}
    assert api.call("GET", "/photos", app, address=AWAY).status_code == 200
    check_error(api.log_in("vera", app, AWAY), 429)
    guess(api, 12, address=AWAY)  # of account passwords: another count
    assert api.log_in(password=app, address=AWAY).status_code == 200


def test_the_old_password_cannot_be_guessed_by_a_stolen_session(api):
    own, path = api.session_of(), api.user_path(rest="/password")
    body = {"old": "wrong horse", "new": "new horse battery"}
    statuses = [api.call("PUT", path, own, json=body, address=f"198.51.100.{n}").status_code for n in range(12)]
    assert statuses == [400] * 10 + [429] * 2
    assert api.is_alive(own)
    check_error(api.call("PUT", path, own, json={**body, "old": PASSWORD}), 429)
    another = api.session_of()
    assert api.call("PUT", path, another, json={**body, "old": PASSWORD}).status_code == 200


class SlowHasher:
    """The hasher of the service, with a note of each check; a check takes 25 ms of a clock, without any cost here."""

    def __init__(self, clock):
        self._clock, self._real, self.checked = clock, passwords._HASHER, []

    def verify(self, stored, password):
        self.checked.append(stored.rsplit("$", 2)[0])  # algorithm and cost, without salt and hash
        self._clock.move(seconds=0.025)
        return self._real.verify(stored, password)

    def __getattr__(self, name):
        return getattr(self._real, name)


@pytest.fixture
def work_of(api, service_hasher, hashing, monkeypatch):
    """A function that gives the answer to a wrong password for a name, and all the work for it."""
    with api.library.session() as session:
        session.query(User).filter_by(name="alice").one().password_hash = hash_password(PASSWORD)
    api.log_in(password="wrong horse", address="203.0.113.1")  # the first request of a process does more
    passwords._dummy()
    hasher = SlowHasher(api.clock)
    monkeypatch.setattr(passwords, "_HASHER", hasher)

    def work(name, address):
        began = api.clock.seconds
        hasher.checked.clear()
        with api.library.statements() as statements:
            answer = api.log_in(name, "wrong horse", address)
        told = (answer.status_code, answer.text, answer.headers.get("WWW-Authenticate"))
        return told, statements, list(hasher.checked), round(api.clock.seconds - began, 6)

    return work


def test_a_wrong_password_and_an_unknown_name_take_the_same_statements_and_one_hash_of_the_same_cost(work_of):
    unknown = work_of("nobody", AWAY)
    assert (unknown[0][0], unknown[2], unknown[3]) == (401, ["$argon2id$v=19$m=19456,t=2,p=1"], 0.025)
    assert work_of("alice", AWAY) == unknown


def test_a_blocked_address_is_refused_after_the_same_time_for_the_owner_and_for_an_unknown_name(api, work_of):
    assert api.log_in(address=HOME).status_code == 200
    for number in range(12):
        api.log_in(f"name{number}", "wrong horse", HOME)
    unknown, owner = work_of("nobody", HOME), work_of("alice", HOME)
    assert (unknown[0][0], unknown[2], unknown[3]) == (429, [], 0.2)
    assert (owner[0], len(owner[2]), owner[3]) == (unknown[0], 1, 0.2)
