"""Kill `svc index` again and again: `python -m tests.nightly.killed_runs INSTANCE KILLS LINES SEED`.

Prints JSON.

The command runs in forks of this process, which has imported everything: most of the time of a short run is its start.
"""

import contextlib
import json
import os
import random
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from photosvc.index.gazetteer import Gazetteer
from photosvc.main import main

ARGUMENTS = ("index", "--workers", "2", "--thumbs", "--json")
#: One of so many runs is killed before it has read a file.
_EARLY = 8
#: Seconds for which a run goes on: longer than a transaction, and than the start of a run.
_AFTER_A_LINE, _AFTER_THE_START = 0.1, 0.6


def _start() -> tuple[int, int]:
    """A run: its process id, and what it writes."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for old, new in ((nowhere, 0), (writing, 1), (nowhere, 2)):
            os.dup2(old, new)
        os.closerange(3, 256)
        sys.argv = ["svc", *ARGUMENTS]
        main()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(0)


def _wait_for_lines(reading: int, lines: int) -> int:
    """Read this number of lines, or all; gives how many there were."""
    seen = 0
    while seen < lines and (data := os.read(reading, 1 << 16)):
        seen += data.count(b"\n")
    return seen


def _workers_of(processes: set[int]) -> list[int]:
    """The worker processes of these runs that are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            is_worker = any(b"photosvc.workers.child" in word for word in words)
            if is_worker and processes & {int(word) for word in words if word.isdigit()}:
                found.append(int(path.parent.name))
    return found


def run(kills: int, lines: int, seed: int) -> dict[str, int]:
    """Start and kill; gives how many runs were killed before, while and after they read files, and what is left."""
    draw = random.Random(seed)
    counts = {"early": 0, "reading": 0, "ended": 0}
    processes = set()
    for number in range(kills):
        process, reading = _start()
        processes.add(process)
        early = number % _EARLY == 0
        seen = 0 if early else _wait_for_lines(reading, draw.randint(1, lines))
        time.sleep(draw.uniform(0, _AFTER_THE_START if early else _AFTER_A_LINE))
        ended, _ = os.waitpid(process, os.WNOHANG)
        if not ended:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        os.close(reading)
        counts["ended" if ended else "reading" if seen else "early"] += 1
    deadline = time.monotonic() + 60
    while (left := _workers_of(processes)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return {**counts, "workers_left": len(left)}


if __name__ == "__main__":
    os.environ["PHOTOSVC_INSTANCE"] = sys.argv[1]
    for module in (
        "photosvc.app",
        "photosvc.cli.index",
        "photosvc.index.run",
        "photosvc.pictures.prerender",
    ):
        import_module(module)
    Gazetteer.load()
    sys.stdout.write(json.dumps(run(*map(int, sys.argv[2:5]))))
