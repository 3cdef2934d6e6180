"""One index run at a time, also over several machines that share a database but no cache folder."""

import fcntl
import threading

import pytest
from sqlalchemy import select

from photosvc.core.errors import ConflictError
from photosvc.index.requests import run_lock
from photosvc.models import Job
from photosvc.web.service import current_service
from tests.helpers.library import counts, new_settings
from tests.helpers.pictures import jpeg


@pytest.fixture
def other_settings(tmp_path):
    return new_settings(tmp_path / "other")


def test_a_lease_is_renewed_while_the_run_goes_on(library, other_settings, monkeypatch):
    waits, renewals = threading.Semaphore(0), threading.Semaphore(0)

    def wait(ended, _seconds):
        waits.release()
        renewals.acquire()
        return ended.is_set()

    monkeypatch.setattr(library.clock, "wait", wait)
    with library.session() as session, run_lock(session, other_settings, library.clock):
        waits.acquire()
        for _ in range(3):
            library.clock.move(seconds=60)
            renewals.release()
            waits.acquire()
            with pytest.raises(ConflictError):
                library.index()
    renewals.release()


def test_one_process_of_a_machine_and_processes_that_look_alike_in_two_containers_are_told_apart(library):
    """The latter have one host name, one process id and one path of the cache, which is a volume of each container."""
    library.put("a.jpg", jpeg())
    with library.app.app_context():
        settings = current_service().settings
    settings.cache.mkdir(exist_ok=True)
    with (settings.cache / "index.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ConflictError, match="Another index run is active"):
            library.index()
    with library.session() as session, run_lock(session, settings, library.clock):
        settings.cache.rename(library.instance / "cache of the first")
        with pytest.raises(ConflictError, match="Another index run is active"):
            library.index()
        assert counts(library.index(dry_run=True)) == (1, 0, 0, 0, 0, 0)
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)
    with library.session() as session:
        assert session.scalar(select(Job.leased_until).where(Job.state == "running")) is None
