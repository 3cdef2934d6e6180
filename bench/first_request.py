"""Time of the first request of a fresh worker: `python -m bench.first_request FOLDER [CHECKOUT]`, with options.

FOLDER holds a library made by `bench.libraries.library`. A server with one worker starts for each figure and is left
alone until the worker has used no processor time for a while; then the request is sent, and once more, with the token
of the library. Medians of N servers of each kind, or of that one kind: the time until the answer is there, and the
processor time of the worker, which the system counts in hundredths of a second. With CHECKOUT, the folder of another
revision, its servers start in turn with these; its columns are the first.
"""

import argparse
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

from bench.commands import COMPILED
from bench.libraries.library import TOKEN_FILE

HERE = Path(__file__).parents[1]
_OWN: Final = ("--worker-class", "photosvc.serving.Worker", "--threads", "8")
#: Kinds of servers, by their name in the table.
SERVERS: Final[dict[str, tuple[str, ...]]] = {
    "plain worker": (),
    "plain worker, `--preload`": ("--preload",),
    "own worker": _OWN,
    "own worker, `--preload`": (*_OWN, "--preload"),
}
PATHS: Final = ("/api/v1/status", "/api/v1/photos?count=100", "/api/v1/config", "/api/v1/albums?count=100", "/")
#: Seconds for which a worker must not have used the processor, and the most to wait for that.
_QUIET, _LONGEST = 0.5, 60.0


@contextmanager
def fresh(options: tuple[str, ...], checkout: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """A server whose worker has started and had no request; gives its address and the process of its master."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "gunicorn", "--workers", "1", "--no-control-socket", "--bind", address, *options]
    environ = {**os.environ, **COMPILED, "PYTHONPATH": str(checkout), "PHOTOSVC_INSTANCE": str(folder)}
    with (folder / "first_request.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "photosvc.app:create_app()"], cwd=checkout, env=environ, stdout=log, stderr=log
        )
    try:
        _rest(process.pid)
        yield f"http://{address}", process.pid
    finally:
        process.terminate()
        process.wait()


def _rest(master: int) -> None:
    """Wait until the worker of this master has done nothing for a while.

    Raises:
        RuntimeError: there is none, or it does not rest.
    """
    used = -1
    since = began = time.monotonic()
    while time.monotonic() - began < _LONGEST:
        time.sleep(0.05)
        now = _used(master)
        if now != used:
            used, since = now, time.monotonic()
        elif now >= 0 and time.monotonic() - since > _QUIET:
            return
    raise RuntimeError("no worker rests")


def _used(master: int) -> int:
    """Processor time of the worker of this master, in hundredths of a second; -1 before there is one."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    fields = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split() for child in children]
    return sum(int(one[11]) + int(one[12]) for one in fields) if fields else -1


def ask(address: str, master: int, path: str, token: str) -> tuple[float, float]:
    """Milliseconds until the answer is there, and those of the worker's processor time."""
    request = urllib.request.Request(address + path, headers={"X-Auth-Token": token})
    used, began = _used(master), time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
    return (time.perf_counter() - began) * 1000, (_used(master) - used) * 10


def main(folder: Path, checkouts: list[Path], servers: dict[str, tuple[str, ...]], rounds: int) -> None:
    token = (folder / TOKEN_FILE).read_text()
    found = defaultdict[tuple[str, str, Path], list[tuple[float, ...]]](list)
    for _ in range(rounds):
        for name, options in servers.items():
            for path in PATHS:
                for checkout in checkouts:
                    with fresh(options, checkout, folder.resolve()) as (address, master):
                        times = [ask(address, master, path, token) for _ in range(2)]
                    found[name, path, checkout].append((*times[0], *times[1]))
    print(f"| milliseconds | request |{' first | processor | second | processor |' * len(checkouts)}")
    print(f"|---|---|{'---|---|---|---|' * len(checkouts)}")
    for name in servers:
        for path in PATHS:
            both = [zip(*found[name, path, checkout], strict=True) for checkout in checkouts]
            cells = [f"{median(values):.0f}" for pair in both for values in pair]
            print(f"| {name} | `{path}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkout", type=Path, nargs="?", help="the folder of another revision")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--server", choices=SERVERS, action="append", help="only this kind")
    given = parser.parse_args()
    both = [*([given.checkout.resolve()] if given.checkout else []), HERE]
    kinds = {name: SERVERS[name] for name in given.server or SERVERS}
    main(given.folder, both, kinds, given.rounds)
