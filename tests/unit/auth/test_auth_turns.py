"""Turns at costly work."""

from threading import Barrier, Event, Thread

import pytest

from photosvc.auth.errors import BusyError
from photosvc.auth.passwords import Turns
from tests.helpers.clock import MovedClock, until


def waiting(turns):
    """How many threads wait for a turn."""
    return len(turns._changed._waiters)


def occupy(turns, count):
    """Threads that hold a turn, wait for one or were refused, and the function that lets them end."""
    done, ready = Event(), Barrier(count + 1)
    held = []
    outcomes = []

    def work():
        ready.wait()
        try:
            with turns.take():
                held.append("turn")
                done.wait(30)
                outcomes.append("done")
        except BusyError:
            outcomes.append("busy")

    threads = [Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    ready.wait()
    until(lambda: len(held) + waiting(turns) + len(outcomes) == count)

    def end():
        done.set()
        for thread in threads:
            thread.join()
        return sorted(outcomes)

    return end


def test_as_many_as_there_are_turns_work_and_others_wait():
    turns = Turns(at_once=2, waiting=3, patience=60)
    end = occupy(turns, 5)
    assert end() == ["done"] * 5


def test_whoever_finds_no_place_to_wait_is_refused_at_once():
    turns = Turns(at_once=1, waiting=2, patience=60)
    end = occupy(turns, 3)
    with pytest.raises(BusyError) as caught, turns.take():
        pytest.fail("there is no place")
    assert (caught.value.status, caught.value.retry_after) == (503, 1)
    assert end() == ["done"] * 3


def test_nobody_waits_longer_than_the_patience():
    clock = MovedClock(step=0.1)
    turns = Turns(at_once=1, waiting=2, patience=1, clock=clock)
    end = occupy(turns, 1)
    began = clock.seconds
    with pytest.raises(BusyError), turns.take():
        pytest.fail("there is no turn")
    assert 1.0 <= clock.seconds - began < 2.0
    assert end() == ["done"]
    with turns.take():
        pass


def test_an_error_in_a_turn_frees_it():
    turns = Turns(at_once=1, waiting=0, patience=0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), turns.take():
            raise ZeroDivisionError
    with turns.take():
        pass


def test_a_favoured_thread_has_a_place_of_its_own_and_the_next_turn():
    turns, order = Turns(at_once=1, waiting=1, patience=60), []

    def work(name, *, favoured):
        with turns.place(favoured=favoured), turns.take():
            order.append(name)

    end = occupy(turns, 1)
    threads = [Thread(target=work, args=("first",), kwargs={"favoured": False})]
    threads.append(Thread(target=work, args=("favoured",), kwargs={"favoured": True}))
    for number, thread in enumerate(threads, 1):
        thread.start()
        until(lambda number=number: waiting(turns) == number)
    with pytest.raises(BusyError), turns.place():
        pytest.fail("there is no place")
    with pytest.raises(BusyError), turns.place(favoured=True):
        pytest.fail("there is one place for favoured threads")
    end()
    for thread in threads:
        thread.join()
    assert order == ["favoured", "first"]


def test_others_get_their_turn_after_a_favoured_thread_gave_up():
    clock = MovedClock()
    turns, order = Turns(at_once=1, waiting=1, patience=10, clock=clock), []

    def work(name, *, favoured):
        try:
            with turns.place(favoured=favoured), turns.take():
                order.append(name)
        except BusyError:
            order.append(f"{name} gave up")

    favoured = Thread(target=work, args=("favoured",), kwargs={"favoured": True})
    other = Thread(target=work, args=("other",), kwargs={"favoured": False})
    with turns.take():
        favoured.start()
        until(lambda: waiting(turns) == 1)
        clock.move(seconds=5)
        other.start()
        until(lambda: waiting(turns) == 2)
        clock.move(seconds=5)
        favoured.join()
    other.join()
    assert order == ["favoured gave up", "other"]


def test_fewer_wait_where_it_is_said_so():
    turns = Turns(at_once=1, waiting=3, patience=60)
    turns.let_wait(0)
    end = occupy(turns, 3)
    assert end() == ["busy", "busy", "done"]


def test_a_pause_ends_at_a_multiple_of_twice_the_usual_time_of_a_turn():
    clock = MovedClock()
    turns = Turns(at_once=1, waiting=1, patience=1, clock=clock)
    turns.pause(clock.seconds)
    for seconds in (0.05, 9):
        with turns.take():
            clock.move(seconds=seconds)
    for passed in (0, 0.1, 0.25):
        turns.pause(clock.seconds - passed)
    assert clock.pauses == pytest.approx([0.05, 0.2, 0.1, 0.15])


def test_pauses_hold_few_threads():
    clock = MovedClock()
    turns = Turns(at_once=1, waiting=1, patience=1, clock=clock)
    clock.in_pause = lambda: turns.pause(clock.seconds)  # as another thread would
    turns.pause(clock.seconds)
    turns.pause(clock.seconds)
    assert clock.pauses == [0.05, 0.05]


def test_a_thread_with_a_place_takes_its_turns_there():
    turns = Turns(at_once=1, waiting=0, patience=1)
    with turns.place():
        for _ in range(2):
            with turns.take(), turns.place():
                pass
        end = occupy(turns, 1)
        assert end() == ["busy"]
    with turns.take():
        pass


def test_a_second_favoured_thread_takes_a_usual_place():
    turns, found = Turns(at_once=1, waiting=1, patience=1), []

    def work():
        with turns.place(favoured=True):
            found.append("placed")

    with turns.place(favoured=True):
        thread = Thread(target=work)
        thread.start()
        thread.join()
    assert found == ["placed"]
