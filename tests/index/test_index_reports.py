"""What is kept of index runs."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from photosvc.index import run_log
from photosvc.index.jobs import INDEX, KINDS, RunCancelledError
from photosvc.index.jobs import cancel as cancel_run
from photosvc.index.requested import Wish, run_lock
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions
from photosvc.models import Job
from photosvc.web.current import current_service
from tests.support.factories.indexing_requests import InlinePool
from tests.support.library import open_library
from tests.support.pictures import jpeg


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setattr("photosvc.index.run.WorkerPool", InlinePool)
    library = open_library(tmp_path)
    yield library
    library.close()


def kept(library, *names):
    with library.app.app_context(), current_service().reading(orm=True) as session:
        found = run_log.reports(session, library.clock(), count=9)
        return [(report.state.value, *(getattr(report.row, name) for name in names)) for report in found]


def run(library, progress=None, **options):
    with library.app.app_context():
        service = current_service()
        with Session(service.engine()) as session:
            return run_index(session, service.settings, service.clock, IndexOptions(**options), progress)


def test_a_run_is_kept_with_its_counts_and_times(library):
    library.put("2023/a.jpg", jpeg(20, 10))
    library.put("2023/broken.jpg", jpeg(30, 10)[:40])
    library.index(subfolder="2023")
    began = library.clock()
    names = ("folder", "force", "to_read", "read", "indexed", "failed", "started_at", "ended_at")
    assert kept(library, *names) == [("done", "2023", False, 2, 2, 1, 1, began, began)]
    (library.originals / "2023/a.jpg").unlink()
    library.put("b.jpg", jpeg(20, 12))
    library.index(force=True)
    assert kept(library, "folder", "force", "missing", "indexed")[0] == ("done", "", True, 1, 1)


def test_of_runs_that_change_nothing_the_last_one_of_each_folder_is_kept(library):
    library.put("a/1.jpg", jpeg(20, 10))
    library.index()
    for folder in ("", "a", "", "a", ""):
        library.clock.move(seconds=60)
        library.index(subfolder=folder)
    found = kept(library, "folder", "indexed", "unchanged", "started_at")
    assert [one[:4] for one in found] == [("done", "", 0, 1), ("done", "a", 0, 1), ("done", "", 1, 0)]
    assert found[0][4] == library.clock()


def test_a_dry_run_is_not_kept(library):
    library.put("1.jpg", jpeg(20, 10))
    library.index(dry_run=True)
    assert kept(library) == []


def test_the_progress_of_a_run_is_seen_while_it_goes_on(library, monkeypatch):
    monkeypatch.setattr(run_log, "_PAUSE", 0)
    for number in range(3):
        library.put(f"{number}.jpg", jpeg(20 + number, 10))
    seen = []
    run(library, lambda done, _total: seen.append((done, kept(library, "to_read", "read", "ended_at"))))
    assert seen == [(done, [("running", 3, done, None)]) for done in (1, 2, 3)]
    assert kept(library, "to_read", "read") == [("done", 3, 3)]


def test_runs_that_were_stopped_or_failed_or_whose_process_ended_are_told_apart(library, monkeypatch):
    library.put("1.jpg", jpeg(20, 10))

    def stop(_done, _total):
        with library.session() as session:
            assert cancel_run(session, library.clock())

    with pytest.raises(RunCancelledError):
        run(library, stop)
    with pytest.raises(OSError, match="full"):
        run(library, lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(KeyboardInterrupt):
        run(library, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert kept(library, "message", "indexed") == [("interrupted", "", 0), ("failed", "OSError", 0), ("stopped", "", 0)]
    with library.app.app_context():
        service = current_service()
        with Session(service.engine()) as session, run_lock(session, service.settings, service.clock, Wish("")):
            assert [state for (state,) in kept(library)] == ["running", "interrupted", "failed", "stopped"]


def test_a_row_whose_transaction_failed_is_written_by_the_next_one(library, monkeypatch):
    library.put("1.jpg", jpeg(20, 10))
    write = run_log.write_if_free

    def fail(engine, wanted, *, lasting):
        def roll_back(session):
            wanted(session)
            raise OperationalError("", {}, Exception("the disk is full"))

        return write(engine, roll_back, lasting=lasting)

    monkeypatch.setattr(run_log, "write_if_free", fail)
    library.index()
    assert kept(library, "indexed", "read") == [("done", 1, 1)]


def test_old_runs_are_forgotten(library, monkeypatch):
    monkeypatch.setitem(KINDS, "index", replace(INDEX, most_kept=3))
    for number in range(5):
        library.put(f"{number}.jpg", jpeg(20 + number, 10))
        library.index()
    assert kept(library, "unchanged") == [("done", 4), ("done", 3), ("done", 2)]
    with library.session() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 3
