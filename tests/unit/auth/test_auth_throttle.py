from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from photosvc.auth import throttle as buckets
from photosvc.auth.credentials import issue
from photosvc.auth.errors import (
    ClientLoginError,
    InvalidCredentialsError,
    InvalidPasscodeError,
    PasscodeRequiredError,
    ThrottledError,
)
from photosvc.auth.login import check_login, find_app_password, log_in
from photosvc.auth.passwords import hash_password
from photosvc.auth.scopes import EVERYTHING
from photosvc.auth.throttle import (
    CHECK_BY_CREDENTIAL,
    LOGIN_BY_ACCOUNT,
    LOGIN_BY_ADDRESS,
    Allowance,
    Charge,
    Throttle,
    by_account,
    by_address,
    network_of,
)
from photosvc.core import ids
from photosvc.models import ThrottleBucket
from photosvc.models.engine import write_if_free, write_session
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import new_engine, new_settings
from tests.helpers.operations import by_anonymous, by_command

PASSWORD = "correct horse"
HASH = hash_password(PASSWORD)
MINUTE = 60 * SECOND
THREE = Allowance("three", burst=3, seconds=60)


@pytest.fixture
def throttle(session):
    engine = session.get_bind()
    return Throttle(engine.connect, partial(write_session, engine), partial(write_if_free, engine))


def takes(session, charge, times, now=NOW):
    """The waiting times after each of a number of failures in a row, all of them counted."""
    taken = [buckets.take(session, charge, now) for _ in range(times)]
    session.commit()
    return taken


def test_a_burst_passes_and_then_one_each_period(session):
    charge = Charge(THREE, "x")
    assert takes(session, charge, 5) == [0, 0, 0, 60, 60]
    assert takes(session, charge, 1, NOW + 59.99 * SECOND) == [1]
    assert takes(session, charge, 2, NOW + 60 * SECOND) == [0, 60]
    assert takes(session, charge, 1, NOW + 90 * SECOND) == [30]
    assert takes(session, charge, 5, NOW + 3600 * SECOND) == [0, 0, 0, 60, 60]


def test_subjects_and_allowances_do_not_share(session):
    assert takes(session, Charge(THREE, "x"), 4) == [0, 0, 0, 60]
    assert takes(session, Charge(THREE, "y"), 1) == [0]
    assert takes(session, Charge(LOGIN_BY_ADDRESS, "x"), 1) == [0]


def test_what_is_given_back_can_be_taken_again(session):
    charge = Charge(THREE, "x")
    takes(session, charge, 3)
    buckets.give_back(session, charge)
    assert takes(session, charge, 2) == [0, 60]


def test_giving_back_late_or_what_was_never_taken_earns_nothing(session):
    charge = Charge(THREE, "x")
    buckets.give_back(session, charge)
    takes(session, charge, 1)
    for _ in range(9):
        buckets.give_back(session, charge)
    assert takes(session, charge, 4, NOW + 3600 * SECOND) == [0, 0, 0, 60]


def test_a_clock_set_back_locks_no_one_out(session):
    charge = Charge(THREE, "x")
    takes(session, charge, 3)
    assert takes(session, charge, 4, NOW - 3600 * SECOND) == [0, 0, 0, 60]


def test_a_key_is_known_until_its_time(session):
    assert not buckets.is_known_pair(session, "k", NOW)
    buckets.remember(session, "k", NOW + 30 * MINUTE)
    assert buckets.is_known_pair(session, "k", NOW + 30 * MINUTE - SECOND)
    assert not buckets.is_known_pair(session, "k", NOW + 30 * MINUTE)


def test_many_at_once_never_take_more_than_the_burst(tmp_path):
    engine = new_engine(tmp_path, "race.db")
    charge = Charge(LOGIN_BY_ADDRESS, "x")

    def attempt(_):
        with Session(engine) as session:
            taken = buckets.take(session, charge, NOW) == 0
            session.commit()
            return taken

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(60))) == 10
    engine.dispose()


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (" 192.0.2.7 ", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::FFFF:C000:0207", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("192.0.2", "unknown"),
        ("\ud800", "unknown"),
        ("1" * 10**5, "unknown"),
    ],
)
def test_addresses_are_grouped_by_who_holds_them(address, network):
    assert network_of(address) == network


def test_accounts_are_kept_as_digests():
    assert by_account(LOGIN_BY_ACCOUNT, " Alice ") == by_account(LOGIN_BY_ACCOUNT, "alice")
    assert "alice" not in by_account(LOGIN_BY_ACCOUNT, "alice").key
    assert len(by_account(LOGIN_BY_ACCOUNT, "a" * 10**5).key) < 64
    assert by_address(LOGIN_BY_ADDRESS, "192.0.2.7").key == "login-address:192.0.2.7"


class Door:
    """The session endpoint as far as failures go."""

    def __init__(self, engine, throttle, settings):
        self.engine, self.throttle, self.settings = engine, throttle, settings

    def knock(self, password, now=NOW, name="alice", address="192.0.2.7"):
        with Session(self.engine) as session:
            if find_app_password(session.connection(), now, username=name, password=password):
                return 200
        try:
            with self.throttle.login_attempt(now, username=name, password=password, address=address):
                with Session(self.engine) as session:
                    proof = check_login(session.connection(), now, username=name, password=password)
                with write_session(self.engine) as session:
                    log_in(by_anonymous(session, now, self.settings), proof)
        except InvalidCredentialsError:
            return 401
        except ThrottledError:
            return 429
        return 200


@pytest.fixture
def door(session, throttle, tmp_path, monkeypatch):
    # Many real hashes take long; what they cost is tested elsewhere.
    monkeypatch.setattr("photosvc.auth.passwords.verify_password", lambda given, stored: given == PASSWORD and stored)
    add_user(session, password_hash=HASH)
    add_user(session, "bob", password_hash=HASH)
    session.commit()
    return Door(session.get_bind(), throttle, new_settings(tmp_path))


TIMES = pytest.mark.parametrize("times", [150, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.long])])


@TIMES
def test_wrong_passwords_from_one_address_get_the_burst_and_the_rate(door, times):
    answers = [door.knock("wrong horse", NOW + number * SECOND) for number in range(times)]
    assert answers.count(401) == 10 + (times - 1) // 60
    assert set(answers) == {401, 429}
    assert door.knock(PASSWORD, NOW + times * SECOND) == 429
    assert door.knock(PASSWORD, NOW + times * SECOND, address="192.0.2.8") == 200
    assert door.knock(PASSWORD, NOW + times * SECOND, name="bob", address="192.0.2.8") == 200


@TIMES
def test_wrong_passwords_from_a_hundred_addresses_hit_the_accounts_limit(door, times):
    answers = [
        door.knock("wrong horse", NOW + number * SECOND, address=f"198.51.100.{number % 100}")
        for number in range(times)
    ]
    assert answers.count(401) == 20 + (times - 1) // 60
    assert door.knock(PASSWORD, NOW + times * SECOND, name="bob", address="192.0.2.8") == 200


def test_a_flood_against_an_account_does_not_keep_its_owner_out_at_home(door):
    assert door.knock(PASSWORD, NOW - 86400 * SECOND) == 200
    for number in range(100):
        door.knock("wrong horse", address=f"198.51.100.{number}")
    assert door.knock(PASSWORD, address="198.51.100.200") == 429
    assert door.knock(PASSWORD) == 200
    assert door.knock(PASSWORD, NOW + 31 * 86400 * SECOND) == 200


def test_home_is_no_place_to_guess_at_either(door):
    assert door.knock(PASSWORD) == 200
    assert [door.knock("wrong horse") for _ in range(12)] == [401] * 10 + [429] * 2


def test_neighbours_behind_one_address_do_not_keep_an_owner_out(door):
    assert door.knock(PASSWORD, NOW - 86400 * SECOND) == 200
    names = [f"name{number}" for number in range(40)]
    assert [door.knock("wrong horse", name=name) for name in names] == [401] * 10 + [429] * 30
    assert door.knock(PASSWORD, name="bob") == 429
    assert [door.knock(PASSWORD) for _ in range(20)] == [200] * 20


def test_an_allowance_of_an_account_at_an_address_is_used_up_like_others(door):
    assert door.knock(PASSWORD) == 200
    for number in range(10):
        door.knock("wrong horse", name=f"name{number}")
    assert [door.knock("wrong horse") for _ in range(9)] == [429] * 9
    assert door.knock(PASSWORD) == 200
    door.knock("wrong horse")
    assert door.knock(PASSWORD) == 429
    assert door.knock(PASSWORD, NOW + MINUTE) == 200


def test_failures_tell_nobody_who_else_logs_in_at_an_address(session, throttle, door):
    door.knock(PASSWORD)
    for number in range(12):
        door.knock("wrong horse", name=f"name{number}")
    told = []
    for name in ("alice", "bob", "nobody"):
        with (
            pytest.raises(ThrottledError) as caught,
            throttle.login_attempt(NOW, username=name, password="wrong horse", address="192.0.2.7"),
        ):
            raise InvalidCredentialsError
        told.append((caught.value.retry_after, caught.value.message))
    assert told == [(60, "Too many failures: try again in 60 s.")] * 3


def test_a_refusal_says_when_all_allowances_let_the_next_through(session, throttle):
    takes(session, by_address(LOGIN_BY_ADDRESS, "192.0.2.7"), 10, NOW - 50 * SECOND)
    takes(session, by_account(LOGIN_BY_ACCOUNT, "alice"), 20, NOW)
    with (
        pytest.raises(ThrottledError) as caught,
        throttle.login_attempt(NOW, username="alice", password="wrong horse", address="192.0.2.7"),
    ):
        pytest.fail("it must not be tried")
    assert caught.value.retry_after == 60


def test_home_is_forgotten_after_thirty_days(door):
    assert door.knock(PASSWORD, NOW - 30 * 86400 * SECOND) == 200
    for number in range(30):
        door.knock("wrong horse", address=f"198.51.100.{number}")
    assert door.knock(PASSWORD) == 429


def test_right_passwords_are_never_counted(door):
    assert [door.knock(PASSWORD) for _ in range(50)] == [200] * 50


def test_names_that_do_not_exist_are_counted_the_same(door):
    for name in ("alice", "nobody", "\ud800"):
        address = f"192.0.2.{len(name)}"
        assert [door.knock("wrong horse", name=name, address=address) for _ in range(11)] == [401] * 10 + [429]


def test_an_app_password_gets_in_past_wrong_passwords_from_its_address(door, session):
    user = session.execute(text("SELECT id FROM photosvc_users WHERE name = 'alice'")).scalar()
    from photosvc.models import User

    app = issue(by_command(session), name="frame", scope=EVERYTHING, user=session.get(User, user))
    session.commit()
    for _ in range(30):
        door.knock("wrong horse")
    assert door.knock(PASSWORD) == 429
    assert door.knock(app.secret) == 200


def test_wrong_app_passwords_are_limited_as_unknown_tokens_and_apart_from_account_passwords(door):
    wrong = ids.new_app_password()
    assert [door.knock(wrong) for _ in range(61)] == [401] * 60 + [429]
    assert door.knock(wrong, address="198.51.100.9") == 401
    assert door.knock(PASSWORD) == 200


def test_an_account_password_that_looks_like_an_app_password_is_not_counted(throttle):
    looks = ids.new_app_password()
    for _ in range(61):
        with throttle.login_attempt(NOW, username="alice", password=looks, address="192.0.2.7"):
            pass


def test_a_log_in_is_counted_as_successful_in_the_write_of_its_caller(session, throttle):
    charge = Charge(THREE, "x")
    for _ in range(9):
        with throttle.guarded(NOW, [charge]) as settle:
            settle(session)
            session.commit()
    assert takes(session, charge, 4) == [0, 0, 0, 60]


@pytest.mark.parametrize("error", [PasscodeRequiredError(), ClientLoginError(), RuntimeError()])
def test_what_is_no_wrong_secret_is_given_back(session, throttle, error):
    charge = Charge(THREE, "x")
    for _ in range(9):
        with pytest.raises(type(error)), throttle.guarded(NOW, [charge]):
            raise error
    assert buckets.take(session, charge, NOW) == 0


def test_a_wrong_passcode_counts_like_three_wrong_passwords(session, throttle):
    for _ in range(3):
        with (
            pytest.raises(InvalidPasscodeError),
            throttle.password_check(NOW, credential_uid="sess00000001", has_code=True),
        ):
            raise InvalidPasscodeError
    assert takes(session, Charge(CHECK_BY_CREDENTIAL, "sess00000001"), 2) == [0, 60]


def tried(attempt, error, minutes):
    """Minutes at which one more attempt of many is made, beginning with all that are made at once."""
    made = []
    for minute in [*[0] * 12, *range(1, minutes)]:
        try:
            with attempt(NOW + minute * MINUTE):
                made.append(minute)
                raise error
        except ThrottledError:
            pass
        except type(error):
            pass
    return made


def test_who_knows_the_password_tries_one_passcode_in_three_minutes(throttle):
    log_in = partial(throttle.login_attempt, username="alice", password="", address="192.0.2.7", has_code=True)
    check = partial(throttle.password_check, credential_uid="sess00000001", has_code=True)
    for attempt in (log_in, check):
        assert tried(attempt, InvalidPasscodeError(), 15) == [0, 0, 0, 2, 5, 8, 11, 14]


def test_a_wrong_password_beside_a_passcode_counts_once(throttle):
    check = partial(throttle.password_check, credential_uid="sess00000001", has_code=True)
    assert tried(check, InvalidCredentialsError(), 5) == [0] * 8 + [1, 2, 3, 4]


def test_simultaneous_passcodes_do_not_exceed_the_allowance(throttle):
    check = partial(throttle.password_check, NOW, credential_uid="sess00000001", has_code=True)
    with ExitStack() as attempts:
        for _ in range(3):
            attempts.enter_context(check())
        with pytest.raises(ThrottledError), check():
            pytest.fail("it must not be tried")


def test_a_failure_stays_counted_whatever_is_rolled_back(throttle):
    charge = Charge(THREE, "x")
    for _ in range(3):
        with pytest.raises(InvalidCredentialsError), throttle.guarded(NOW, [charge]):
            raise InvalidCredentialsError
    with pytest.raises(ThrottledError) as caught, throttle.guarded(NOW, [charge]):
        pytest.fail("it must not be tried")
    assert (caught.value.retry_after, caught.value.status) == (60, 429)
    assert caught.value.message == "Too many failures: try again in 60 s."


def test_a_refusal_by_the_second_allowance_is_not_charged_to_the_first(session, throttle):
    free, full = Charge(THREE, "free"), Charge(THREE, "full")
    takes(session, full, 3)
    for _ in range(9):
        with pytest.raises(ThrottledError), throttle.guarded(NOW, [free, full]):
            pytest.fail("it must not be tried")
    assert takes(session, free, 4) == [0, 0, 0, 60]


def test_unknown_tokens_are_let_off_sixty_times_and_then_once_in_ten_seconds(throttle):
    for _ in range(60):
        throttle.count_unknown_token(NOW, address="2001:db8::1")
    with pytest.raises(ThrottledError) as caught:
        throttle.count_unknown_token(NOW, address="2001:db8::2")
    assert caught.value.retry_after == 10
    throttle.count_unknown_token(NOW, address="192.0.2.7")
    throttle.count_unknown_token(NOW + 10 * SECOND, address="2001:db8::3")


def test_the_sweep_keeps_only_buckets_in_use(session):
    buckets.take(session, Charge(THREE, "old"), NOW - 60 * SECOND)
    buckets.take(session, Charge(THREE, "new"), NOW - 59 * SECOND)
    buckets.remember(session, "known:a", NOW + SECOND)
    assert buckets.sweep(session, NOW) == 1
    assert session.scalar(select(func.count()).select_from(ThrottleBucket)) == 2
    assert buckets.sweep(session, NOW + SECOND) == 2
