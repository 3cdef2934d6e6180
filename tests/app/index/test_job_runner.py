"""The loop that does the jobs beside index runs: a step of each kind at a time, and none hinders another."""

from typing import Any

import pytest
from sqlalchemy import select

from photosvc.index.requests import IndexRequest, due
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import ALBUMS, IMPORT, INDEX, LOOK_ALIKES
from photosvc.library import job_runner as runners
from photosvc.library.album_jobs import NotInAlbumsError, queue_albums
from photosvc.library.job_runner import HANDLERS, JobRunner
from photosvc.library.storage_errors import StorageFailedError
from photosvc.library.upload_queue import LIFETIME
from photosvc.models import Job, RejectedFile, UploadedFile
from photosvc.models.engine import write_session
from tests.helpers.clock import NOW, MovedClock


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def runner(engine, clock):
    without_settings: Any = None
    runner = JobRunner(engine, without_settings, clock)
    yield runner
    runner.close()


def ask(engine, *kinds, arguments=None, **values):
    with write_session(engine) as session:
        for kind in kinds:
            queue.add(session, kind, "", NOW, arguments or {}, **values)


def states(engine):
    with write_session(engine) as session:
        return dict(session.execute(select(Job.kind, Job.state)).all())


def endless(*_):
    while True:
        yield True


def iter_of(*portions):
    yield from portions


def test_an_index_job_of_a_process_that_was_killed_is_due_again_when_its_lease_ends(engine, clock, runner):
    ask(engine, INDEX, arguments={"force": False})
    Lease(engine, clock).claim(INDEX)
    assert not runner.step()
    clock.move(seconds=90)
    assert runner.waits()
    runner.step()
    with write_session(engine) as session:
        assert due(session, clock()) == [IndexRequest("")]


def test_a_job_that_fails_hinders_no_other_and_is_tried_again_after_a_pause(engine, clock, runner, monkeypatch, caplog):
    def fails(*_):
        yield True
        raise errors.pop()

    errors = [StorageFailedError(), KeyError("x")]
    monkeypatch.setitem(HANDLERS, IMPORT, fails)
    monkeypatch.setitem(HANDLERS, LOOK_ALIKES, lambda *_: iter_of())
    ask(engine, IMPORT, LOOK_ALIKES)
    for seconds, logged in ((30, "unexpected"), (60, "import: ")):
        assert not runner.step()
        assert states(engine) == {"import": "waiting", "look_alikes": "done"}
        assert logged in caplog.text
        assert (runner.waits(), runner.is_asked()) == (False, True)
        clock.move(seconds=seconds)
        assert runner.waits()


def test_a_job_for_albums_begins_when_one_of_its_files_was_refused_and_ends_with_its_time(engine, clock, runner):
    with write_session(engine) as session:
        queue_albums(session, "", ["1a", "2b"], ["atb7yo0000000000"], NOW, None)
        columns = {"user_id": None, "size": 1, "original_name": "", "created_at": NOW}
        session.add(UploadedFile(hash="1a", name="1.jpg", **columns))
    assert not runner.waits()
    with write_session(engine) as session:
        session.add(RejectedFile(name="1.jpg", size=1, mtime_ns=1, reason="damaged", created_at=NOW))
    assert (runner.waits(), runner.step(), states(engine)) == (True, False, {ALBUMS.name: "waiting"})
    clock.move(seconds=LIFETIME.total_seconds())
    assert (runner.waits(), runner.step()) == (True, False)
    with write_session(engine) as session:
        job = session.scalars(select(Job)).one()
        assert (job.state, job.report) == ("failed", {"added": 0, "lost": 2, "message": NotInAlbumsError().message})


def test_kinds_take_turns_and_a_job_goes_on_in_another_process_until_it_is_stopped(engine, runner, monkeypatch):
    monkeypatch.setattr(runners, "_STEP", 0)
    monkeypatch.setitem(HANDLERS, IMPORT, endless)
    monkeypatch.setitem(HANDLERS, LOOK_ALIKES, lambda *_: iter_of(True))
    ask(engine, IMPORT)
    ask(engine, LOOK_ALIKES, large=True)
    assert (runner.waits(), runner.is_asked()) == (True, True)
    runner.step(small=True)  # as in the pauses of an index run
    assert states(engine)["look_alikes"] == "waiting"
    assert (runner.step(), runner.step(), runner.waits()) == (True, True, False)
    assert states(engine) == {"import": "running", "look_alikes": "done"}
    runner.close()
    assert (states(engine)["import"], runner.waits()) == ("waiting", True)
    assert runner.step()
    with write_session(engine) as session:
        assert queue.cancel(session, NOW, [IMPORT.name])
    assert not runner.step()
    assert states(engine)["import"] == "stopped"
