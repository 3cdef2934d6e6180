"""Search pages per second over HTTP, compared with peers: `python -m bench.pages FOLDER`.

The library is made by `bench.library`. The service and the peers run behind gunicorn with two sync workers
each; Datasette, whose program the variable DATASETTE names, runs its own server with one. They are measured
alternately, so that other load on the machine affects all of them, and ratios are computed for each round.
"""

import os
import shutil
import sqlite3
import sys
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import orjson

from bench.library import TOKEN_FILE
from bench.servers import Server, gunicorn, serve, with_spread
from photosvc.search.reading.pages import join_results

ROUNDS, SECONDS = 5, 4
COUNTS = (10, 100, 1000)

Rate = Callable[[], float]


def make_peer(folder: Path) -> Path:
    """Write the database of the peer: one table of results with one column for each field."""
    path = folder / "peer.db"
    path.unlink(missing_ok=True)
    source, target = sqlite3.connect(folder / "photosvc.db"), sqlite3.connect(path)
    shown = "SELECT file_id FROM photosvc_search_rows WHERE listed AND NOT private"
    rows = source.execute(f"SELECT result_head FROM photosvc_search_documents WHERE file_id IN ({shown})")
    records = (orjson.loads(join_results([head])) for (head,) in rows)
    first = {name: value for name, value in next(records).items() if name not in {"Files", "DocumentID"}}
    names = [*first]
    target.execute(f"CREATE TABLE results ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    target.executemany(f"INSERT INTO results VALUES ({marks})", ([record.get(n) for n in names] for record in records))
    target.execute("CREATE INDEX newest ON results (TakenAt, ID)")
    target.commit()
    return path


def compare(name: str, ours: Rate, theirs: Rate) -> None:
    """Print requests per second of both, and the ratio of ours to theirs."""
    pairs = [(ours(), theirs()) for _ in range(ROUNDS)]
    ratios = with_spread([one / other for one, other in pairs])
    print(f"| {name} | {median(one for one, _ in pairs):.0f} | {median(other for _, other in pairs):.0f} | {ratios} |")


def etag(server: Server, path: str, headers: dict[str, str]) -> str:
    """The ETag of a page."""
    with urllib.request.urlopen(urllib.request.Request(server.base + path, headers=headers), timeout=30) as answer:
        return answer.headers["ETag"]


def main(folder: Path) -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed")
    token, database = {"X-Auth-Token": (folder / TOKEN_FILE).read_text()}, make_peer(folder)
    environ = {"PEER_DATABASE": str(database), "PEER_LIBRARY": str(folder / "photosvc.db")}
    with ExitStack() as stack:
        service = stack.enter_context(gunicorn("wsgi:app", folder / "service.log", PHOTOSVC_INSTANCE=str(folder)))
        peer = stack.enter_context(gunicorn("bench.bare_flask:app", folder / "peer.log", "/hello", **environ))

        def page(count: int, **headers: str) -> Rate:
            path = f"/api/v1/photos?count={count}&order=newest"
            return lambda: service.rate(path, SECONDS, token | headers)

        def other(path: str, server: Server = peer) -> Rate:
            return lambda: server.rate(path, SECONDS)

        print("| files a page | photosvc, requests/s | the other, requests/s | ratio |\n|---|---|---|---|")
        for count in COUNTS:
            compare(f"{count}, bare Flask app", page(count), other(f"/photos?count={count}"))
        for count in COUNTS:
            compare(f"{count}, the same bytes from memory", page(count), other(f"/memory?count={count}"))
        tag = etag(service, "/api/v1/photos?count=100&order=newest", token)
        compare("304, Flask saying hello", page(100, **{"If-None-Match": tag}), other("/hello"))
        if datasette := os.environ.get("DATASETTE"):
            command = [datasette, "serve", str(database), "--port", "{port}", "--setting", "max_returned_rows", "1000"]
            server = stack.enter_context(serve(command, folder / "datasette.log", "/-/versions.json"))
            path = "/peer/results.json?_size=100&_sort_desc=TakenAt&_shape=array&_nocount=1&_nofacet=1"
            compare("100, Datasette", page(100), other(path, server))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
