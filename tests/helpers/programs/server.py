"""A gunicorn server with several workers, which name themselves in a header of each answer."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.clock import until
from tests.helpers.programs import forks
from tests.helpers.programs.forks import SURROUNDINGS

_APP = """
import os
from photosvc.app import create_app

app = create_app()
inner = app.wsgi_app

def named(environ, start_response):
    def start(status, headers, *rest):
        return start_response(status, [*headers, ("X-Worker", str(os.getpid()))], *rest)
    return inner(environ, start)

app.wsgi_app = named
"""


@contextmanager
def serve(
    instance: Path,
    *,
    workers: int = 2,
    threads: int = 1,
    options: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    target: str = "served:app",
) -> Iterator[str]:
    """The address of a server on this instance folder, with all of its workers up.

    Args:
        instance: the folder.
        workers: processes.
        threads: of each worker.
        options: more arguments of gunicorn.
        environ: more environment variables.
        target: the WSGI app; by default one that names the worker in each answer.

    """
    (instance / "served.py").write_text(_APP)
    log = instance / "gunicorn.log"
    options = [*options, "--bind", "127.0.0.1:0", "--workers", str(workers), "--threads", str(threads)]
    options += ["--pythonpath", str(instance), "--no-control-socket"]
    with log.open("wb") as output, open(os.devnull) as nothing:  # noqa: PTH123
        server = forks.start(
            "gunicorn",
            *options,
            target,
            environ={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance), **(environ or {})},
            streams=(nothing.fileno(), output.fileno(), output.fileno()),
        )
    try:
        yield _address(server, log, workers)
    finally:
        server.terminate()
        server.wait(60)  # workers take up to 30 seconds for the requests that they have


def _address(server: forks.Process, log: Path, workers: int) -> str:
    def found() -> re.Match[str] | None:
        text = log.read_text()
        return (
            re.search(r"Listening at: (?:unix:\S+,)?(https?://\S+)", text)
            if text.count("Booting worker") == workers
            else None
        )

    until(lambda: found() or server.poll() is not None, "the workers of gunicorn")
    if address := found():
        return address.group(1)
    raise RuntimeError(log.read_text())
