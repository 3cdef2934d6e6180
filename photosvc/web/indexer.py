"""The start of an indexer in a process of its own when none runs that takes the jobs of requests."""

import os
import subprocess
import sys
from dataclasses import fields
from enum import StrEnum
from multiprocessing import spawn
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
        service.indexers.start(lambda: _launch(environment))
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
