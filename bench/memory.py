"""The memory of two workers beside that of a bare Flask app: `python -m bench.memory FOLDER`.

The library is made by `bench.library`. Each server answers pages of 100 files before it is looked at; the machine may
be busy meanwhile. The last column is the ratio to the bare app with `--preload`.
"""

import sys
import urllib.request
from pathlib import Path

from bench.library import TOKEN_FILE
from bench.pages import make_peer
from bench.servers import Server, gunicorn

_PAGES = 1000


def measure(server: Server, path: str, token: str) -> tuple[float, float, float]:
    """Ask for pages, and return the memory of whole workers, with shared parts counted once, and with the master."""
    request = urllib.request.Request(server.base + path, headers={"X-Auth-Token": token})
    for _ in range(_PAGES):
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    return server.memory(), server.memory("Pss_Anon"), server.whole_memory()


def main(folder: Path) -> None:
    token, log = (folder / TOKEN_FILE).read_text(), folder / "memory.log"
    environ = {
        "PHOTOSVC_INSTANCE": str(folder),
        "PEER_DATABASE": str(make_peer(folder)),
        "PEER_LIBRARY": str(folder / "photosvc.db"),
    }
    page, preload = "/api/v1/photos?count=100&order=newest", ("--preload",)
    servers = (
        ("bare Flask app, `--preload`", "bench.bare_flask:app", "/hello", "/photos?count=100", 1),
        ("photosvc, `--preload`", "photosvc.app:create_app()", "/api/v1/status", page, 1),
        ("photosvc, 8 threads, `--preload`", "photosvc.app:create_app()", "/api/v1/status", page, 8),
    )
    print("| two workers, MB | each worker counted whole | shared parts counted once | and the master | ratio |")
    print("|---|---|---|---|---|")
    least = 0.0
    for name, target, ready, path, threads in servers:
        with gunicorn(target, log, ready, threads=threads, options=preload, **environ) as server:
            values = measure(server, path, token)
        least = least or values[-1]
        print(f"| {name} | {' | '.join(f'{value:.0f}' for value in values)} | {values[-1] / least:.2f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())  # Flask-SQLAlchemy would look for it in the instance folder
