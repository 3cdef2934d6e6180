"""The memory of two workers beside that of bare apps: `python -m bench.memory FOLDER`.

The library is made by `bench.libraries.library`; the bare apps are `bench/peers/bare_flask.py` and, with Flask and
SQLAlchemy, `bench/peers/bare_sqlalchemy.py`. Each server answers pages of 100 files before it is looked at; the machine
may be busy meanwhile. The last column is the ratio to the bare app with SQLAlchemy and `--preload`.
"""

import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from bench.libraries.library import TOKEN_FILE
from bench.peers.serve import Server, gunicorn
from bench.searches.search import make_peer

PAGES = 1000
OWN = ("--worker-class", "photosvc.serving.Worker")
TARGET = "photosvc.app:create_app()"
#: The line that the others are compared with.
MEASURE = "bare Flask and SQLAlchemy, `--preload`"


def measure(server: Server, path: str, token: str) -> tuple[float, float, float]:
    """Ask for pages, and return the memory of whole workers, with shared parts counted once, and with the master."""
    request = urllib.request.Request(server.base + path, headers={"X-Auth-Token": token})
    for _ in range(PAGES):
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    return server.memory(), server.memory("Pss_Anon"), server.whole_memory()


def main(folder: Path) -> None:
    token, log = (folder / TOKEN_FILE).read_text(), folder / "memory.log"
    page = "/api/v1/photos?count=100&order=newest"
    peer = {"PEER_DATABASE": str(make_peer(folder)), "PEER_LIBRARY": str(folder / "photosvc.db")}
    servers: tuple[tuple[str, str, str, str, int, Sequence[str], dict[str, str]], ...] = (
        ("bare Flask app", "bench.peers.bare_flask:app", "/hello", "/photos?count=100", 1, (), peer),
        (
            "bare Flask app, `--preload`",
            "bench.peers.bare_flask:app",
            "/hello",
            "/photos?count=100",
            1,
            ("--preload",),
            peer,
        ),
        (MEASURE, "bench.peers.bare_sqlalchemy:app", "/hello", "/photos?count=100", 1, ("--preload",), peer),
        ("photosvc, plain workers", TARGET, "/api/v1/status", page, 1, (), {}),
        ("photosvc, plain workers, `--preload`", TARGET, "/api/v1/status", page, 1, ("--preload",), {}),
        ("photosvc, own worker of 8 threads", TARGET, "/api/v1/status", page, 8, OWN, {}),
        ("photosvc, own worker, `--preload`", TARGET, "/api/v1/status", page, 8, (*OWN, "--preload"), {}),
    )
    print(
        "| two workers, MB | each worker counted whole | shared parts counted once | and the master process | ratio |"
    )
    print("|---|---|---|---|---|")
    lines: dict[str, tuple[float, float, float]] = {}
    for name, target, ready, path, threads, options, environ in servers:
        variables = {"PHOTOSVC_INSTANCE": str(folder), **environ}
        with gunicorn(target, log, ready, threads=threads, options=options, **variables) as server:
            lines[name] = measure(server, path, token)
    for name, values in lines.items():
        cells = " | ".join(f"{value:.0f}" for value in values)
        print(f"| {name} | {cells} | {values[-1] / lines[MEASURE][-1]:.2f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())  # Flask-SQLAlchemy would look for it in the instance folder
