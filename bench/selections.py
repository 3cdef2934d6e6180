"""Pages beside selections for archives and a batch edit.

Usage: `python -m bench.selections FOLDER [--nginx] [--clients N] [--patient]`.

FOLDER holds a library made by `bench.libraries.library`; a copy of it is changed. Two gunicorn workers of sixteen
threads, as `svc deploy show` has them, serve it, with `--nginx` behind nginx. One account asks for a
search and for a viewer's page in turn: alone, then while 39 connections of a viewer send `POST /zip` and an
administrator edits 10,000 photos again and again. The clients that make the load are a process of their
own; with `--patient` they wait for as long as `Retry-After` says.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

from sqlalchemy import select

from bench.loads import at_once, new_password, percentile
from bench.peers.serve import serve
from bench.soak import HERE, served
from photosvc.app import create_app
from photosvc.cli.deploy import Deployment, files_of
from photosvc.models import Photo, schema
from photosvc.web.current import current_service

_SELECTED, _EDITED = 100, 10_000
READS = {"search": "/api/v1/photos?count=100&q=summer", "page": "/api/v1/photos/view?count=100"}
_PAUSE = 0.02


def prepare(folder: Path) -> tuple[dict[str, str], list[str]]:
    """App passwords of an account for each role, and the UIDs of photos."""
    app = create_app(instance=folder, environ={})
    with app.app_context():
        service = current_service()
        schema.upgrade(service.engine())
        with service.reading() as connection:
            uids = list(connection.scalars(select(Photo.uid).order_by(Photo.id).limit(_EDITED)))
        found = {role: new_password(app, role) for role in ("admin", "user", "viewer")}
        service.engine().dispose()
    return found, uids


@contextmanager
def nginx(folder: Path, upstream: int, instance: Path) -> Iterator[int]:
    """nginx with the shipped configuration in front of a server; gives its port."""
    values = Deployment(originals=instance / "originals", cache=instance / "cache", bind=f"127.0.0.1:{upstream}")
    text = files_of("nginx", values)["nginx.conf"].replace("listen [::]:80;", "").replace("listen 80;", "listen PORT;")
    text = text.replace("/var/log/nginx/photosvc.log", f"{folder}/access.log")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    template = folder / "template"
    template.write_text(
        f"{'user root;' if os.getuid() == 0 else ''} daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;"
        f"worker_processes 1; events {{ worker_connections 512; }} http {{ types {{ }} {paths} {text} }}"
    )
    script = f"sed s/PORT/$0/ {template} > {folder}/nginx.conf; exec nginx -c {folder}/nginx.conf"
    with serve(["sh", "-c", script, "{port}"], folder / "nginx.log", "/api/v1/status") as server:
        yield server.port


def send(port: int, method: str, path: str, token: str, body: bytes, ended: Event, counts: Counter[int]) -> None:
    """Send a request again and again until the end, over a connection that is sometimes a new one."""
    headers = {"X-Auth-Token": token, "Content-Type": "application/json"}
    is_patient = "--patient" in sys.argv
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    number = 0
    while not ended.is_set():
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        counts[answer.status] += 1
        ended.wait(int(answer.headers.get("Retry-After", "0")) if is_patient else 0)
        number += 1
        if number % 20 == 0:
            connection.close()
    connection.close()


def load(port: int, clients: int, tokens: dict[str, str], uids: list[str], ended: Event, told: Connection) -> None:
    """Select and edit until the end; tells the answers by status."""
    zips, edits = Counter[int](), Counter[int]()
    selected = json.dumps({"photos": uids[:_SELECTED]}).encode()
    edit = json.dumps({"photos": uids, "values": {"Details": {"Artist": f"Ada {time.time()}"}}}).encode()
    jobs = [("POST", "/api/v1/zip", tokens["viewer"], selected, ended, zips)] * clients
    jobs.append(("POST", "/api/v1/batch/photos/edit", tokens["admin"], edit, ended, edits))
    with at_once(send, [(port, *job) for job in jobs]):
        pass
    told.send((dict(zips), dict(edits)))


def read(port: int, token: str, seconds: float) -> dict[str, list[float]]:
    """Milliseconds of each read, in turn."""
    found: dict[str, list[float]] = {name: [] for name in READS}
    until, number = time.monotonic() + seconds, 0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < until:
        for name, path in READS.items():
            time.sleep(_PAUSE)
            began = time.monotonic()
            connection.request("GET", path, headers={"X-Auth-Token": token})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                sys.exit(f"{path}: {answer.status}")
            found[name].append((time.monotonic() - began) * 1000)
        number += 1
        if number % 10 == 0:  # the next connection may be accepted by the other worker
            connection.close()
    connection.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nginx", action="store_true")
    parser.add_argument("--patient", action="store_true")
    parser.add_argument("--clients", type=int, default=39)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=given.folder.resolve().parent)))
        instance = temporary / "library"
        shutil.copytree(given.folder, instance)
        tokens, uids = prepare(instance)
        environ = {"PHOTOSVC_PROXIES": "1" if given.nginx else "0"}
        port = stack.enter_context(served(instance, HERE, temporary / "log", **environ)).port
        if given.nginx:
            port = stack.enter_context(nginx(temporary, port, instance))
        read(port, tokens["user"], 3)  # the first requests of a process load modules
        quiet = read(port, tokens["user"], given.seconds)
        ended, (here, there) = multiprocessing.Event(), multiprocessing.Pipe()
        process = multiprocessing.Process(target=load, args=(port, given.clients, tokens, uids, ended, there))
        process.start()
        time.sleep(1)
        beside = read(port, tokens["user"], given.seconds)
        ended.set()
        zips, edits = here.recv()
        process.join()
        print("| read | number | p50 ms alone | p95 | number | p50 ms beside | p95 | most | ratio of p95 |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name in READS:
            alone, other = quiet[name], beside[name]
            usual, slow = percentile(alone, 0.95), percentile(other, 0.95)
            print(
                f"| {name} | {len(alone)} | {percentile(alone, 0.5):.1f} | {usual:.1f} | {len(other)} "
                f"| {percentile(other, 0.5):.1f} | {slow:.1f} | {max(other):.0f} | {slow / usual:.1f} |"
            )
        print(f"selections by status: {zips}; edits of {_EDITED:,} photos: {edits}")


if __name__ == "__main__":
    main()
