"""Different pages over HTTP beside a bare Flask app, and a mix of clients: `python -m bench.distinct FOLDER`.

The library is made by `bench.library`, the bare app is `bench/bare_flask.py`. Each server has two sync workers of
gunicorn; they are measured in turn, and ratios are computed for each round. The bare app answers the same offset, the
same row that a page follows, or the same last day. No query is sent twice; offsets and cursors begin again.

Then a mix of clients: 15 % of the requests are for the newest 100 files, as a client that opens asks; 15 % repeat one
of the 20 requests before, as one that goes back does; and 70 % are for other pages of 10, 100 or 1,000 files (20, 60
and 20 %), by cursor (60 %), query (30 %) or offset.
"""

import argparse
import random
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import orjson

from bench.library import TOKEN_FILE
from bench.pages import COUNTS, make_peer
from bench.servers import Server, gunicorn, with_spread

#: Different places by offset and by cursor, the files between two cursors, and the days of different queries.
PAGES, STEP, DAYS = 1000, 150, 8500
_LAST = date(2025, 8, 1)
_OPENED, _WENT_BACK, _RECENT = 0.15, 0.15, 20


@dataclass(frozen=True, slots=True)
class Place:
    """The beginning of a page: the parameters to the service and to the bare app."""

    ours: dict[str, str]
    theirs: dict[str, str]

    def paths(self, count: int) -> tuple[str, str]:
        """The paths of this page of `count` files."""
        ours = urlencode({"count": count, "order": "newest", **self.ours})
        return f"/api/v1/photos?{ours}", f"/photos?{urlencode({'count': count, **self.theirs})}"


def offsets() -> list[Place]:
    given = [{"offset": str(number)} for number in range(1, PAGES + 1)]
    return [Place(one, one) for one in given]


def queries() -> list[Place]:
    """Pages of what was taken until a day, in no order of the days."""
    days = [_LAST - timedelta(days=number) for number in random.Random(2).sample(range(DAYS), DAYS)]
    return [Place({"q": f"before:{day}"}, {"taken": f"{day}T24"}) for day in days]


def cursors(server: Server, token: dict[str, str]) -> Iterator[Place]:
    """Pages that follow a row, found by walking through the library."""
    place = ""
    for _ in range(PAGES):
        path = f"{server.base}/api/v1/photos?count={STEP}&order=newest{place}"
        with urllib.request.urlopen(urllib.request.Request(path, headers=token), timeout=30) as answer:
            last, cursor = orjson.loads(answer.read())[-1], answer.headers["X-Cursor"]
        place = f"&{urlencode({'cursor': cursor})}"
        yield Place({"cursor": cursor}, {"taken": last["TakenAt"], "id": last["ID"]})


def mixed(by_offset: list[Place], by_cursor: list[Place], by_query: list[Place]) -> list[tuple[str, str]]:
    """The paths of the mix of clients, the same in each run."""
    chance = random.Random(1)
    opened = Place({}, {}).paths(100)
    paths: list[tuple[str, str]] = []
    unused = iter(by_query)
    while len(paths) < DAYS:
        drawn = chance.random()
        if drawn < _OPENED or not paths:
            paths.append(opened)
        elif drawn < _OPENED + _WENT_BACK:
            paths.append(chance.choice(paths[-_RECENT:]))
        else:
            (kind,) = chance.choices((by_offset, by_cursor, by_query), (10, 60, 30))
            (count,) = chance.choices(COUNTS, (20, 60, 20))
            place = next(unused) if kind is by_query else chance.choice(kind)
            paths.append(place.paths(count))
    return paths


def script(file: Path, paths: list[str]) -> Path:
    """Write a script of wrk that requests these paths in turn."""
    listed = ",\n".join(f'"{path}"' for path in paths)
    file.write_text(
        f"local paths, number = {{\n{listed}\n}}, 0\n"
        "function request() number = number % #paths + 1; return wrk.format('GET', paths[number]) end\n"
    )
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each server in a round")
    given = parser.parse_args()
    folder, token = given.folder, {"X-Auth-Token": (given.folder / TOKEN_FILE).read_text().strip()}
    environ = {"PEER_DATABASE": str(make_peer(folder)), "PEER_LIBRARY": str(folder / "photosvc.db")}
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        own = stack.enter_context(gunicorn("wsgi:app", temporary / "own.log", PHOTOSVC_INSTANCE=str(folder)))
        bare = stack.enter_context(gunicorn("bench.bare_flask:app", temporary / "bare.log", "/hello", **environ))

        def row(name: str, paths: list[tuple[str, str]]) -> None:
            """Print the requests per second of the service and of the bare app, and their ratio."""
            pairs, apart = [], len(paths) // given.rounds
            for number in range(given.rounds):  # each round begins elsewhere
                start = number * apart
                sides = zip(*(paths[start:] + paths[:start]), strict=True)
                scripts = [script(temporary / f"{n}.lua", list(side)) for n, side in enumerate(sides)]
                servers = [*zip((own, bare), scripts, strict=True)]
                # Each begins in turn, because what is read first warms the files for the other.
                turned = servers if number % 2 else servers[::-1]
                found = [server.rate("/", given.seconds, token, script=one) for server, one in turned]
                pairs.append(found if number % 2 else found[::-1])
            ours, theirs = (median(side) for side in zip(*pairs, strict=True))
            ratio = with_spread([one / other for one, other in pairs])
            print(f"| {name} | {ours:.0f} | {theirs:.0f} | {ratio} |", flush=True)

        places = {"query": queries(), "cursor": list(cursors(own, token)), "offset": offsets()}
        print("| different pages | photosvc, requests/s | bare Flask app, requests/s | ratio |\n|---|---|---|---|")
        for number, count in enumerate(COUNTS):
            for name, pages in places.items():  # of the queries every third, so that none is sent twice
                chosen = pages[number :: len(COUNTS)] if name == "query" else pages
                row(f"{count} files, by {name}", [page.paths(count) for page in chosen])
        row("mix of clients", mixed(places["offset"], places["cursor"], places["query"][::-1]))


if __name__ == "__main__":
    main()
