"""Folders that wait for an index run."""

from math import inf

import pytest

from photosvc.index import events as module
from photosvc.index.events import Pending
from photosvc.index.requests import gathered
from tests.helpers.clock import MovedClock


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def pending(clock):
    return Pending(quiet=2, longest=10, again=30, clock=clock)


def take(pending, clock, seconds):
    clock.move(seconds=seconds)
    return pending.take()


def test_a_folder_is_due_when_it_has_been_quiet_and_events_do_not_put_it_off_for_ever(pending, clock):
    pending.add("a")
    assert pending.seconds() == 2
    clock.move(seconds=1.5)
    pending.add("a")
    assert [take(pending, clock, 1), take(pending, clock, 1), pending.take()] == [set(), {"a"}, set()]
    assert pending.seconds() == inf
    taken = []
    for _ in range(30):
        pending.add("a")
        taken += take(pending, clock, 1)
    assert taken == ["a", "a", "a"]


def test_a_new_folder_is_looked_at_twice_and_a_delay_puts_a_folder_off_and_never_forward(pending, clock):
    pending.add("a", new=True)
    assert (take(pending, clock, 2), pending.seconds()) == ({"a"}, 30)
    assert (take(pending, clock, 30), pending.seconds()) == ({"a"}, inf)
    pending.add("b", delay=20)
    pending.add("b", delay=5)
    assert (take(pending, clock, 19), take(pending, clock, 1)) == (set(), {"b"})


def test_too_many_folders_are_one_look_at_everything(pending, clock, monkeypatch):
    monkeypatch.setattr(module, "_MOST_WAITING", 5)
    for number in range(20):
        pending.add(f"a/{number}")
    clock.move(seconds=10)
    taken = pending.take()
    assert "" in taken
    assert len(taken) <= 6


def test_few_folders_cover_many():
    for folders, most, covering in (
        ([], 8, []),
        (["b", "a", "a/b", "ab"], 8, ["a", "ab", "b"]),
        (["", "a/b"], 8, [""]),
        (["a/1", "a/2", "a/3", "b"], 2, ["a", "b"]),
        (["a/1/x", "a/2/y", "b/3/z"], 2, ["a", "b"]),
        (["a/1", "b", "c"], 2, [""]),
    ):
        assert gathered(folders, most) == covering, folders
