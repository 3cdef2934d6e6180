"""How much a long job writes in one transaction."""

import sqlite3

import pytest

from photosvc.models import LibraryState, pace
from photosvc.models.pace import Pace


@pytest.fixture
def slept(monkeypatch):
    """Seconds for which the job left the database to others."""
    found = []
    monkeypatch.setattr(pace.time, "sleep", found.append)
    return found


def write(pace, session, name, items=10):
    with pace.writing(session, items):
        session.add(LibraryState(name=name))
    session.expunge_all()


def test_quick_items_make_larger_transactions_up_to_the_limit(library):
    one = Pace(10, 35)
    with library.session() as session:
        sizes = []
        for number in range(3):
            write(one, session, str(number), one.size)
            sizes.append(one.size)
    assert sizes == [20, 35, 35]


def test_slow_items_make_smaller_transactions(library, monkeypatch):
    seconds = iter(range(100))
    monkeypatch.setattr(pace.time, "thread_time", lambda: next(seconds))
    one = Pace(100, 500)
    with library.session() as session:
        sizes = []
        for number in range(4):
            write(one, session, str(number), one.size)
            sizes.append(one.size)
    assert sizes == [25, 6, 5, 5]


def test_others_that_write_get_time_between_transactions(library, slept):
    one = Pace(10, 35)
    with library.session() as session:
        write(one, session, "a")
        write(one, session, "b")
        assert slept == []
        with sqlite3.connect(library.instance / "photosvc.db") as other:
            other.execute("INSERT INTO photosvc_library VALUES ('c', 0)")
        other.close()
        for number in range(7):
            write(one, session, str(number))
        assert len(slept) == 5
