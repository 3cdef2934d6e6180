"""Plain pages beside costly searches: `python -m bench.searches.costly FOLDER [--seconds S]`.

FOLDER holds a library made by `bench.libraries.library`, whose rows may be in PHOTOSVC_DATABASE_URI; it is served by
two gunicorn workers of eight threads. One client asks for plain pages: alone, then while eight others send the
costliest searches without a pause, first all of one account (which is then also the one that asks for the plain pages),
then of four accounts. The ratio of the 95th percentiles must stay below 3.
"""

import argparse
import http.client
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from bench.loads import at_once, new_password, percentile
from bench.peers.serve import serve
from photosvc.app import create_app

COSTLY = (
    "/photos?total=true&q=" + quote("description:*a*e*i*o*u*|*e*a*o*i*x*|*r*s*t*u*q*"),
    "/photos?total=true&q=" + quote("original:*1*2*3*x|*a*b*c*d*|*i*m*g*q*"),
    "/photos/facets?by=year,month,country,city,camera,lens,type,color,album&q=" + quote("-summer"),
    "/photos?count=1000&order=size&q=" + quote("iso:100-6400 mp:1-900 description:*q*x*z*"),
    "/photos/clusters?zoom=9&q=" + quote("-family"),
    "/photos/timeline?q=" + quote("description:!*q*x*z*"),
    "/photos?total=true&q=" + quote("|".join(f"city:*{a}*{b}*" for a in "abcdefgh" for b in "xyzq")),
    "/photos?offset=150000&order=title&q=" + quote("description:!*zzz*"),
)
PLAIN = "/photos?count=100"
_PAUSE = 0.02


@dataclass(slots=True)
class Times:
    """Milliseconds of each answer, and how many had which status."""

    spent: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


def ask(port: int, paths: tuple[str, ...], token: str, ended: threading.Event, pause: float, times: Times) -> None:
    """Ask for the paths in turn over kept connections until the end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    number = 0
    while not ended.wait(pause):
        began = time.monotonic()
        connection.request("GET", "/api/v1" + paths[number % len(paths)], headers={"X-Auth-Token": token})
        answer = connection.getresponse()
        answer.read()
        times.spent.append((time.monotonic() - began) * 1000)
        times.statuses[answer.status] += 1
        number += 1
        if number % 20 == 0:  # the next connection may be accepted by the other worker
            connection.close()
    connection.close()


def measure(port: int, plain: str, costly: list[str], seconds: float) -> tuple[Times, Times]:
    """The times of plain pages, and of the costly searches by clients with these tokens at the same time."""
    ended, found, others = threading.Event(), Times(), Times()
    jobs = [(port, COSTLY[n:] + COSTLY[:n], token, ended, 0, others) for n, token in enumerate(costly)]
    with at_once(ask, [(port, (PLAIN,), plain, ended, _PAUSE, found), *jobs]):
        time.sleep(seconds)
        ended.set()
    return found, others


def tokens(folder: Path) -> list[str]:
    """App passwords of five fresh accounts."""
    app = create_app(instance=folder)
    return [new_password(app) for _ in range(5)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    first, *others = tokens(given.folder)
    command = [sys.executable, "-m", "gunicorn", "--workers", "2", "--threads", "8", "--no-control-socket"]
    command += ["--worker-class", "photosvc.serving.Worker", "--bind", "{address}", "photosvc.app:create_app()"]
    with tempfile.TemporaryDirectory() as temporary:
        environ = {"PHOTOSVC_INSTANCE": str(given.folder)}
        with serve(command, Path(temporary, "log"), "/api/v1/status", **environ) as server:
            measure(server.port, first, [], 1)  # the first requests of a process load modules
            alone, _ = measure(server.port, first, [], given.seconds / 2)
            usual = percentile(alone.spent, 0.95)
            print("| plain page | number | p50 ms | p95 ms | most ms | ratio of p95 | costly searches by status |")
            print("|---|---|---|---|---|---|---|")
            for name, plain, costly in (
                ("alone", first, None),
                ("of the account that sends eight costly searches", first, [first] * 8),
                ("of another account", others[-1], [first] * 8),
                ("beside four accounts that send two each", first, others * 2),
            ):
                found, beside = measure(server.port, plain, costly, given.seconds) if costly else (alone, Times())
                half, most = (percentile(found.spent, share) for share in (0.5, 0.95))
                answered = json.dumps(beside.statuses)
                print(
                    f"| {name} | {len(found.spent)} | {half:.1f} | {most:.1f} | {max(found.spent):.0f} "
                    f"| {most / usual:.2f} | {answered} |",
                    flush=True,
                )
                if set(found.statuses) != {200}:
                    print(f"plain pages by status: {found.statuses}", file=sys.stderr)


if __name__ == "__main__":
    main()
