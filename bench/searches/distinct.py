"""Different pages over HTTP beside a bare Flask app, and a mix of clients: `python -m bench.searches.distinct FOLDER`.

The library is made by `bench.libraries.library`, the bare app is `bench/peers/bare_flask.py`. Each server has two sync
workers of gunicorn; they are measured in turn, and ratios are computed for each round.

First a thousand different pages, in turn: by offset, by cursor and by a query. The bare app answers the same offset,
the same row that the page follows, or the same last day.

Then a mix of clients. Of 1,000 requests, 15 % are for the newest 100 files, as a client that opens asks; 15 % repeat
one of the 20 requests before, as one that goes back does; and 70 % are for pages that were not requested yet, of 10,
100 or 1,000 files (20, 60 and 20 %), most by cursor (60 %), the others by query (30 %) or offset.
"""

import argparse
import random
import sys
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

from bench.libraries.library import TOKEN_FILE
from bench.peers.serve import Server, gunicorn, with_spread
from bench.searches.search import COUNTS, make_peer

PAGES = 1000
#: Files between two cursors.
_STEP = 150
_DAY = date(2025, 12, 31)
_DAYS_APART = timedelta(days=8)
#: Requests between the starts of two rounds.
_APART = 389
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
    """Pages that each begin one file after the one before."""
    given = [{"offset": str(number)} for number in range(1, PAGES + 1)]
    return [Place(one, one) for one in given]


def queries() -> list[Place]:
    """Pages of what was taken until a day."""
    days = [_DAY - number * _DAYS_APART for number in range(PAGES)]
    return [Place({"q": f"before:{day}"}, {"taken": f"{day}T24"}) for day in days]


def cursors(server: Server, token: dict[str, str]) -> Iterator[Place]:
    """Pages that follow a row, found by walking through the library."""
    path = f"/api/v1/photos?count={_STEP}&order=newest"
    place = ""
    for _ in range(PAGES):
        request = urllib.request.Request(f"{server.base}{path}{place}", headers=token)
        with urllib.request.urlopen(request, timeout=30) as answer:
            last, cursor = orjson.loads(answer.read())[-1], answer.headers["X-Cursor"]
        place = f"&{urlencode({'cursor': cursor})}"
        yield Place({"cursor": cursor}, {"taken": last["TakenAt"], "id": last["ID"]})


def mixed(by_offset: list[Place], by_cursor: list[Place], by_query: list[Place]) -> list[tuple[str, str]]:
    """The paths of the mix of clients, the same in each run."""
    chance = random.Random(1)
    kinds = [iter(chance.sample(places, len(places))) for places in (by_offset, by_cursor, by_query)]
    opened = Place({}, {}).paths(100)
    paths: list[tuple[str, str]] = []
    while len(paths) < PAGES:
        drawn = chance.random()
        if drawn < _OPENED or not paths:
            paths.append(opened)
        elif drawn < _OPENED + _WENT_BACK:
            paths.append(chance.choice(paths[-_RECENT:]))
        else:
            (kind,) = chance.choices(kinds, (10, 60, 30))
            (count,) = chance.choices(COUNTS, (20, 60, 20))
            paths.append(next(kind).paths(count))
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
    parser.add_argument("--seconds", type=int, default=3, help="of each server in a round")
    given = parser.parse_args()
    folder, token = given.folder, {"X-Auth-Token": (given.folder / TOKEN_FILE).read_text().strip()}
    environ = {"PEER_DATABASE": str(make_peer(folder)), "PEER_LIBRARY": str(folder / "photosvc.db")}
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def start(target: str, ready: str = "/api/v1/status", **variables: str) -> Server:
            log = temporary / f"{target}.log"
            return stack.enter_context(gunicorn(target, log, ready, PHOTOSVC_INSTANCE=str(folder), **variables))

        own, bare = start("wsgi:app"), start("bench.peers.bare_flask:app", "/hello", **environ)

        def rates(paths: list[tuple[str, str]]) -> list[list[float]]:
            """Return the requests per second of the service and of the bare app, for each round."""
            rounds = []
            for number in range(given.rounds):
                # A round begins elsewhere than the one before, whose pages the system may have in memory.
                start = number * _APART % len(paths)
                sides = zip(*(paths[start:] + paths[:start]), strict=True)
                ours, theirs = (script(temporary / f"{n}.lua", list(side)) for n, side in enumerate(sides))
                servers = [(own, ours), (bare, theirs)]
                # Each begins in turn, because what is read first warms the files for the other.
                turned = servers if number % 2 else servers[::-1]
                found = [server.rate("/", given.seconds, token, script=one) for server, one in turned]
                if not all(found):
                    sys.exit("A server answered nothing within a round: give longer ones by --seconds.")
                rounds.append(found if number % 2 else found[::-1])
            return rounds

        places = {"offset": offsets(), "cursor": list(cursors(own, token)), "query": queries()}
        print(
            "| 1,000 different pages | photosvc, requests/s | bare Flask app, requests/s | ratio |\n|---|---|---|---|"
        )
        for count in COUNTS:
            for name, pages in places.items():
                pairs = rates([page.paths(count) for page in pages])
                ratio = with_spread([one / other for one, other in pairs])
                ours, theirs = (median(side) for side in zip(*pairs, strict=True))
                print(f"| {count} files, by {name} | {ours:.0f} | {theirs:.0f} | {ratio} |", flush=True)
        found = rates(mixed(places["offset"], places["cursor"], places["query"]))
        ours, theirs = (median(side) for side in zip(*found, strict=True))
        ratio = with_spread([one / other for one, other in found])
        print(f"| the mix | {ours:.0f} | {theirs:.0f} | {ratio} |")


if __name__ == "__main__":
    main()
