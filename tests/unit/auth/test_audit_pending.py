"""Equal refusals are counted for a minute; whatever arrives, what is told and what waits is bounded."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from photosvc.auth.audit_log import Entry, Event
from photosvc.auth.audit_store import LOGGER, MOST_KINDS, MOST_WAITING, Pending, log
from tests.helpers.clock import NOW

MINUTE = timedelta(minutes=1)


def refusal(address="192.0.2.7", at=NOW, event=Event.TOKEN_REFUSED, **values):
    return Entry(created_at=at, event=event, address=address, request_id="r1", **values)


def test_the_first_is_told_at_once_and_the_others_when_the_minute_is_over():
    pending = Pending()
    assert pending.note(refusal()) == [refusal()]
    assert [pending.note(refusal()) for _ in range(3)] == [[], [], []]
    assert not pending.is_due(NOW + MINUTE - timedelta(microseconds=1))
    assert pending.end_minute(NOW) == []
    later = NOW + MINUTE
    (told,) = pending.end_minute(later)
    assert (told.times, told.created_at, told.address, told.request_id) == (3, later, "192.0.2.7", "")
    assert pending.take() == [refusal(), told]
    assert (pending.take(), pending.is_empty) == ([], True)


def test_the_next_refusal_ends_the_minute_too():
    pending = Pending()
    pending.note(refusal())
    pending.note(refusal())
    told = pending.note(refusal("198.51.100.1", NOW + MINUTE))
    assert [(entry.address, entry.times) for entry in told] == [("192.0.2.7", 1), ("198.51.100.1", 1)]


def test_a_clock_that_is_set_back_ends_the_minute():
    pending = Pending()
    pending.note(refusal())
    assert pending.is_due(NOW - timedelta(seconds=1))
    assert len(pending.note(refusal(at=NOW - timedelta(hours=1)))) == 1


def test_addresses_of_one_network_are_one_kind():
    pending = Pending()
    assert len(pending.note(refusal("2001:db8::1"))) == 1
    assert pending.note(refusal("2001:db8::2")) == []
    assert len(pending.note(refusal("2001:db8:0:1::1"))) == 1


def test_what_was_typed_makes_kinds_whether_or_not_it_exists():
    pending = Pending()
    assert [len(pending.note(refusal(), typed=name)) for name in ("a", "b", "a")] == [1, 1, 0]


def test_what_could_not_be_written_waits_for_the_next_minute_in_its_order():
    pending = Pending()
    pending.note(refusal())
    pending.note(refusal("198.51.100.1"))
    taken = pending.take()
    pending.note(refusal("198.51.100.2"))
    pending.give_back(taken, NOW)
    assert [entry.address for entry in pending.take()] == ["192.0.2.7", "198.51.100.1", "198.51.100.2"]


def test_what_waits_is_bounded_while_the_database_is_away():
    pending = Pending()
    for number in range(20):
        for network in range(50):
            pending.note(refusal(f"198.51.{network}.1", NOW + number * MINUTE))
    taken = pending.take()
    assert len(taken) == MOST_WAITING
    pending.give_back(taken, NOW)
    assert len(pending.take()) == MOST_WAITING


def test_threads_lose_no_refusal():
    pending = Pending()

    def refuse(number):
        return [pending.note(refusal(f"198.51.{number % 60}.1"), typed=str(number % 7)) for _ in range(100)]

    with ThreadPoolExecutor(8) as pool:
        told = [entry for found in pool.map(refuse, range(64)) for entries in found for entry in entries]
    assert len(told) <= MOST_KINDS + len(Event)
    assert sum(entry.times for entry in [*told, *pending.end_minute(NOW + MINUTE)]) == 6400


def test_a_log_that_is_set_to_higher_levels_gets_fewer_lines(caplog):
    changed = replace(refusal(), event=Event.LOGIN)
    for level, lines in ((logging.INFO, 2), (logging.WARNING, 1), (logging.ERROR, 0)):
        caplog.clear()
        with caplog.at_level(level, LOGGER):
            log([refusal(), changed])
        assert len(caplog.records) == lines, level
