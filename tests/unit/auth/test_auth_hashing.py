"""One hash at a time, few log-ins at once with a place for known owners, and pauses that hide the work done."""

from contextlib import ExitStack
from threading import Thread

import pytest

from photosvc.auth import passwords
from photosvc.auth.errors import BusyError
from photosvc.auth.passwords import Hashing
from tests.helpers.clock import MovedClock, until


def log_ins(hashing, *known):
    """How many log-ins get a place at the same time."""
    with ExitStack() as held:
        for number, is_known in enumerate(known):
            try:
                held.enter_context(hashing.log_in(is_known=is_known))
            except BusyError:
                return number
    return len(known)


def test_known_owners_have_a_place_that_no_guess_takes():
    hashing = Hashing()
    assert (BusyError.status, BusyError.retry_after) == (503, 1)
    assert log_ins(hashing, False, False, False) == 2
    assert log_ins(hashing, False, False, True, True) == 3
    assert log_ins(hashing, True, True, False) == 2


@pytest.mark.parametrize(("threads", "places"), [(0, 1), (1, 1), (4, 2), (6, 3), (8, 4), (64, 4)])
def test_log_ins_take_at_most_half_of_the_threads(monkeypatch, threads, places):
    monkeypatch.setattr(passwords, "HASHING", Hashing())
    passwords.let_wait(threads)
    assert log_ins(passwords.HASHING, *[False] * 9) == places


def test_a_hash_waits_for_its_turn_and_an_error_frees_it():
    hashing, done = Hashing(MovedClock()), []

    def work():
        with hashing.turn():
            done.append("hashed")

    thread = Thread(target=work)
    with pytest.raises(ZeroDivisionError), hashing.turn():
        thread.start()
        until(lambda: hashing._turns._waiting)
        assert done == []
        raise ZeroDivisionError
    thread.join()
    assert done == ["hashed"]


def test_no_hash_waits_longer_than_a_second():
    clock = MovedClock(step=0.1)
    hashing = Hashing(clock)
    with hashing.turn():
        began = clock.seconds
        with pytest.raises(BusyError), hashing.turn():
            pytest.fail("there is no turn")
        assert 1.0 <= clock.seconds - began < 2.0


def test_a_pause_ends_at_a_full_step_and_few_threads_are_held_by_one():
    clock = MovedClock()
    hashing = Hashing(clock)
    for passed in (0, 0.15, 0.25):
        hashing.pause(clock.seconds - passed)
    assert clock.pauses == pytest.approx([0.2, 0.05, 0.15])
    clock.in_pause = lambda: hashing.pause(clock.seconds)  # as another thread would
    hashing.pause(clock.seconds)
    assert len(clock.pauses) == 4
