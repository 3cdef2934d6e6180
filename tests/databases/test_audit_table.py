"""The table keeps the newest entries of each part, on both databases; refusals push nothing else out."""

from dataclasses import replace
from datetime import timedelta
from itertools import cycle

from sqlalchemy import create_engine, func, select, text

from photosvc.auth import audit
from photosvc.auth.audit import Entry, Event
from photosvc.models import AuditEntry
from photosvc.models.engine import write_session
from tests.helpers.clock import NOW, SECOND


def add(engine, *events, keep=400, at=NOW, actors=("a", "b", "c", "d", "e")):
    """Add entries, each by the next actor."""
    with write_session(engine) as session:
        turns = zip(events, cycle(actors), strict=False)
        audit.add(session, [Entry(created_at=at, event=event, actor_uid=actor) for event, actor in turns], keep=keep)


def counts(engine):
    with engine.connect() as connection:
        query = select(AuditEntry.part, func.count()).group_by(AuditEntry.part)
        return dict(connection.execute(query).all())


def test_each_part_keeps_its_newest(engine):
    add(engine, Event.PASSWORD_CHANGED, Event.LOGIN)
    for _ in range(10):
        add(engine, *[Event.LOGIN_REFUSED] * 64)
    found = counts(engine)
    assert (found["changes"], found["accesses"]) == (1, 1)
    assert 400 <= found["refusals"] < 464
    with engine.connect() as connection:
        newest = audit.latest_entries(connection, count=1)[0].id
        assert [row.id for row in audit.latest_entries(connection, count=400)] == list(range(newest, newest - 400, -1))


def test_one_actor_takes_no_more_than_a_quarter(engine):
    add(engine, *[Event.CREDENTIAL_MADE] * 90, actors=["others"])
    for _ in range(10):
        add(engine, *[Event.CREDENTIAL_MADE] * 64, actors=["busy"])
    with engine.connect() as connection:
        of_actor = select(AuditEntry.actor_uid, func.count()).group_by(AuditEntry.actor_uid)
        found = dict(connection.execute(of_actor).all())
    assert found["others"] == 90
    assert 100 <= found["busy"] < 164


def test_a_smaller_limit_is_reached_in_pieces(engine):
    add(engine, *[Event.LOGIN_REFUSED] * 2500, keep=10_000)
    add(engine, *[Event.LOGIN_REFUSED] * 64, keep=400)
    assert counts(engine)["refusals"] == 1314
    for _ in range(4):
        add(engine, *[Event.LOGIN_REFUSED] * 64, keep=400)
    assert 400 <= counts(engine)["refusals"] < 464


def test_entries_since_a_moment(engine):
    add(engine, Event.LOGIN, at=NOW - SECOND)
    add(engine, Event.LOGOUT, at=NOW)
    with engine.connect() as connection:
        assert [row.event for row in audit.latest_entries(connection, count=9, since=NOW)] == ["logout"]
        assert audit.latest_entries(connection, count=9, since=NOW + timedelta(days=1)) == []


def test_equal_refusals_of_a_minute_are_one_entry_without_a_subject_of_several(engine):
    refused = Entry(created_at=NOW, event=Event.THROTTLED, address="192.0.2.7", subject="ann", subject_uid="u1")
    other, later = replace(refused, subject="bob", subject_uid="u2"), replace(refused, created_at=NOW + 61 * SECOND)
    with write_session(engine) as session:
        added = [audit.add_refusal(session, one, keep=400) for one in (refused, refused, other, later)]
    assert added == [True, False, False, True]
    with engine.connect() as connection:
        found = [(row.times, row.subject) for row in audit.latest_entries(connection, count=9)]
    assert found == [(1, "ann"), (3, "")]


def test_two_that_sweep_at_once_do_not_wait_for_each_other(new_postgres):
    engine = create_engine(new_postgres())
    add(engine, *[Event.LOGIN_REFUSED] * 600, keep=10_000)
    with write_session(engine) as first:
        audit.add(first, [Entry(created_at=NOW, event=Event.LOGIN_REFUSED)] * 64, keep=400)
        with write_session(engine) as second:
            second.execute(text("SET LOCAL lock_timeout = 2000"))
            audit.add(second, [Entry(created_at=NOW, event=Event.LOGIN_REFUSED)] * 64, keep=400)
    assert 400 <= counts(engine)["refusals"] <= 728
    engine.dispose()
