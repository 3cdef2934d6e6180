"""What is kept of index runs."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from photosvc.index import run_log
from photosvc.index.requests import IndexRequest, run_lock
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions
from photosvc.jobs.queue import INDEX, KINDS, RunCancelledError
from photosvc.jobs.queue import cancel as cancel_run
from photosvc.models import Job
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool
from tests.helpers.library import open_library
from tests.helpers.pictures import jpeg


@pytest.fixture
def inline_library(tmp_path, monkeypatch):
    monkeypatch.setattr("photosvc.index.run.WorkerPool", InlinePool)
    library = open_library(tmp_path)
    yield library
    library.close()


def kept(library, *names):
    with library.app.app_context(), current_service().reading(orm=True) as session:
        found = run_log.reports(session, library.clock(), count=9)
        return [(report.state.value, *(getattr(report, name) for name in names)) for report in found]


def run(library, progress=None, **options):
    with library.app.app_context():
        service = current_service()
        with Session(service.engine()) as session:
            return run_index(session, service.settings, service.clock, IndexOptions(**options), progress)


def test_the_progress_of_a_run_is_seen_while_it_goes_on(inline_library, monkeypatch):
    monkeypatch.setattr(run_log, "_PAUSE", 0)
    for number in range(3):
        inline_library.put(f"{number}.jpg", jpeg(20 + number, 10))
    seen = []
    run(inline_library, lambda done, _total: seen.append((done, kept(inline_library, "to_read", "read", "ended_at"))))
    assert seen == [(done, [("running", 3, done, None)]) for done in (1, 2, 3)]
    assert kept(inline_library, "to_read", "read") == [("done", 3, 3)]


def test_runs_that_were_stopped_or_failed_or_whose_process_ended_are_told_apart(inline_library, monkeypatch):
    inline_library.put("1.jpg", jpeg(20, 10))

    def stop(_done, _total):
        with inline_library.session() as session:
            assert cancel_run(session, inline_library.clock())

    with pytest.raises(RunCancelledError):
        run(inline_library, stop)
    with pytest.raises(OSError, match="full"):
        run(inline_library, lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(KeyboardInterrupt):
        run(inline_library, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert kept(inline_library, "message", "indexed") == [
        ("interrupted", "", 0),
        ("failed", "OSError", 0),
        ("stopped", "", 0),
    ]
    with inline_library.app.app_context():
        service = current_service()
        with Session(service.engine()) as session, run_lock(session, service.settings, service.clock, IndexRequest("")):
            assert [state for (state,) in kept(inline_library)] == ["running", "interrupted", "failed", "stopped"]


def test_a_row_whose_transaction_failed_is_written_by_the_next_one(inline_library, monkeypatch):
    inline_library.put("1.jpg", jpeg(20, 10))
    write = run_log.write_if_free

    def fail(engine, wanted, *, lasting):
        def roll_back(session):
            wanted(session)
            raise OperationalError("", {}, Exception("the disk is full"))

        return write(engine, roll_back, lasting=lasting)

    monkeypatch.setattr(run_log, "write_if_free", fail)
    inline_library.index()
    assert kept(inline_library, "indexed", "read") == [("done", 1, 1)]


def test_a_run_is_kept_with_its_counts_and_times_and_a_dry_run_is_not(inline_library):
    inline_library.put("2023/a.jpg", jpeg(20, 10))
    inline_library.put("2023/broken.jpg", jpeg(30, 10)[:40])
    inline_library.index(dry_run=True)
    assert kept(inline_library) == []
    inline_library.index(subfolder="2023")
    began = inline_library.clock()
    names = ("folder", "force", "to_read", "read", "indexed", "failed", "started_at", "ended_at")
    assert kept(inline_library, *names) == [("done", "2023", False, 2, 2, 1, 1, began, began)]
    (inline_library.originals / "2023/a.jpg").unlink()
    inline_library.put("b.jpg", jpeg(20, 12))
    inline_library.index(force=True)
    assert kept(inline_library, "folder", "force", "missing", "indexed")[0] == ("done", "", True, 1, 1)


def test_of_runs_that_change_nothing_the_last_one_of_each_folder_is_kept_and_old_runs_are_forgotten(
    inline_library, monkeypatch
):
    inline_library.put("a/1.jpg", jpeg(20, 10))
    inline_library.index()
    for folder in ("", "a", "", "a", ""):
        inline_library.clock.move(seconds=60)
        inline_library.index(subfolder=folder)
    found = kept(inline_library, "folder", "indexed", "unchanged", "started_at")
    assert [one[:4] for one in found] == [("done", "", 0, 1), ("done", "a", 0, 1), ("done", "", 1, 0)]
    assert found[0][4] == inline_library.clock()
    monkeypatch.setitem(KINDS, "index", replace(INDEX, most_ended=3))
    for number in range(3):
        inline_library.put(f"{number}.jpg", jpeg(20 + number, 12))
        inline_library.index()
    assert kept(inline_library, "unchanged") == [("done", 3), ("done", 2), ("done", 1)]
    with inline_library.session() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 3
