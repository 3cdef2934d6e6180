"""Waits of SQLite writers for each other."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy.exc import OperationalError

from photosvc.models import LibraryState, engine
from photosvc.models.engine import begin_write
from tests.helpers.clock import MovedClock


@pytest.fixture
def waiting(monkeypatch):
    """Time that passes only while a writer waits."""
    one = MovedClock(seconds=100.0)
    monkeypatch.setattr(engine, "SYSTEM_CLOCK", one)
    return one


@pytest.fixture
def other(library):
    """A connection of another process, which holds the write lock."""
    with closing(sqlite3.connect(library.instance / "photosvc.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def test_a_writer_notices_within_ten_milliseconds_that_the_lock_is_free(library, waiting, other):
    waiting.in_pause = lambda: waiting.seconds >= 105.0 and other.in_transaction and other.execute("ROLLBACK")
    with library.session() as session:
        begin_write(session)
        assert 5.0 <= waiting.seconds - 100 < 5.01
        assert max(waiting.pauses) <= 0.01
        session.add(LibraryState(name="written"))
        session.commit()
        assert session.connection().exec_driver_sql("PRAGMA busy_timeout").scalar() == 15_000


def test_a_writer_notices_within_a_fifth_of_its_wait_that_the_lock_is_free(library, waiting, other):
    waiting.in_pause = lambda: waiting.seconds >= 100.02 and other.in_transaction and other.execute("ROLLBACK")
    with library.session() as session:
        begin_write(session)
    assert 0.02 <= waiting.seconds - 100 < 0.024


def test_a_writer_that_waits_for_longer_than_the_timeout_is_refused(library, waiting, other):
    with library.session() as session:
        with pytest.raises(OperationalError, match="locked"):
            begin_write(session)
        assert 15.0 <= waiting.seconds - 100 < 15.02
        session.rollback()
        assert session.connection().exec_driver_sql("PRAGMA busy_timeout").scalar() == 15_000


def test_an_error_other_than_a_held_lock_is_raised_at_once(library, waiting):
    with library.session() as session:
        session.connection().exec_driver_sql("PRAGMA query_only=ON")
        with pytest.raises(OperationalError, match="readonly"):
            begin_write(session)
        session.rollback()
        session.connection().exec_driver_sql("PRAGMA query_only=OFF")
    assert waiting.pauses == []
