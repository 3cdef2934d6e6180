"""The job that makes the usual thumbnails of all pictures beforehand: result, progress, and waits."""

import shutil
from datetime import timedelta

import pytest

from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, State
from photosvc.library import thumbnail_jobs
from photosvc.library.job_runner import JobRunner
from photosvc.library.thumbnail_jobs import last_progress, request_thumbnails
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.web.service import current_service
from tests.helpers.pictures import encoded, jpeg, quarters


class Made:
    """A library of two pictures with a runner of jobs."""

    def __init__(self, library):
        with library.app.app_context():
            self.settings, self.engine = current_service().settings, current_service().engine()
        self.library = library
        library.put("large.jpg", jpeg(2400, 1200))
        library.put("2020/small.png", encoded(quarters(60, 40), "PNG"))
        library.index()
        self.runner = JobRunner(self.engine, self.settings, library.clock)

    def ask(self):
        with write_session(self.engine) as session:
            request_thumbnails(session, self.library.clock())

    def progress(self):
        with UnitOfWork(self.engine) as session:
            return last_progress(session)

    def run(self):
        """Do the steps of the job until it ends or waits."""
        while self.runner.step() and self.progress().state is State.RUNNING:
            continue
        return self.progress()

    def sizes(self):
        """The numbers of thumbnails of the two pictures."""
        names = [path.name.partition("_")[0] for path in self.settings.cache.glob("pictures/?/?/?/*.jpg")]
        return sorted(names.count(name) for name in set(names))


@pytest.fixture
def made(library):
    made = Made(library)
    yield made
    made.runner.close()


def test_all_usual_thumbnails_are_made_once_and_the_progress_is_told(made, monkeypatch):
    monkeypatch.setattr(thumbnail_jobs, "_PORTION", 1)
    assert made.progress() is None
    made.ask()
    assert (made.progress().is_open, made.progress().total) == (True, 0)
    done = made.run()
    assert (done.state, done.is_open) == (State.DONE, False)
    assert (done.done, done.total, done.made, done.failed) == (2, 2, 11, 0)
    assert made.sizes() == [4, 7]
    made.ask()
    again = made.run()
    assert (again.done, again.total, again.made, again.failed) == (2, 2, 0, 0)


def test_while_the_disk_is_away_the_job_waits_for_it_and_pictures_that_are_gone_are_counted(made, tmp_path):
    shutil.move(made.library.originals, tmp_path / "aside")
    made.library.originals.mkdir()
    made.ask()
    assert made.run().state is State.WAITING
    assert made.sizes() == []
    made.library.originals.rmdir()
    shutil.move(tmp_path / "aside", made.library.originals)
    (made.library.originals / "large.jpg").unlink()
    made.library.clock.present += timedelta(hours=1)
    done = made.run()  # a picture that is gone is counted, and the others are made
    assert (done.state, done.done, done.made, done.failed) == (State.DONE, 2, 4, 1)


def test_the_job_begins_after_the_index_run(made):
    with write_session(made.engine) as session:
        queue.add(session, INDEX, "", made.library.clock(), {})
    index = Lease(made.engine, made.library.clock)
    assert index.claim(INDEX) is not None
    made.ask()
    made.runner.step()
    made.ask()  # waits behind the one that has begun
    assert (made.progress().state, made.progress().total) == (State.RUNNING, 0)
    with write_session(made.engine) as session:
        index.finish(session)
    while made.runner.step() and made.progress().state is State.RUNNING:
        assert (made.progress().total, made.progress().made) in {(0, 0), (2, 11)}
    assert made.sizes() == [4, 7]
