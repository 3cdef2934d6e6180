"""The table keeps the newest entries of each part, on both databases; refusals push nothing else out."""

from datetime import timedelta

import pytest
from sqlalchemy import create_engine, func, select

from photosvc.auth.audit import table
from photosvc.auth.audit.entry import Entry
from photosvc.auth.audit.events import Event
from photosvc.models import AuditEntry
from photosvc.models.database import configure_engine, write_session
from tests.clock import NOW, SECOND


@pytest.fixture
def engine(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


def add(engine, *events, keep=100, at=NOW):
    with write_session(engine) as session:
        table.add(session, [Entry(created_at=at, event=event) for event in events], keep=keep)


def counts(engine):
    with engine.connect() as connection:
        query = select(AuditEntry.part, func.count()).group_by(AuditEntry.part)
        return dict(connection.execute(query).all())


def test_each_part_keeps_its_newest(engine):
    add(engine, Event.PASSWORD_CHANGED, Event.LOGIN)
    for _ in range(5):
        add(engine, *[Event.LOGIN_REFUSED] * 64)
    found = counts(engine)
    assert (found["changes"], found["accesses"]) == (1, 1)
    assert 100 <= found["refusals"] < 164
    with engine.connect() as connection:
        newest = table.latest(connection, count=1)[0].id
        assert [row.id for row in table.latest(connection, count=100)] == list(range(newest, newest - 100, -1))


def test_a_smaller_limit_is_reached_in_pieces(engine):
    add(engine, *[Event.LOGIN_REFUSED] * 2500, keep=10_000)
    add(engine, *[Event.LOGIN_REFUSED] * 64, keep=100)
    assert counts(engine)["refusals"] == 1564
    for _ in range(2):
        add(engine, *[Event.LOGIN_REFUSED] * 64, keep=100)
    assert 100 <= counts(engine)["refusals"] < 164


def test_entries_since_a_moment(engine):
    add(engine, Event.LOGIN, at=NOW - SECOND)
    add(engine, Event.LOGOUT, at=NOW)
    with engine.connect() as connection:
        assert [row.event for row in table.latest(connection, count=9, since=NOW)] == ["logout"]
        assert table.latest(connection, count=9, since=NOW + timedelta(days=1)) == []
