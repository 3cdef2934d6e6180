"""Places for threads: the shares of each owner and of all, and who waits for one."""

from concurrent.futures import ThreadPoolExecutor
from threading import Condition, Event

import pytest

from photosvc.core.clock import Clock
from photosvc.core.slots import Slots
from tests.helpers.clock import MovedClock


def taken(places, owner, tries, **options):
    return [places.take(owner, **options) is not None for _ in range(tries)]


def test_an_owner_and_all_owners_have_shares_and_a_place_that_is_freed_can_be_taken_again():
    places = Slots(6, 8)
    free = places.take("ann")
    assert taken(places, "ann", 6) == [True] * 5 + [False]
    assert not places.are_all_taken
    assert taken(places, "bob", 3) == [True, True, False]
    assert places.are_all_taken
    free()
    assert taken(places, "ann", 2) == [True, False]


def test_work_without_an_owner_has_places_that_no_account_takes():
    places = Slots(6, 8, reserved=2)
    assert (taken(places, "ann", 6), taken(places, "bob", 3)) == ([True] * 6, [True, True, False])
    assert taken(places, "", 3) == [True, True, False]


@pytest.mark.parametrize(("patience", "still", "seconds"), [(1.0, 0.25, 0.25), (1.0, 5.0, 1.0), (0, 0.25, 0)])
def test_a_thread_waits_until_its_patience_ends_or_places_stand_still(patience, still, seconds):
    clock = MovedClock(step=0.01)
    places = Slots(1, clock=clock)
    assert taken(places, "ann", 1) == [True]
    began = clock.monotonic()
    assert places.take("ann", patience=patience, still=still) is None
    assert clock.monotonic() - began == pytest.approx(seconds, abs=0.1)
    assert taken(places, "bob", 1) == [True]


def test_no_thread_waits_where_places_have_stood_still_for_long():
    clock = MovedClock(step=0.01)
    places = Slots(1, clock=clock)
    assert taken(places, "ann", 1) == [True]
    clock.move(seconds=1)
    began = clock.monotonic()
    assert places.take("ann", patience=1, still=0.25) is None
    assert clock.monotonic() - began < 0.1


class Watched(Clock):
    """A clock that says when a thread begins to wait."""

    def __init__(self):
        self.waits = Event()

    def wait(self, awaited: Event | Condition, seconds: float) -> bool:
        self.waits.set()
        return super().wait(awaited, seconds)


def test_a_thread_that_waits_gets_the_place_that_is_freed_and_only_so_many_wait():
    clock = Watched()
    places = Slots(1, waiting=1, clock=clock)
    free = places.take("ann")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(places.take, "ann", patience=60)
        assert clock.waits.wait(60)
        assert places.take("ann", patience=60) is None
        free()
        assert waiting.result(60) is not None


def test_places_of_others_are_of_no_use_to_an_owner_who_has_used_up_its_own():
    clock = MovedClock(step=0.01)
    places = Slots(1, 2, clock=clock)
    assert taken(places, "ann", 1) == [True]
    clock.move(seconds=1)
    assert taken(places, "bob", 1) == [True]
    began = clock.monotonic()
    assert places.take("ann", patience=1, still=0.25) is None
    assert clock.monotonic() - began < 0.1
    assert places.take("cid", patience=1, still=0.25) is None  # a place of anybody changed hands just now
    assert clock.monotonic() - began == pytest.approx(0.25, abs=0.1)
