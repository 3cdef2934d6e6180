"""Wishes for folders to be indexed."""

import os
from threading import Thread

import pytest
from sqlalchemy import create_engine

from photosvc.core.errors import InvalidValueError
from photosvc.index import requested
from photosvc.index.jobs import INDEX
from photosvc.index.lease import Lease
from photosvc.index.requested import Wish, runs_for, waiting, wish
from photosvc.models import Base
from photosvc.models.engine import configure_engine, write_session
from tests.helpers.clock import NOW


def stored(session):
    return [(one.folder, one.force) for one in waiting(session)]


def test_equal_wishes_are_one_and_force_outlasts_a_wish_without(session):
    wish(session, NOW, "b/c")
    wish(session, NOW)
    wish(session, NOW, "b/c/", force=True)
    wish(session, NOW, "./b//c")
    assert stored(session) == [("", False), ("b/c", True)]


@pytest.mark.parametrize("folder", ["/etc", "../x", "a/../b", "a\x00b"])
def test_a_wish_outside_of_the_originals_is_refused(session, folder):
    with pytest.raises(InvalidValueError, match="relative to the originals"):
        wish(session, NOW, folder)
    assert stored(session) == []


@pytest.mark.parametrize("folder", ["a/" * 513, "日" * 342, "\U0001f4f7" * 257, "\udcff" * 512])
def test_a_wish_for_a_path_that_scans_leave_out_is_refused(session, folder):
    with pytest.raises(InvalidValueError, match="at most 1024 bytes"):
        wish(session, NOW, folder)
    assert stored(session) == []


def test_a_folder_whose_name_no_disk_can_have_is_looked_for_above(tmp_path):
    (tmp_path / "2024").mkdir()
    wished = [Wish("2024/" + "x" * 300), Wish("y" * 300 + "/z"), Wish("2024/" + "日" * 100, force=True)]
    assert runs_for(tmp_path, (), wished[:1]) == [Wish("2024")]
    assert runs_for(tmp_path, (), wished) == [Wish("2024", force=True), Wish("")]


def test_names_that_are_not_utf_8_are_stored_as_the_library_writes_them(session):
    wish(session, NOW, os.fsdecode(b"caf\xe9"))
    assert stored(session) == [("%FFcaf%E9", False)]


def test_a_fulfilled_wish_is_deleted_and_one_that_came_meanwhile_stays(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with write_session(engine) as session:
        wish(session, NOW, "a")
        wish(session, NOW, "b")
    lease = Lease(engine, lambda: NOW)
    lease.begin(INDEX, "", {"force": False}, covers=Wish("").covers)
    with write_session(engine) as session:
        wish(session, NOW, "b", force=True)
        lease.finish(session)
        assert stored(session) == [("b", True)]
    engine.dispose()


def test_too_many_folders_become_a_wish_for_everything(session, monkeypatch):
    monkeypatch.setattr(requested, "MOST_WAITING", 3)
    for number in range(9):
        wish(session, NOW, f"f{number}")
    assert stored(session) == [("", False), ("f0", False), ("f1", False), ("f2", False)]
    wish(session, NOW, "f1", force=True)
    assert ("f1", True) in stored(session)


def test_writers_that_wish_for_one_folder_at_the_same_time_all_succeed(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    Base.metadata.create_all(engine)

    def ask():
        for _ in range(10):
            with write_session(engine) as session:
                wish(session, NOW, "a")

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with write_session(engine) as session:
        assert stored(session) == [("a", False)]
    engine.dispose()
