"""WebDAV beside the provider that WsgiDAV ships: `python -m bench.files.webdav [ROUNDS]`.

Listings of a folder of 10,000 files are made in one process by turns, in CPU seconds. A file of 10 MB is fetched from
one gunicorn worker, by WebDAV and from a view that only sends it, by turns; CPU seconds are those of the worker.
"""

import http.client
import os
import statistics
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from werkzeug.test import EnvironBuilder, run_wsgi_app
from wsgidav.fs_dav_provider import FilesystemProvider
from wsgidav.wsgidav_app import WsgiDAVApp

from bench.peers.serve import serve
from photosvc.app import create_app
from photosvc.auth import accounts, credentials
from photosvc.auth.scopes import parse_scope
from photosvc.models import schema
from photosvc.web.auditing import operating
from photosvc.web.current import current_service

FILES = 10_000
SIZE = 10_000_000
FETCHES = 100
NAMED = (
    b'<propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/><displayname/>'
    b"</prop></propfind>"
)
SERVED = """
from flask import send_file
from photosvc.app import create_app

app = create_app()
app.add_url_rule("/bare", "bare", lambda: send_file({path!r}, conditional=False, etag=False))
"""


def prepare(instance: Path) -> tuple[Callable[..., Any], str]:
    """The service of a folder of 10,000 files, as a WSGI function, and the header of an account."""
    folder = instance / "originals"
    (folder / "many").mkdir(parents=True)
    for number in range(FILES):
        (folder / "many" / f"IMG_{number:05}.jpg").write_bytes(b"x" * (number % 100))
    (folder / "large.jpg").write_bytes(os.urandom(SIZE))
    app = create_app(instance=instance, environ={})
    with app.app_context():
        service = current_service()
        schema.upgrade(service.engine())
        user = accounts.new_user(service.now(), name="alice", password="correct horse")
        with operating() as operation:
            accounts.add(operation, user)
            secret = credentials.issue(operation, user, name="dav", scope=parse_scope("webdav")).secret
    return app, "Basic " + b64encode(f"alice:{secret}".encode()).decode()


def stock(folder: Path) -> Callable[..., Any]:
    """WsgiDAV as it comes, without a log-in."""
    return WsgiDAVApp(
        {
            "provider_mapping": {"/originals": FilesystemProvider(str(folder))},
            "simple_dc": {"user_mapping": {"*": True}},
            "lock_storage": True,
            "property_manager": True,
            "logging": {"enable": False},
            "verbose": 0,
        }
    )


def listing(app: Callable[..., Any], authorization: str, body: bytes) -> float:
    """CPU seconds of one listing of the folder."""
    headers = {"Depth": "1", "Authorization": authorization}
    environ = EnvironBuilder("/originals/many/", method="PROPFIND", headers=headers, data=body).get_environ()
    began = time.process_time()
    chunks, status, _ = run_wsgi_app(app, environ)
    total = sum(text.count(b"response>") for text in chunks)
    spent = time.process_time() - began
    assert status.startswith("207"), status
    assert total >= 2 * (FILES + 1), total
    return spent


def compare_listings(ours: Callable[..., Any], peer: Callable[..., Any], authorization: str, rounds: int) -> None:
    for name, body in (("all properties", b""), ("five properties", NAMED)):
        pairs = [(listing(ours, authorization, body), listing(peer, authorization, body)) for _ in range(rounds)]
        mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"listing of {FILES} files, {name}: {mine:.3f} s CPU; WsgiDAV's provider {theirs:.3f} s")


def compare_fetches(instance: Path, authorization: str, rounds: int) -> None:
    (instance / "served.py").write_text(SERVED.format(path=str(instance / "originals/large.jpg")))
    command = [sys.executable, "-m", "gunicorn", "--bind", "{address}", "--no-control-socket"]
    command += ["--pythonpath", str(instance), "served:app"]
    with serve(command, instance / "log", "/bare", PHOTOSVC_INSTANCE=str(instance)) as server:
        children = Path(f"/proc/{server.process}/task/{server.process}/children").read_text().split()
        ratios = []
        for _ in range(rounds):
            bare, dav = (
                fetches(server.base, int(children[0]), path, authorization)
                for path in ("/bare", "/originals/large.jpg")
            )
            ratios.append((bare[0] / dav[0], bare[1] / dav[1], dav[0]))
    cpu, wall, spent = (statistics.median(column) for column in zip(*ratios, strict=True))
    print(f"GET of 10 MB: {spent * 1000:.1f} ms CPU; speed {cpu:.2f} of a bare view by CPU, {wall:.2f} by time")


def fetches(address: str, worker: int, path: str, authorization: str) -> tuple[float, float]:
    """CPU seconds of the worker and seconds for one fetch."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    ticks, began = cpu_ticks(worker), time.perf_counter()
    for _ in range(FETCHES):
        connection.request("GET", path, headers={"Authorization": authorization})
        answer = connection.getresponse()
        received = 0
        while part := answer.read(1 << 20):
            received += len(part)
        assert (answer.status, received) == (200, SIZE)
    spent = (cpu_ticks(worker) - ticks) / os.sysconf("SC_CLK_TCK")
    return max(spent, 0.01) / FETCHES, (time.perf_counter() - began) / FETCHES


def cpu_ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def main(rounds: int = 5) -> None:
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder)
        ours, authorization = prepare(instance)
        compare_listings(ours, stock(instance / "originals"), authorization, rounds)
        compare_fetches(instance, authorization, rounds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
