"""Slots for threads: the limits for each owner and for all, and the waits for a slot."""

from concurrent.futures import ThreadPoolExecutor
from threading import Condition, Event

import pytest

from photosvc.core.clock import Clock
from photosvc.core.slots import Slots
from tests.helpers.clock import MovedClock


def taken(slots, owner, tries, **options):
    return [slots.take(owner, **options) is not None for _ in range(tries)]


def test_an_owner_and_all_owners_have_limits_and_a_freed_slot_can_be_taken_again():
    slots = Slots(6, 8)
    free = slots.take("ann")
    assert taken(slots, "ann", 6) == [True] * 5 + [False]
    assert not slots.are_all_taken
    assert taken(slots, "bob", 3) == [True, True, False]
    assert slots.are_all_taken
    free()
    assert taken(slots, "ann", 2) == [True, False]


def test_work_without_an_owner_has_slots_that_no_account_takes():
    slots = Slots(6, 8, reserved=2)
    assert (taken(slots, "ann", 6), taken(slots, "bob", 3)) == ([True] * 6, [True, True, False])
    assert taken(slots, "", 3) == [True, True, False]


@pytest.mark.parametrize(("patience", "still", "seconds"), [(1.0, 0.25, 0.25), (1.0, 5.0, 1.0), (0, 0.25, 0)])
def test_a_thread_waits_until_its_patience_ends_or_no_slot_changes_hands(patience, still, seconds):
    clock = MovedClock(step=0.01)
    slots = Slots(1, clock=clock)
    assert taken(slots, "ann", 1) == [True]
    began = clock.monotonic()
    assert slots.take("ann", patience=patience, still=still) is None
    assert clock.monotonic() - began == pytest.approx(seconds, abs=0.1)
    assert taken(slots, "bob", 1) == [True]


def test_no_thread_waits_if_no_slot_has_changed_hands_for_long():
    clock = MovedClock(step=0.01)
    slots = Slots(1, clock=clock)
    assert taken(slots, "ann", 1) == [True]
    clock.move(seconds=1)
    began = clock.monotonic()
    assert slots.take("ann", patience=1, still=0.25) is None
    assert clock.monotonic() - began < 0.1


class Watched(Clock):
    """A clock that says when a thread begins to wait."""

    def __init__(self):
        self.waits = Event()

    def wait(self, awaited: Event | Condition, seconds: float) -> bool:
        self.waits.set()
        return super().wait(awaited, seconds)


def test_a_waiting_thread_gets_the_freed_slot_and_the_number_of_waits_is_limited():
    clock = Watched()
    slots = Slots(1, waiting=1, clock=clock)
    free = slots.take("ann")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(slots.take, "ann", patience=60)
        assert clock.waits.wait(60)
        assert slots.take("ann", patience=60) is None
        free()
        assert waiting.result(60) is not None


def test_an_owner_without_a_free_slot_does_not_wait_for_slots_of_others():
    clock = MovedClock(step=0.01)
    slots = Slots(1, 2, clock=clock)
    assert taken(slots, "ann", 1) == [True]
    clock.move(seconds=1)
    assert taken(slots, "bob", 1) == [True]
    began = clock.monotonic()
    assert slots.take("ann", patience=1, still=0.25) is None
    assert clock.monotonic() - began < 0.1
    assert slots.take("cid", patience=1, still=0.25) is None  # a place of anybody changed hands just now
    assert clock.monotonic() - began == pytest.approx(0.25, abs=0.1)
