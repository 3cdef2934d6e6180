"""The start of an indexer in a process of its own when none runs that takes the jobs of requests."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from multiprocessing import spawn
from threading import Lock, Thread
from typing import Final

from photosvc.index.watcher import takes_jobs
from photosvc.settings import PREFIX, Settings
from photosvc.web.service import Service

_PROGRAM: Final = "from photosvc.main import main; main()"
_MEMORY: Final = {"", ":memory:"}


class Indexer(StrEnum):
    """The process that will do a job."""

    RUNNING = "running"
    """A process that runs already."""
    STARTED = "started"
    """A process that was started for the job."""
    NONE = "none"
    """No process at present: the next `svc watch` or index run does the job."""


def wake_indexer(service: Service) -> Indexer:
    """Start an indexer unless one of this machine runs.

    Call it after the transaction with the job. A worker starts one at a time, and one more after it for all jobs that
    came in the meantime. Two workers may each start one: the second ends at once.
    """
    if takes_jobs(service.settings):
        return Indexer.RUNNING
    url = service.engine().url
    if url.get_backend_name() == "sqlite" and url.database in {None, *_MEMORY}:
        return Indexer.NONE  # no other process sees this database
    database = url.render_as_string(hide_password=False)
    environment = _environment(service.settings, database)
    try:
        service.only(Starter).start(lambda: _launch(environment))
    except OSError:
        return Indexer.NONE
    return Indexer.STARTED


def _launch(environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own program
        [os.fsdecode(spawn.get_executable()), "-P", "-c", _PROGRAM, "index", "--wished"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # it outlives the server
    )


def _environment(settings: Settings, database: str) -> dict[str, str]:
    """Return environment variables with the settings of this service, which a host app may have given in code."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    own = {
        PREFIX + item.name.upper(): os.fspath(value) if isinstance(value, os.PathLike) else str(value)
        for item in fields(settings)
        if item.metadata and (value := getattr(settings, item.name)) is not None
    }
    path = os.pathsep.join(path or os.curdir for path in sys.path)
    instance = settings.cache / "indexer"
    return given | own | {PREFIX + "DATABASE_URI": database, PREFIX + "INSTANCE": str(instance), "PYTHONPATH": path}


class Starter:
    """A starter that runs one instance of a program at a time; requests made meanwhile become one more run."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = False
        self._again = False

    def start(self, launch: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        """Start the program; while it runs, only note that it has to be started once more.

        Raises:
            OSError: the program cannot be started.
        """
        with self._lock:
            if self._running:
                self._again = True
                return
            process = launch()
            self._running = True
        Thread(target=self._wait, args=(process, launch), name="photosvc-starter", daemon=True).start()

    def _wait(self, process: "subprocess.Popen[bytes]", launch: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        while True:
            process.wait()
            with self._lock:
                self._running = self._again
                self._again = False
                if not self._running:
                    return
                try:
                    process = launch()
                except OSError:  # the next request tries again
                    self._running = False
                    return
