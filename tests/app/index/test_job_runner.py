"""The loop that does the jobs beside index runs: a step of each kind at a time, and none hinders another."""

from typing import Any

import pytest
from sqlalchemy import create_engine, select

from photosvc.index import jobs
from photosvc.index.jobs import ALBUMS, IMPORT, INDEX, LOOK_ALIKES
from photosvc.index.lease import Lease
from photosvc.index.requested import Wish, due
from photosvc.library import jobs as runners
from photosvc.library.jobs import HANDLERS, JobRunner
from photosvc.library.staging_part import StorageFailedError
from photosvc.library.upload_albums import LIFETIME, NotInAlbumsError, wish_albums
from photosvc.models import Job, RejectedFile, UploadedFile
from photosvc.models.engine import configure_engine, write_session
from tests.helpers.clock import NOW, MovedClock


@pytest.fixture
def engine(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


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
            jobs.add(session, kind, "", NOW, arguments or {}, **values)


def states(engine):
    with write_session(engine) as session:
        return dict(session.execute(select(Job.kind, Job.state)).all())


def endless(*_):
    while True:
        yield True


def test_kinds_take_turns_and_a_job_that_is_left_goes_on_in_another_process(engine, runner, monkeypatch):
    monkeypatch.setattr(runners, "_STEP", 0)
    monkeypatch.setitem(HANDLERS, IMPORT, endless)
    monkeypatch.setitem(HANDLERS, LOOK_ALIKES, lambda *_: iter_of(True))
    ask(engine, IMPORT, LOOK_ALIKES)
    assert (runner.waits(), runner.is_asked()) == (True, True)
    assert (runner.step(), runner.step(), runner.waits()) == (True, True, False)
    assert states(engine) == {"import": "running", "look_alikes": "done"}
    runner.close()
    assert (states(engine)["import"], runner.waits()) == ("waiting", True)


def iter_of(*portions):
    yield from portions


def test_an_index_job_of_a_process_that_was_killed_is_due_again_when_its_lease_ends(engine, clock, runner):
    ask(engine, INDEX, arguments={"force": False})
    Lease(engine, clock).claim([INDEX])
    assert not runner.step()
    clock.move(seconds=90)
    assert runner.waits()
    runner.step()
    with write_session(engine) as session:
        assert due(session, clock()) == [Wish("")]


def test_only_small_jobs_begin_in_the_pauses_of_an_index_run(engine, runner, monkeypatch):
    monkeypatch.setitem(HANDLERS, LOOK_ALIKES, lambda *_: iter_of())
    ask(engine, LOOK_ALIKES, large=True)
    runner.step(small=True)
    assert states(engine) == {"look_alikes": "waiting"}
    runner.step()
    assert states(engine) == {"look_alikes": "done"}


@pytest.mark.parametrize(("error", "logged"), [(KeyError("x"), "unexpected"), (StorageFailedError(), "import: ")])
def test_a_job_that_fails_hinders_no_other_and_is_tried_again_after_a_pause(
    engine, clock, runner, monkeypatch, caplog, error, logged
):
    def fails(*_):
        yield True
        raise error

    monkeypatch.setitem(HANDLERS, IMPORT, fails)
    monkeypatch.setitem(HANDLERS, LOOK_ALIKES, lambda *_: iter_of())
    ask(engine, IMPORT, LOOK_ALIKES)
    assert not runner.step()
    assert states(engine) == {"import": "waiting", "look_alikes": "done"}
    assert logged in caplog.text
    assert (runner.waits(), runner.is_asked()) == (False, True)
    clock.move(seconds=30)
    assert runner.waits()


def test_a_job_that_is_stopped_ends_with_its_next_portion(engine, runner, monkeypatch):
    monkeypatch.setattr(runners, "_STEP", 0)
    monkeypatch.setitem(HANDLERS, IMPORT, endless)
    ask(engine, IMPORT)
    runner.step()
    with write_session(engine) as session:
        assert jobs.cancel(session, NOW, [IMPORT.name])
    assert not runner.step()
    assert states(engine) == {"import": "stopped"}


def test_a_job_for_albums_begins_when_one_of_its_files_was_refused_and_ends_with_its_time(engine, clock, runner):
    with write_session(engine) as session:
        wish_albums(session, "", ["1a", "2b"], ["atb7yo0000000000"], NOW, None)
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
