"""Pictures over HTTP: `python -m bench.files.picture_serving PHOTOGRAPHS [ROUNDS]` (needs wrk; nginx for one row).

PHOTOGRAPHS as for `bench.files.thumbnails`. The service has two gunicorn workers; each peer has as many and serves a
file of the same bytes without looking at anything. Rounds alternate.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from io import FileIO
from pathlib import Path
from typing import Any

import orjson

from bench.files.thumbnails import photographs
from bench.peers.serve import Server, gunicorn, serve, with_spread

SECONDS = 3.0
NEW, CONNECTIONS = 200, 40
GIB = 1 << 30

_NGINX = """
user root; worker_processes 1; pid {folder}/nginx-PORT.pid; error_log {folder}/nginx-error.log; daemon off;
events {{ worker_connections 256; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream service {{ server {upstream}; keepalive 16; }}
    server {{
        listen 127.0.0.1:PORT;
        location / {{ proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }}
        location /photosvc-files/cache/ {{ internal; alias {cache}/; }}
    }}
}}
"""


def file_app(environ: dict[str, Any], start: Callable[..., object]) -> object:
    """The least a WSGI app can do to send a file."""
    file = FileIO(os.environ["PEER_FILE"])
    size = os.fstat(file.fileno()).st_size
    start("200 OK", [("Content-Type", "image/jpeg"), ("Content-Length", str(size))])
    return environ["wsgi.file_wrapper"](file, 65536)


def index(instance: Path, originals: Path) -> str:
    """Index the originals; the secret of an access token for photos."""
    environ = {**os.environ, "PHOTOSVC_INSTANCE": str(instance), "PHOTOSVC_ORIGINALS": str(originals)}
    environ["PHOTOSVC_MAX_FILE_SIZE"] = "2000"

    def svc(*arguments: str) -> str:
        command = [sys.executable, "-c", "from photosvc.main import main; main()", *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout

    svc("db", "upgrade")
    svc("index")
    return orjson.loads(svc("auth", "add", "--name", "bench", "--scope", "photos", "--json"))["secret"]


class Client:
    """Asks the service with a token, and knows its link tokens."""

    def __init__(self, server: Server, token: str) -> None:
        self.server, self.token = server, token
        answer = self.open("/api/v1/photos?count=1000&order=name")
        self.hashes = {record["FileName"]: record["Hash"] for record in orjson.loads(answer.read())}
        self.preview, self.download = answer.headers["X-Preview-Token"], answer.headers["X-Download-Token"]

    def open(self, path: str) -> HTTPResponse:
        request = urllib.request.Request(self.server.base + path, headers={"X-Auth-Token": self.token})
        return urllib.request.urlopen(request, timeout=120)

    def thumbnail(self, content_hash: str, size: str) -> str:
        return f"/api/v1/t/{content_hash}/{self.preview}/{size}"


@contextmanager
def nginx(folder: Path, upstream: str, cache: Path) -> Iterator[Server]:
    """nginx in front of a gunicorn server."""
    template = folder / "nginx.template"
    template.write_text(_NGINX.format(folder=folder, upstream=upstream.removeprefix("http://"), cache=cache))
    # The port is known only when the server starts: a shell puts it in the place of PORT.
    script = f"sed s/PORT/$0/g {template} > {folder}/nginx-$0.conf; exec nginx -c {folder}/nginx-$0.conf"
    with serve(["sh", "-c", script, "{port}"], folder / "nginx.log", "/") as server:
        yield server


def ratios(rounds: int, ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[str, float]:
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return with_spread([one / other for one, other in pairs]), statistics.median(one for one, _ in pairs)


def p95(client: Client, seconds: float, stop: threading.Event | None = None) -> float:
    """The 95th percentile of a search page, in ms."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end and not (stop and stop.is_set()):
        began = time.perf_counter()
        client.open("/api/v1/photos?count=100").read()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.quantiles(times, n=20)[18]


def crowd(client: Client) -> None:
    """200 new thumbnails asked for by 40 connections, while others search."""
    names = sorted(name for name in client.hashes if name.startswith("copy"))
    quiet, stop, found = p95(client, 3), threading.Event(), []
    searching = threading.Thread(target=lambda: found.append(p95(client, 300, stop)))
    memory, statuses = client.server.memory(), []

    def ask(name: str) -> None:
        for _ in range(60):
            try:
                with client.open(client.thumbnail(client.hashes[name], "tile_500")) as answer:
                    answer.read()
                    statuses.append(answer.status)
                    return
            except urllib.error.HTTPError as error:
                error.close()  # clients do not keep a connection open that the server wants to close
                time.sleep(float(error.headers.get("Retry-After", "1")))
        statuses.append(0)

    searching.start()
    began = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as callers:
        list(callers.map(ask, names))
    took = time.perf_counter() - began
    stop.set()
    searching.join()
    print(f"\n{len(names)} new thumbnails, {CONNECTIONS} connections: {statuses.count(200)} answered in {took:.1f} s;")
    print(f"search p95 {quiet:.1f} ms alone, {found[0]:.1f} ms meanwhile, ratio {found[0] / quiet:.2f};")
    print(f"memory of the workers {memory:.0f} MB before, {client.server.memory():.0f} MB after")


def large_file(client: Client) -> None:
    """An original of 1 GiB."""
    before = most = client.server.memory()
    read = 0
    with client.open(f"/api/v1/dl/{client.hashes['large.jpg']}") as answer:
        while piece := answer.read(1 << 22):
            read += len(piece)
            most = max(most, client.server.memory())
    print(f"\nOriginal of {read / GIB:.2f} GiB: {most - before:.1f} MB more memory")


def main() -> None:
    source, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        originals, instance = folder / "originals", folder / "instance"
        originals.mkdir()
        known = photographs(source, originals)
        for number in range(NEW):
            data = (originals / known[number % len(known)].name).read_bytes()
            (originals / f"copy{number:03}.jpg").write_bytes(data + str(number).encode())
        large = originals / "large.jpg"
        shutil.copy(originals / known[0].name, large)
        os.truncate(large, GIB)
        token = index(instance, originals)
        settings = {"PHOTOSVC_INSTANCE": str(instance), "PHOTOSVC_ORIGINALS": str(originals)}
        service = stack.enter_context(gunicorn("wsgi:app", folder / "service.log", **settings))
        client = Client(service, token)
        path = client.thumbnail(known[0].hash, "tile_500")
        with client.open(path) as answer:
            (folder / "peer.jpg").write_bytes(answer.read())
        peer = stack.enter_context(
            gunicorn(
                "bench.files.picture_serving:file_app", folder / "peer.log", "/", PEER_FILE=str(folder / "peer.jpg")
            )
        )
        print("| a cached thumbnail | photosvc, requests/s | ratio |\n|---|---|---|")
        spread, rate = ratios(rounds, lambda: service.rate(path, SECONDS), lambda: peer.rate("/", SECONDS))
        print(f"| bare WSGI with a file wrapper | {rate:.0f} | {spread} |", flush=True)
        if shutil.which("nginx"):
            sending = stack.enter_context(
                gunicorn("wsgi:app", folder / "x.log", **settings, PHOTOSVC_SENDFILE_HEADER="X-Accel-Redirect")
            )
            front = stack.enter_context(nginx(folder, sending.base, instance / "cache"))
            plain = stack.enter_context(nginx(folder, service.base, instance / "cache"))
            with urllib.request.urlopen(front.base + path) as answer:
                known_tag = {"If-None-Match": answer.headers["ETag"]}
            spread, rate = ratios(
                rounds, lambda: front.rate(path, SECONDS), lambda: plain.rate(path, SECONDS, known_tag)
            )
            print(f"| behind nginx with X-Accel, the same app answering 304 | {rate:.0f} | {spread} |", flush=True)
        threaded = stack.enter_context(gunicorn("wsgi:app", folder / "threads.log", threads=8, **settings))
        crowd(Client(threaded, token))
        large_file(client)


if __name__ == "__main__":
    main()
