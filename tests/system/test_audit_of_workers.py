"""A server that stops records the refusals that it only counted."""

import os
import re
import signal
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine

from photosvc.models import AuditEntry
from tests.helpers.audit_rows import rows
from tests.helpers.clock import until
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
    """How many refusals the table tells of."""
    found = rows(library)
    assert {row.event for row in found} <= {"token.refused"}
    return sum(row.times for row in found)


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
            time.sleep(1)
            os.kill(worker, signal.SIGQUIT)
            time.sleep(0.5)
    assert counted(empty_library) == TIMES


def test_workers_that_are_replaced_record_what_they_counted(empty_library):
    with serving(empty_library, options=HOOKS, workers=1, threads=2) as address:
        refuse(address)
        send(empty_library, signal.SIGHUP)
        until(lambda: counted(empty_library) == TIMES)
