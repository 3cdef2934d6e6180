from contextlib import ExitStack
from functools import partial

import pytest
from sqlalchemy import func, select

from photosvc.auth import throttle as buckets
from photosvc.auth.errors import (
    ClientLoginError,
    InvalidCredentialsError,
    InvalidPasscodeError,
    PasscodeRequiredError,
    ThrottledError,
)
from photosvc.auth.throttle import (
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


def test_the_units_that_are_left_are_those_of_the_subject_alone(session):
    takes(session, Charge(THREE, "x"), 2)
    now = NOW + 59 * SECOND
    left = {subject: buckets.units_left(session, Charge(THREE, subject), now) for subject in "wxy"}
    assert left == {"w": 3, "x": 1, "y": 3}
    assert buckets.units_left(session, Charge(THREE, "x"), NOW + 60 * SECOND) == 2


def test_a_charge_that_was_given_back_can_be_taken_again(session):
    charge = Charge(THREE, "x")
    takes(session, charge, 3)
    buckets.give_back(session, charge)
    assert takes(session, charge, 2) == [0, 60]


def test_giving_back_late_or_without_a_charge_earns_nothing(session):
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
def test_addresses_are_grouped_by_their_holders(address, network):
    assert network_of(address) == network


def test_accounts_are_stored_as_digests():
    assert by_account(LOGIN_BY_ACCOUNT, " Alice ") == by_account(LOGIN_BY_ACCOUNT, "alice")
    assert "alice" not in by_account(LOGIN_BY_ACCOUNT, "alice").key
    assert len(by_account(LOGIN_BY_ACCOUNT, "a" * 10**5).key) < 64
    assert by_address(LOGIN_BY_ADDRESS, "192.0.2.7").key == "login-address:192.0.2.7"


def test_a_refusal_says_when_all_allowances_let_the_next_through(session, throttle):
    takes(session, by_address(LOGIN_BY_ADDRESS, "192.0.2.7"), 10, NOW - 50 * SECOND)
    takes(session, by_account(LOGIN_BY_ACCOUNT, "alice"), 20, NOW)
    with (
        pytest.raises(ThrottledError) as caught,
        throttle.login_attempt(NOW, username="alice", password="wrong horse", address="192.0.2.7"),
    ):
        pytest.fail("it must not be tried")
    assert caught.value.retry_after == 60


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
def test_an_attempt_that_fails_for_another_reason_is_given_back(session, throttle, error):
    charge = Charge(THREE, "x")
    for _ in range(9):
        with pytest.raises(type(error)), throttle.guarded(NOW, [charge]):
            raise error
    assert buckets.take(session, charge, NOW) == 0


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


def test_somebody_with_the_password_tries_one_passcode_in_three_minutes(throttle):
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


def test_the_sweep_keeps_only_buckets_in_use(session):
    buckets.take(session, Charge(THREE, "old"), NOW - 60 * SECOND)
    buckets.take(session, Charge(THREE, "new"), NOW - 59 * SECOND)
    buckets.remember(session, "known:a", NOW + SECOND)
    assert buckets.sweep(session, NOW) == 1
    assert session.scalar(select(func.count()).select_from(ThrottleBucket)) == 2
    assert buckets.sweep(session, NOW + SECOND) == 2
