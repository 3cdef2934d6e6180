"""Answers during an index run: `python -m bench.busy FOLDER [--new N] [--alone SECONDS]`.

FOLDER holds a library made by `bench.library`; a copy of it is served by four gunicorn workers. Clients in
turn search, log in and get tokens, first with nothing else going on, then while `svc index` adds new small pictures.
"""

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.index import draw
from bench.library import TOKEN_FILE
from bench.servers import at_once, percentile, serve
from bench.tokens import basic
from photosvc.app import create_app
from photosvc.auth import accounts
from photosvc.auth.clients import register
from photosvc.auth.scopes import parse_scope
from photosvc.web.auditing import operating
from photosvc.web.service import current_service

WORKERS, _CLIENTS, _PAUSE = 4, 24, 0.1
_PASSWORD = "correct horse"
_QUERIES = ("", "q=summer", "q=country:de", "order=oldest", "q=zeppelin", "q=year:2015", "merged=true")


@dataclass(slots=True)
class Load:
    """Clients that ask until they are stopped; milliseconds of every answer by the name of the request."""

    port: int
    pause: float
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self, clients: Sequence[tuple[str, Callable[[int], "Request"]]], wait: Callable[[], object]) -> None:
        """Ask by one thread for each client until `wait` returns."""
        with at_once(self._ask, clients):
            try:
                wait()
            finally:
                self.ended.set()

    def _ask(self, name: str, make: Callable[[int], "Request"]) -> None:
        number = 0
        while not self.ended.wait(self.pause):
            number += 1
            request = make(number)
            started = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request(request.method, request.path, request.body, dict(request.headers))
                answer = connection.getresponse()
                answer.read()
                if answer.status != request.status:
                    self.errors.append(f"{name}: {answer.status}")
            except OSError as error:
                self.errors.append(f"{name}: {error}")
            finally:
                connection.close()
            self.times[name].append((time.monotonic() - started) * 1000)


@dataclass(frozen=True, slots=True)
class Request:
    """One request and the status that it must be answered with."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    body: str | None = None
    status: int = 200


def requests(folder: Path) -> dict[str, Callable[[int], Request]]:
    """The kinds of requests, and what they need in the library."""
    app = create_app(instance=folder, environ={})
    with app.app_context():
        service = current_service()
        user = accounts.new_user(service.now(), name="alice", password=_PASSWORD)
        with operating() as operation:
            accounts.add(operation, user)
            made = register(operation, name="bench", scope=parse_scope("photos metrics"))
            pair = basic(f"{made.client.uid}:{made.secret}")
    token = {"X-Auth-Token": (folder / TOKEN_FILE).read_text().strip()}
    form = {"Authorization": pair, "Content-Type": "application/x-www-form-urlencoded"}
    login = json.dumps({"username": "alice", "password": _PASSWORD})
    return {
        "search": lambda n: Request(f"/api/v1/photos?count=100&{_QUERIES[n % len(_QUERIES)]}", token),
        "log-in": lambda _: Request("/api/v1/session", {"Content-Type": "application/json"}, "POST", login),
        "token": lambda _: Request("/api/v1/oauth/token", form, "POST", "grant_type=client_credentials&scope=photos"),
    }


def prepare(folder: Path) -> None:
    """Bring the schema up to date, and index one picture: the first run also stacks the library and fills in places."""
    svc(folder, "db", "upgrade")
    first = folder / "originals" / "first"
    if not first.is_dir():
        draw(first, 1, (160, 120))
    svc(folder, "index", "first")


def svc(folder: Path, *arguments: str) -> None:
    """A command on the library in this folder; its output is dropped."""
    environ = {"PHOTOSVC_INSTANCE": str(folder), "PHOTOSVC_ORIGINALS": str(folder / "originals")}
    command = [str(Path(sys.executable).with_name("svc")), *arguments]
    subprocess.run(command, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, check=True)


def report(what: str, times: Mapping[str, Sequence[float]], errors: Sequence[str]) -> None:
    """Rows of the table."""
    for name, found in sorted(times.items()):
        half, most = (percentile(found, share) for share in (0.5, 0.99))
        failed = sum(error.startswith(name) for error in errors)
        print(f"| {name}, {what} | {len(found)} | {half:.0f} | {most:.0f} | {max(found):.0f} | {failed} |", flush=True)
    for error in sorted(set(errors))[:5]:
        print(error, file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--new", type=int, default=3000)
    parser.add_argument("--alone", type=float, default=15, help="Seconds without an index run.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="photosvc-bench-") as temporary:
        prepare(given.folder)
        folder = Path(temporary, "library")
        shutil.copytree(given.folder, folder)
        draw(folder / "originals" / "new", given.new, (160, 120))
        kinds = requests(folder)
        # Of eight clients six search, one logs in and one gets tokens.
        names = ["log-in", "token", *["search"] * 6]
        clients = [(name, kinds[name]) for name in (names[number % 8] for number in range(_CLIENTS))]
        environ = {"PHOTOSVC_INSTANCE": str(folder), "PHOTOSVC_ORIGINALS": str(folder / "originals")}
        command = [sys.executable, "-m", "gunicorn", "--workers", str(WORKERS), "--no-control-socket"]
        command += ["--bind", "{address}", "photosvc.app:create_app()"]
        with serve(command, Path(temporary, "log"), "/api/v1/status", **environ) as server:
            print("| request | number | p50 ms | p99 ms | most ms | failed |\n|---|---|---|---|---|---|")
            alone = Load(server.port, _PAUSE)
            alone.run(clients, lambda: time.sleep(given.alone))
            report("alone", alone.times, alone.errors)
            busy, started = Load(server.port, _PAUSE), time.monotonic()
            busy.run(clients, lambda: svc(folder, "index", "new", "--workers", "2"))
            seconds = time.monotonic() - started
            report("index run", busy.times, busy.errors)
            print(f"\n{given.new} new files took {seconds:.0f} s.")


if __name__ == "__main__":
    main()
