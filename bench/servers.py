"""Servers of the benchmarks with their request rate and memory, clients at the same time, and figures of rounds."""

import math
import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address and process id."""

    base: str
    process: int

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def rate(
        self, path: str, seconds: float, headers: Mapping[str, str] | None = None, *, script: Path | None = None
    ) -> float:
        """Answers per second that wrk receives over a few persistent connections.

        Raises:
            RuntimeError: one of the answers was an error.

        """
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout", "30s"]
        for name, value in (headers or {}).items():
            command += ["-H", f"{name}: {value}"]
        command += ["-s", str(script)] if script else []
        report = subprocess.run([*command, self.base + path], capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in report or "Socket errors" in report:
            raise RuntimeError(report)
        return float(re.search(r"Requests/sec: +([\d.]+)", report)[1])

    def memory(self, kind: str = "Anonymous") -> float:
        """Memory of all workers in MB; memory-mapped database files are not counted.

        Args:
            kind: `Anonymous` counts memory that processes share for each of them, `Pss_Anon` its parts.

        """
        return sum(_memory(process, kind) for process in self.workers() or [self.process])

    def whole_memory(self) -> float:
        """Memory of the workers and their master process in MB, what they share counted once."""
        return sum(_memory(process, "Pss_Anon") for process in [*self.workers(), self.process])

    def workers(self) -> list[int]:
        """The process ids of the workers."""
        return [int(pid) for pid in Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()]


@contextmanager
def gunicorn(
    target: str,
    log: Path,
    ready: str = "/api/v1/status",
    *,
    threads: int = 1,
    options: Sequence[str] = (),
    **environ: str,
) -> Iterator[Server]:
    """A gunicorn server of the WSGI app `target` with two workers: sync ones, or with several threads each."""
    command = [sys.executable, "-m", "gunicorn", "--workers", "2", "--threads", str(threads), "--no-control-socket"]
    command += ["--bind", "{address}", *options, target]
    with serve(command, log, ready, **environ) as server:
        yield server


@contextmanager
def serve(command: Sequence[str], log: Path, ready: str, **environ: str) -> Iterator[Server]:
    """Start a server and wait until the path `ready` answers; `{address}` and `{port}` in the command are replaced."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    filled = [part.format(address=f"127.0.0.1:{port}", port=port) for part in command]
    with log.open("wb") as output:
        process = subprocess.Popen(filled, env={**os.environ, **environ}, stdout=output, stderr=output)
    try:
        _wait(f"http://127.0.0.1:{port}{ready}")
        yield Server(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait()


def _memory(process: int, kind: str) -> float:
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(re.search(rf"^{kind}: +(\d+) kB", text, re.MULTILINE)[1]) / 1024


def _wait(url: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} does not answer")


def with_spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, followed by the minimum and maximum in brackets."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


@contextmanager
def at_once(target: Callable[..., object], jobs: Iterable[tuple[Any, ...]]) -> Iterator[None]:
    """Call a function in a thread for each tuple of arguments, and wait for all at the end of the block."""
    threads = [threading.Thread(target=target, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(len(values) * share) - 1]


def private_memory(process: int | str = "self") -> float:
    """Megabytes of a process without the files that it maps, such as the database."""
    found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0
