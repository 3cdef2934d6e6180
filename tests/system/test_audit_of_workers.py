"""A server that stops records the refusals that it only counted."""

import os
import re
import signal
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from photosvc.models import AuditEntry
from tests.helpers.audit_rows import rows
from tests.helpers.clock import until
from tests.helpers.programs.forks import ROOT
from tests.helpers.programs.server import serve

HOOKS = ["--config", "python:photosvc.serving"]
TIMES = 12


@pytest.fixture
def empty_library(new_library):
    return new_library()


def refuse(address):
    for _ in range(TIMES):
        request = urllib.request.Request(f"{address}/api/v1/photos", headers={"X-Auth-Token": "garbage"})
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=20)
        assert caught.value.code == 401
        caught.value.close()


def serving(library, **options):
    environ = {"PHOTOSVC_DATABASE_URI": str(library.app.config["SQLALCHEMY_DATABASE_URI"])}
    return serve(library.instance, environ=environ, **options)


def send(library, number):
    """Send a signal to the master process of the server."""
    log = (library.instance / "gunicorn.log").read_text()
    os.kill(int(re.search(r"Listening at: \S+ \((\d+)\)", log)[1]), number)


def counted(library):
    """Count the refusals in the table."""
    found = rows(library)
    assert {row.event for row in found} == {"token.refused"}
    return sum(row.times for row in found)


def ignores(process, number):
    """Tell whether a process ignores a signal, as it does once it writes its last entries."""
    mask = re.search(r"^SigIgn:\s*(\w+)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)[1]
    return bool(int(mask, 16) >> number - 1 & 1)


@contextmanager
def held(library):
    """Keep others from writing into the security log."""
    engine = create_engine(library.app.config["SQLALCHEMY_DATABASE_URI"])
    with engine.connect() as connection:
        is_sqlite = engine.dialect.name == "sqlite"
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_sqlite else f"LOCK TABLE {AuditEntry.__tablename__}")
        yield
        connection.rollback()
    engine.dispose()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_stops_records_what_its_workers_counted(empty_library, number):
    with serving(empty_library, options=HOOKS, workers=2, threads=2) as address:
        refuse(address)
        assert 1 <= counted(empty_library) <= 2  # the first of each worker
        send(empty_library, number)
    assert counted(empty_library) == TIMES


def test_a_worker_that_the_terminal_and_the_master_end_records_what_it_counted(empty_library):
    """Ctrl+C reaches the workers too."""
    with serving(empty_library, options=HOOKS, workers=1, threads=2) as address:
        refuse(address)
        log = (empty_library.instance / "gunicorn.log").read_text()
        worker = int(re.search(r"Booting worker with pid: (\d+)", log)[1])
        with held(empty_library):  # so that the second signal comes while the last entries are written
            os.kill(worker, signal.SIGINT)
            until(lambda: ignores(worker, signal.SIGQUIT))
            os.kill(worker, signal.SIGQUIT)
    assert counted(empty_library) == TIMES


def test_workers_that_are_replaced_record_what_they_counted(empty_library):
    with serving(empty_library, options=HOOKS, workers=1, threads=2) as address:
        refuse(address)
        send(empty_library, signal.SIGHUP)
        until(lambda: counted(empty_library) == TIMES)


def test_workers_of_the_wsgi_module_record_what_they_counted_when_the_server_stops(library):
    """It runs without the hooks."""
    with serve(library.instance, options=["--chdir", str(ROOT)], workers=1, target="wsgi:app") as address:
        refuse(address)
        assert [(row.event, row.times) for row in rows(library)] == [("token.refused", 1)]
    assert counted(library) == TIMES
