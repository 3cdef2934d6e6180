"""One index run at a time, also over several machines that share a database but no cache folder."""

import signal
import subprocess
import sys

import pytest
from sqlalchemy import select

from photosvc.core.errors import ConflictError
from photosvc.index import lease as module
from photosvc.index.requested import run_lock
from photosvc.models import Job
from photosvc.web.current import current_service
from tests.helpers.library import SURROUNDINGS, counts, new_settings
from tests.helpers.pictures import jpeg


@pytest.fixture
def other_settings(tmp_path):
    return new_settings(tmp_path / "other")


def test_a_run_on_another_machine_is_refused_until_the_first_has_ended(library, other_settings):
    library.put("a.jpg", jpeg())
    with library.session() as session, run_lock(session, other_settings, library.clock):
        with pytest.raises(ConflictError, match="Another index run is active"):
            library.index()
        assert counts(library.index(dry_run=True)) == (1, 0, 0, 0, 0, 0)
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)


def test_the_lease_of_a_machine_that_crashed_ends(library, other_settings):
    with library.session() as session, run_lock(session, other_settings, library.clock):
        library.clock.move(seconds=89)
        with pytest.raises(ConflictError):
            library.index()
        library.clock.move(seconds=2)
        assert counts(library.index()) == (0, 0, 0, 0, 0, 0)


def test_a_run_that_lost_its_lease_writes_nothing_more(library, other_settings):
    library.put("a.jpg", jpeg())
    with library.session() as session, run_lock(session, other_settings, library.clock) as lease:
        library.clock.move(seconds=91)
        library.index()
        with pytest.raises(ConflictError):
            lease.check(session)


def test_a_lease_is_renewed_while_the_run_goes_on(library, other_settings, monkeypatch):
    monkeypatch.setattr(module, "_RENEWAL", 0.01)
    with library.session() as session, run_lock(session, other_settings, library.clock):
        for _ in range(3):
            library.clock.move(seconds=60)
            before = lease_row(library)
            for _ in range(500):
                if lease_row(library) != before:
                    break
                module.threading.Event().wait(0.01)
            with pytest.raises(ConflictError):
                library.index()


def test_the_next_run_on_the_same_machine_takes_over_at_once_from_one_that_was_killed(library):
    program = f"""
import os, signal
from sqlalchemy.orm import Session
from photosvc.app import create_app
from photosvc.index.requested import run_lock
from photosvc.web.current import current_service
app = create_app(instance={str(library.instance)!r}, environ={{}})
with app.app_context():
    service = current_service()
    with Session(service.engine()) as session, run_lock(session, service.settings, service.clock):
        os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], env=SURROUNDINGS, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert lease_row(library) > library.clock()
    assert counts(library.index()) == (0, 0, 0, 0, 0, 0)
    assert lease_row(library) is None


def lease_row(library):
    with library.session() as session:
        return session.scalar(select(Job.leased_until).where(Job.state == "running"))


def test_processes_that_look_alike_in_two_containers_are_two_owners(library):
    """One host name, one process id and one path of the cache, which is a volume of its own in each container."""
    library.put("a.jpg", jpeg())
    with library.app.app_context():
        settings = current_service().settings
    with library.session() as session, run_lock(session, settings, library.clock):
        settings.cache.rename(library.instance / "cache of the first")
        with pytest.raises(ConflictError, match="Another index run is active"):
            library.index()
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)
