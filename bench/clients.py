"""Cost of what clients ask besides searches: `python -m bench.clients FOLDER`.

FOLDER holds a library made by `bench.libraries.library`.
Processor time of whole requests in this process, SQLite included, and how much memory sending the answer takes.
"""

import sys
import time
from pathlib import Path
from statistics import median

from flask.testing import FlaskClient

from bench.libraries.library import TOKEN_FILE
from bench.loads import private_memory
from photosvc.app import create_app
from photosvc.models.search import record_change
from photosvc.web.current import current_service

_REPEATS = 15
#: Each with the number of its repeats.
CALLS = {
    "/config": _REPEATS,
    "/geo?count=1000": _REPEATS,
    "/geo?count=10000": 5,
    "/geo": 3,
    "/photos/view?count=1000": _REPEATS,
}


def call(client: FlaskClient, path: str, headers: dict[str, str]) -> tuple[float, int, float]:
    """Read an answer piece by piece, as a server does; gives milliseconds, bytes and the most memory in MB."""
    started, size, memory = time.process_time(), 0, 0.0
    with client.get(f"/api/v1{path}", headers=headers, buffered=False) as answer:
        if answer.status_code != 200:
            sys.exit(answer.get_data(as_text=True))
        for piece in answer.iter_encoded():
            size += len(piece)
            memory = max(memory, private_memory())
    return (time.process_time() - started) * 1000, size, memory


def main(folder: Path) -> None:
    app = create_app(instance=folder)
    client, headers = app.test_client(), {"X-Auth-Token": (folder / TOKEN_FILE).read_text().strip()}
    for path in CALLS:
        call(client, f"{path}{'&' if '?' in path else '?'}count=10", headers)
    print("| call | ms, median | largest | bytes | further memory, MB |\n|---|---|---|---|---|")
    for path, repeats in CALLS.items():
        before = private_memory()
        report(path, before, [call(client, path, headers) for _ in range(repeats)])
    before, changed = private_memory(), []
    for _ in range(5):
        with app.app_context(), current_service().writing() as session:
            record_change(session)
        changed.append(call(client, "/config", headers))
    report("/config, library changed", before, changed)


def report(name: str, before: float, found: list[tuple[float, int, float]]) -> None:
    spent, sizes, memory = zip(*found, strict=True)
    print(f"| {name} | {median(spent):.1f} | {max(spent):.1f} | {sizes[0]} | {max(memory) - before:.0f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
