"""A scheduler of dask.distributed and its workers, as processes of their own; functions for them to run."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.programs.forks import SURROUNDINGS

_ROOT = Path(__file__).resolve().parents[3]
_QUIET = {
    "DASK_DISTRIBUTED__DASHBOARD__LINK": "",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "false",
    "PYTHONPATH": str(_ROOT),
}


class DaskCluster:
    """A scheduler, started, and the workers that join it.

    Args:
        folder: a folder for logs and the files of workers.
        protocol: `tcp`, or `tls` with certificates in the environment.
        environ: more environment variables of all processes.
    """

    def __init__(self, folder: Path, protocol: str = "tcp", environ: Mapping[str, str] | None = None) -> None:
        self._folder, self._environ = folder, environ or {}
        self.workers: list[subprocess.Popen[bytes]] = []
        options = ["--port", "0", "--host", "127.0.0.1", "--protocol", protocol]
        self.scheduler, log = self._start("scheduler", options)
        self.address = self._wait_for(log, rf"Scheduler at:\s*({protocol}://\S+)")

    def _start(
        self, kind: str, options: Sequence[str], *, environ: Mapping[str, str] | None = None, within: Sequence[str] = ()
    ) -> tuple["subprocess.Popen[bytes]", Path]:
        log = self._folder / f"{kind}{time.monotonic_ns()}.log"
        program = [sys.executable, "-m", "dask", kind, "--no-dashboard", *options]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*within, *program],
                env={**SURROUNDINGS, **_QUIET, **self._environ, **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )
        return process, log

    @staticmethod
    def _wait_for(log: Path, pattern: str) -> str:
        end = time.monotonic() + 120
        while (found := re.search(pattern, log.read_text())) is None:
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        return found.group(1)

    def add(
        self,
        *,
        nanny: bool = False,
        waits: bool = True,
        environ: Mapping[str, str] | None = None,
        within: Sequence[str] = (),
    ) -> "subprocess.Popen[bytes]":
        """Start a worker with one thread.

        Args:
            nanny: let a process of dask restart it when it dies.
            waits: return when it has joined.
            environ: more environment variables.
            within: a command that runs the worker.
        """
        options = [self.address, "--nthreads", "1", "--local-directory", str(self._folder / "files")]
        process, log = self._start(
            "worker", [*options, "--nanny" if nanny else "--no-nanny"], environ=environ, within=within
        )
        self.workers.append(process)
        if waits:
            self._wait_for(log, r"(Registered to:\s+\S+)")
        return process

    def close(self) -> None:
        """Kill all of them."""
        for process in [*self.workers, self.scheduler]:
            kill(process)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and those that it started, as when its machine loses power."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[DaskCluster]:
    """A scheduler with so many workers."""
    cluster = DaskCluster(folder)
    try:
        for _ in range(workers):
            cluster.add(waits=False)
        yield cluster
    finally:
        cluster.close()


def double(number: int) -> int:
    """Return twice the number, after a moment."""
    time.sleep(0.01)
    return 2 * number


def refuse_seven(number: int) -> int:
    """Return the number; 7 kills the process that gets it, which reads for a dask worker."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGSEGV)
    return number


def kill_the_worker_at_seven(number: int) -> int:
    """Return the number; 7 kills the dask worker whose process gets it."""
    if number == 7:
        os.kill(os.getppid(), signal.SIGKILL)
    return number
