"""Time of the first request of a fresh worker: `python -m bench.first_request FOLDER [CHECKOUT]`.

FOLDER holds a library made by `bench.libraries.library`. A server with one worker starts for each figure and is left
alone until the worker has used no processor time for a while; then the request is sent, and once more. Medians of
ROUNDS servers. With CHECKOUT, the folder of another revision, its servers start in turn with these; its columns are the
first.
"""

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

ROUNDS = 5
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
def fresh(options: tuple[str, ...], checkout: Path, folder: Path) -> Iterator[str]:
    """A server whose worker has started and had no request; gives its address."""
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
        yield f"http://{address}"
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
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        now = sum(_ticks(int(child)) for child in children) if children else -1
        if now != used:
            used, since = now, time.monotonic()
        elif children and time.monotonic() - since > _QUIET:
            return
    raise RuntimeError("no worker rests")


def _ticks(process: int) -> int:
    """Processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def ask(address: str, path: str, token: str) -> float:
    """Seconds until the answer is there."""
    headers = {"X-Auth-Token": token} if path.startswith("/api/") else {}
    request = urllib.request.Request(address + path, headers=headers)
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
    return time.perf_counter() - began


def main(folder: Path, others: list[Path]) -> None:
    checkouts = [*(other.resolve() for other in others), HERE]
    token = (folder / TOKEN_FILE).read_text()
    found = defaultdict[tuple[str, str, Path], list[tuple[float, float]]](list)
    for _ in range(ROUNDS):
        for name, options in SERVERS.items():
            for path in PATHS:
                for checkout in checkouts:
                    with fresh(options, checkout, folder.resolve()) as address:
                        times = ask(address, path, token), ask(address, path, token)
                    found[name, path, checkout].append(times)
    print(f"| milliseconds | request |{' first | second |' * len(checkouts)}")
    print(f"|---|---|{'---|---|' * len(checkouts)}")
    for name in SERVERS:
        for path in PATHS:
            both = [zip(*found[name, path, checkout], strict=True) for checkout in checkouts]
            cells = [f"{median(values) * 1000:.0f}" for pair in both for values in pair]
            print(f"| {name} | `{path}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(path) for path in sys.argv[2:3]])
