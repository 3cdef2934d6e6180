"""Measure searches: `python -m bench.search FOLDER …`, one library made by `bench.library` for each folder.

For each library: latency of queries inside the process (median and 95th percentile), and requests a second over HTTP
against a bare Flask app (`bench.peer`) that reads the same columns of the same rows, and the processor time of a
request in both. Rounds of the two are interleaved, so that whatever else the machine does hits both.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import orjson
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from bench.library import COMMON_WORD, FREQUENT_WORD, RARE_WORD, SELDOM_WORD, TOKEN_FILE
from photosvc.models.database import configure_engine
from photosvc.search.page import find
from photosvc.search.request import parse_request

ROUNDS, SECONDS, REPEATS = 5, 4, 40
COUNTS = (24, 100, 1000)

QUERIES: dict[str, dict[str, str]] = {
    "newest": {},
    "added": {"order": "added"},
    "oldest": {"order": "oldest"},
    "name": {"order": "name"},
    "newest, merged": {"merged": "true"},
    "newest, offset 5,000": {"offset": "5000"},
    "rare word": {"q": RARE_WORD},
    "word of 9 %": {"q": COMMON_WORD},
    "word of 3 %": {"q": SELDOM_WORD},
    "two words": {"q": f"{COMMON_WORD} {FREQUENT_WORD}"},
    "prefix": {"q": COMMON_WORD[:4]},
    "phrase": {"q": f'"{RARE_WORD} over the lake"'},
    "word of 9 %, by relevance": {"q": COMMON_WORD, "order": "relevance"},
    "color": {"color": "blue"},
    "country": {"country": "it"},
    "year": {"year": "2012"},
    "camera": {"camera": "5"},
    "type": {"type": "image"},
    "album": {"album": '"Album 5"'},
    "two colors": {"color": "lime|pink"},
    "camera by name": {"camera": "nikon"},
    "circle of 50 km": {"latlng": "48.1,11.6@50"},
}


def measure_queries(folder: Path) -> dict[str, tuple[float, float]]:
    """Milliseconds of each query inside the process: median and 95th percentile of different pages' first searches."""
    engine = create_engine(f"sqlite:///{folder / 'photosvc.db'}")
    configure_engine(engine)
    found = {}
    with Session(engine) as session:
        for name, parameters in QUERIES.items():
            times = []
            for number in range(REPEATS + 1):
                request = {"order": "newest", **parameters, "count": str(100 + number % 2)}
                started = time.perf_counter()
                find(session.connection(), parse_request(request), sees_private=False)
                times.append((time.perf_counter() - started) * 1000)
                session.rollback()
            found[name] = (median(times[1:]), quantiles(times[1:], n=20)[-1])
    engine.dispose()
    return found


def make_peer(folder: Path) -> Path:
    """The peer's database: the newest results as a table of one column for each field."""
    path = folder / "peer.db"
    path.unlink(missing_ok=True)
    source, target = sqlite3.connect(folder / "photosvc.db"), sqlite3.connect(path)
    shown = "SELECT file_id FROM photosvc_search_rows WHERE listed AND NOT private"
    rows = source.execute(f"SELECT result FROM photosvc_search_documents WHERE file_id IN ({shown})")
    records = (orjson.loads(text) for (text,) in rows)
    first = {name: value for name, value in next(records).items() if name not in {"Files", "DocumentID"}}
    names = [*first]
    target.execute(f"CREATE TABLE results ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    target.executemany(f"INSERT INTO results VALUES ({marks})", ([record.get(n) for n in names] for record in records))
    target.execute("CREATE INDEX newest ON results (TakenAt, ID)")
    target.commit()
    return path


@contextmanager
def served(application: str, port: int, **environ: str) -> Iterator[None]:
    """gunicorn with two plain workers."""
    command = [
        Path(sys.executable).with_name("gunicorn"),
        "-w2",
        "-b",
        f"127.0.0.1:{port}",
        "--log-level",
        "error",
        application,
    ]
    process = subprocess.Popen(command, env={**os.environ, **environ})
    try:
        _wait(port)
        yield
    finally:
        process.terminate()
        process.wait()


def _wait(port: int) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/status", timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return


def requests_a_second(port: int, count: int, token: str) -> float:
    """What wrk gets through, with four connections that stay open."""
    address = f"http://127.0.0.1:{port}/api/v1/photos?count={count}&order=newest"
    command = ["wrk", "-t1", "-c4", f"-d{SECONDS}s", "-H", f"X-Auth-Token: {token}", address]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in lines:
        raise SystemExit(lines)
    return float(next(line.split()[1] for line in lines.splitlines() if line.startswith("Requests/sec")))


def compare_processor_time(folder: Path, token: str, peer: Path) -> None:
    """Print processor milliseconds a request of both applications, without any network: other load does not count."""
    os.environ["PEER_DATABASE"] = str(peer)
    from bench.peer import app as bare
    from photosvc.app import create_app

    clients = create_app(instance=folder).test_client(), bare.test_client()
    print(f"\n{folder.name}\n\n| files a page | photosvc, ms | bare Flask, ms | ratio |\n|---|---|---|---|")
    for count in COUNTS:
        spent: list[list[float]] = [[], []]
        for _ in range(ROUNDS + 1):
            for times, client in zip(spent, clients, strict=True):
                started = time.process_time()
                for _ in range(REPEATS):
                    client.get(f"/api/v1/photos?count={count}&order=newest", headers={"X-Auth-Token": token})
                times.append((time.process_time() - started) * 1000 / REPEATS)
        ours, theirs = (times[1:] for times in spent)
        _print_ratio(count, ours, theirs, [other / one for one, other in zip(ours, theirs, strict=True)], digits=2)


def compare(folder: Path, token: str, peer: Path) -> None:
    """Print requests a second of both servers and their ratio: medians, and the lowest and highest ratio."""
    print("\n| files a page | photosvc, requests/s | bare Flask, requests/s | ratio |\n|---|---|---|---|")
    with (
        served("wsgi:app", 8091, PHOTOSVC_INSTANCE=str(folder)),
        served("bench.peer:app", 8092, PEER_DATABASE=str(peer)),
    ):
        for count in COUNTS:
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(requests_a_second(8091, count, token))
                theirs.append(requests_a_second(8092, count, token))
            _print_ratio(count, ours, theirs, [one / other for one, other in zip(ours, theirs, strict=True)], digits=0)


def _print_ratio(count: int, ours: list[float], theirs: list[float], ratios: list[float], *, digits: int) -> None:
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    figures = f"{median(ours):.{digits}f} | {median(theirs):.{digits}f} | {median(ratios):.2f} ({spread})"
    print(f"| {count} | {figures} |")


def main() -> None:
    folders = [Path(name) for name in sys.argv[1:]]
    tables = [measure_queries(folder) for folder in folders]
    print("| query, 100 files a page |" + "".join(f" {folder.name}: p50, p95 ms |" for folder in folders))
    print("|---|" + "---|" * len(folders))
    for name in QUERIES:
        print(f"| {name} |" + "".join(f" {table[name][0]:.2f}, {table[name][1]:.2f} |" for table in tables))
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed")
    for folder in folders:
        token, peer = (folder / TOKEN_FILE).read_text(), make_peer(folder)
        compare_processor_time(folder, token, peer)
        compare(folder, token, peer)


if __name__ == "__main__":
    main()
