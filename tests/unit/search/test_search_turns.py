"""Turns of costly searches: who gets a place, and who the core."""

import subprocess
import sys

import pytest

from photosvc.search.limits import Turns


@pytest.fixture
def turns(tmp_path):
    return Turns(tmp_path / "searches.lock", places=6, cores=1)


def test_one_owner_gets_two_thirds_of_the_places(turns):
    found = [turns.join("ann") for _ in range(6)]
    assert [turn is not None for turn in found] == [True] * 4 + [False] * 2
    turns.leave(found[0])
    assert turns.join("ann") is not None
    assert [turns.join("bob") is not None for _ in range(2)] == [True, True]


def test_a_single_place_is_for_everybody(tmp_path):
    turns = Turns(tmp_path / "searches.lock", places=1, cores=1)
    turn = turns.join("ann")
    assert turns.join("bob") is None
    turns.leave(turn)
    assert turns.join("bob") is not None


def test_where_all_places_are_taken_the_latest_of_the_owner_with_most_is_given_away(turns):
    ann = [turns.join("ann") for _ in range(4)]
    bob = [turns.join("bob") for _ in range(2)]
    carl = turns.join("carl")
    assert carl is not None
    assert [turn.lost for turn in (*ann, *bob, carl)] == [False, False, False, True, False, False, False]
    assert turns.join("carl") is not None  # ann has three, carl one
    assert [turn.lost for turn in ann] == [False, False, True, True]
    assert turns.join("carl") is None  # everybody has two


def test_a_place_that_was_given_away_gets_no_core_and_frees_what_it_had(turns):
    ann = [turns.join("ann") for _ in range(4)]
    assert turns.take_core(ann[3])
    bob = [turns.join("bob") for _ in range(2)]
    carl = turns.join("carl")
    assert ann[3].lost
    assert not turns.take_core(carl)
    turns.leave(ann[3])
    assert turns.take_core(carl)
    turns.leave(carl)
    assert not turns.take_core(ann[3])
    assert turns.take_core(bob[0])


def test_one_search_runs_at_a_time_on_one_core(turns):
    first, second = turns.join("ann"), turns.join("bob")
    assert turns.take_core(first)
    assert not turns.take_core(second)
    turns.leave_core(first)
    assert turns.take_core(second)


def test_two_searches_run_at_a_time_on_two_cores(tmp_path):
    turns = Turns(tmp_path / "searches.lock", places=6, cores=2)
    first, second, third = (turns.join(name) for name in ("ann", "bob", "carl"))
    assert [turns.take_core(turn) for turn in (first, second, third)] == [True, True, False]
    turns.leave(first)
    assert turns.take_core(third)


def test_the_core_goes_to_the_owner_whose_searches_had_least_of_it(turns):
    long, short, other = turns.join("ann"), turns.join("ann"), turns.join("bob")
    long.worked, other.worked = 3.0, 2.0
    assert turns.take_core(long)
    assert [turns.take_core(turn) for turn in (short, other)] == [False, False]
    turns.leave_core(long)
    assert not turns.take_core(short)
    assert turns.take_core(other)


def test_of_one_owner_a_short_search_goes_before_a_long_one_and_then_the_first_that_came(turns):
    first, second, third = (turns.join("ann") for _ in range(3))
    first.worked, second.worked = 3.0, 0.6
    assert turns.take_core(second)
    assert [turns.take_core(turn) for turn in (third, first)] == [False, False]
    turns.leave_core(second)
    assert not turns.take_core(second)
    assert not turns.take_core(first)
    assert turns.take_core(third)
    turns.leave(third)
    assert not turns.take_core(second)
    assert turns.take_core(first)


def test_a_core_that_another_process_uses_is_not_free_until_that_dies(turns, tmp_path):
    program = f"""
import sys
from pathlib import Path
from photosvc.search.limits import Turns

turns = Turns(Path({str(tmp_path)!r}, "searches.lock"), places=6, cores=1)
print(turns.take_core(turns.join("ann")), flush=True)
sys.stdin.read()
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"True\n"
        turn = turns.join("bob")
        assert not turns.take_core(turn)
    finally:
        process.kill()
        process.communicate()
    assert turns.take_core(turn)
