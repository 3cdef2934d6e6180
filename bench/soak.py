"""Memory of two workers under large answers: `python -m bench.soak FOLDER [--seconds N] [--code FOLDER] [case…]`.

FOLDER holds a library made by `bench.libraries.library`. It is served as `svc deploy show gunicorn` says; twelve
connections of one account ask for large answers without a pause, and another account for a plain search ten times a
second. Private memory (RssAnon) of both workers together, in MB: idle, at its peak, a second and a minute afterwards.
Each case has workers of its own and takes 12 seconds, the last one, which mixes the others, ten minutes.

With `--code` the service of another checkout is measured, such as the one before a change.
"""

import argparse
import http.client
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, repeat
from pathlib import Path
from urllib.parse import quote

from bench.loads import at_once, percentile, private_memory
from bench.peers.serve import Server, serve
from bench.searches.costly import tokens
from photosvc.cli.deploy import Deployment, files_of

CONNECTIONS = 12
MIXED = "mixed"
_SECONDS, _MIXED_SECONDS, _REST = 12.0, 600.0, 60.0
_SAMPLE = 0.05
#: Seconds between a refusal and the next request, and between two plain searches.
_REFUSED, _BESIDE = 0.1, 0.1
_PLAIN = "/photos?count=100&q=summer"
HERE = Path(__file__).parent.parent
_BODY_PIECE = 1 << 18


def _random_page() -> str:
    return f"/photos?count=1000&offset={random.randrange(190_000)}"


def _long_query() -> str:
    words = " ".join(f"-w{random.randrange(10**6)}" for _ in range(100))
    return f"/photos?count=100&q={quote(words)}"


#: Gives the path of the next request.
CASES: dict[str, Callable[[], str]] = {
    "geo": lambda: "/geo",
    "view": lambda: "/photos/view?count=100000",
    "merged": lambda: "/photos?count=100000&merged=true",
    "facets": lambda: "/photos/facets?by=year,camera,city",
    "pages": _random_page,
    "queries": _long_query,
}


@dataclass(slots=True)
class Load:
    """Answers that clients got."""

    statuses: Counter[int | str] = field(default_factory=Counter)
    bytes: int = 0
    spent: list[float] = field(default_factory=list)
    """Milliseconds of each answer."""

    def percentile(self, share: float) -> float:
        return percentile(self.spent, share) if self.spent else 0.0


class Memory:
    """The private memory of the workers of a server, sampled in a thread."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.peak = 0.0

    def now(self) -> float:
        """MB at this moment."""
        return sum(map(private_memory, self._server.workers()))

    @contextmanager
    def sampled(self) -> Iterator[None]:
        """Note the peak inside the block."""
        ended = threading.Event()
        with at_once(self._sample, [(ended,)]):
            try:
                yield
            finally:
                ended.set()

    def _sample(self, ended: threading.Event) -> None:
        while not ended.wait(_SAMPLE):
            self.peak = max(self.peak, self.now())


def ask(port: int, paths: Iterator[str], token: str, ended: threading.Event, pause: float, load: Load) -> None:
    """Ask until the end; refusals are repeated after a moment. Each answer is read to its end."""
    connection, buffer = _connect(port), bytearray(_BODY_PIECE)
    while not ended.wait(pause):
        began, status = time.monotonic(), "broken"
        try:
            connection.request("GET", "/api/v1" + next(paths), headers={"X-Auth-Token": token})
            with connection.getresponse() as answer:
                while size := answer.readinto(buffer):
                    load.bytes += size
                status = str(answer.status)
        except (OSError, http.client.HTTPException):
            connection.close()
            connection = _connect(port)
        load.statuses[status] += 1
        if status == "200":
            load.spent.append((time.monotonic() - began) * 1000)
        else:
            ended.wait(_REFUSED)
    connection.close()


def _connect(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=120)


def in_turn(cases: list[str], first: int) -> Iterator[str]:
    """Give paths of these cases one after the other, beginning with the case of that number."""
    start = first % len(cases)
    for case in cycle(cases[start:] + cases[:start]):
        yield CASES[case]()


def measure(server: Server, cases: list[str], seconds: float, heavy: str, plain: str) -> tuple[Load, Load]:
    """Let twelve connections ask for the cases and one for plain searches."""
    ended, load, beside = threading.Event(), Load(), Load()
    numbers = range(CONNECTIONS if cases else 0)
    given = [(server.port, in_turn(cases, number), heavy, ended, 0, load) for number in numbers]
    with at_once(ask, [(server.port, repeat(_PLAIN), plain, ended, _BESIDE, beside), *given]):
        time.sleep(seconds)
        ended.set()
    return load, beside


@contextmanager
def served(folder: Path, code: Path, log: Path, **environ: str) -> Iterator[Server]:
    """The library in this folder, served by a checkout as its gunicorn.conf.py says."""
    config = log.with_name("gunicorn.conf.py")
    config.write_text(files_of("gunicorn", Deployment())[config.name])
    program = "import sys; sys.argv[0] = 'gunicorn'; from gunicorn.app.wsgiapp import run; run()"
    command = [sys.executable, "-c", program, "--config", str(config), "--bind", "{address}"]
    command += ["--chdir", str(code), "photosvc.app:create_app()"]
    environ |= {"PHOTOSVC_INSTANCE": str(folder), "PYTHONPATH": str(code)}
    with serve(command, log, "/api/v1/status", **environ) as server:
        yield server


def soak(folder: Path, code: Path, name: str, seconds: float, rest: float, heavy: str, plain: str) -> None:
    """Measure a case and print its row."""
    cases = [*CASES] if name == MIXED else [name]
    with tempfile.TemporaryDirectory() as temporary, served(folder, code, Path(temporary, "log")) as server:
        _, alone = measure(server, [], 3, heavy, plain)
        memory = Memory(server)
        idle = memory.now()
        with memory.sampled():
            load, beside = measure(server, cases, seconds, heavy, plain)
        time.sleep(1)
        soon = memory.now()
        time.sleep(max(0.0, rest - 1))
        print(
            f"| {name} | {idle:.0f} | {memory.peak:.0f} | {soon:.0f} | {memory.now():.0f} | {load.statuses['200']} "
            f"| {load.statuses['503']}, {load.statuses['429']} | {_others(load)} | {load.bytes / 1e6:.0f} "
            f"| {alone.percentile(0.95):.0f} | {beside.percentile(0.5):.0f}, {beside.percentile(0.95):.0f} "
            f"| {_others(beside, '503', '429')} |",
            flush=True,
        )


def _others(load: Load, *further: str) -> str:
    """The answers that were neither given nor refused."""
    left = {status: number for status, number in load.statuses.items() if status not in {"200", "503", "429"}}
    left |= {status: load.statuses[status] for status in further if load.statuses[status]}
    return ", ".join(f"{number} x {status}" for status, number in left.items()) or "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", nargs="*", choices=[*CASES, MIXED, []], metavar="case")
    parser.add_argument("--seconds", type=float, help="of each case; by default 12, and 600 of the mixed one")
    parser.add_argument("--rest", type=float, default=_REST, help="seconds afterwards until memory is looked at again")
    parser.add_argument("--code", type=Path, default=HERE, help="the checkout that is served")
    given = parser.parse_intermixed_args()
    heavy, plain, *_ = tokens(given.folder)
    print("Private memory of two workers in MB:\n")
    print(
        "| case | idle | peak | after 1 s | after a minute | answers | 503, 429 | others | MB sent "
        "| plain p95 ms, alone | beside it: p50, p95 ms | failed |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in given.cases or [*CASES, MIXED]:
        seconds = given.seconds or (_MIXED_SECONDS if name == MIXED else _SECONDS)
        soak(given.folder, given.code.resolve(), name, seconds, given.rest, heavy, plain)


if __name__ == "__main__":
    main()
