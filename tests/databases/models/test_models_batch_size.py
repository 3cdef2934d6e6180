"""The size of the transactions of a long job."""

import sqlite3
from contextlib import closing

import pytest

from photosvc.models import LibraryState, batch_size
from photosvc.models.batch_size import BatchSize
from photosvc.models.engine import begin_write
from tests.helpers.clock import MovedClock


def write(size, session, name, items=10):
    with size.writing(session, items):
        session.add(LibraryState(name=name))
    session.expunge_all()


def insert_elsewhere(library, name):
    """A commit of another process."""
    with closing(sqlite3.connect(library.instance / "photosvc.db")) as other, other:
        other.execute("INSERT INTO photosvc_library VALUES (?, 0)", (name,))


def test_quick_items_make_larger_transactions_up_to_the_limit(library):
    size = BatchSize(10, 35, MovedClock())
    with library.session() as session:
        sizes = []
        for number in range(3):
            write(size, session, str(number), size.items)
            sizes.append(size.items)
    assert sizes == [20, 35, 35]


def test_slow_items_make_smaller_transactions(library):
    clock = MovedClock()
    size = BatchSize(100, 500, clock)
    with library.session() as session:
        sizes = []
        for number in range(4):
            with size.writing(session, size.items):
                session.add(LibraryState(name=str(number)))
                clock.move(seconds=1)
            sizes.append(size.items)
    assert sizes == [25, 6, 5, 5]


def test_others_that_write_get_time_between_transactions(library):
    clock = MovedClock(step=0.01)
    slept, size = clock.pauses, BatchSize(10, 35, clock)
    with library.session() as session:
        write(size, session, "a")
        write(size, session, "b")
        assert slept == []
        insert_elsewhere(library, "c")
        for number in range(7):
            write(size, session, str(number))
        assert slept == pytest.approx([0.02] * 5)


def test_others_that_write_are_noticed_when_there_are_several_connections(library):
    clock = MovedClock(step=0.01)
    slept, size = clock.pauses, BatchSize(10, 35, clock)
    with library.session() as session, library.session() as renewing:
        write(size, session, "a")
        begin_write(session)
        renewing.get(
            LibraryState, "a"
        )  # as the lease does in the middle of a transaction: it opens a second connection
        session.rollback()
        renewing.close()
        for name in "bcd":
            write(size, session, name)
        assert slept == []
        insert_elsewhere(library, "e")
        write(size, session, "f")
        assert len(slept) == 1


def test_the_pages_that_a_job_wrote_are_copied_into_the_database_without_a_large_commit(library, monkeypatch):
    monkeypatch.setattr(batch_size, "_CHECKPOINT", 0)
    with library.session() as session:
        write(BatchSize(10, 35), session, "written")
        alone = f"file:{library.instance / 'photosvc.db'}?immutable=1"  # such a reader does not look into the log
        with closing(sqlite3.connect(alone, uri=True)) as reader:
            names = reader.execute("SELECT name FROM photosvc_library WHERE name = 'written'").fetchall()
    assert names == [("written",)]
