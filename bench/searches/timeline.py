"""Times of the timeline, the map and its towns: `python -m bench.searches.timeline FOLDER-OR-URI …`.

The libraries are made by `bench.libraries.library`.

Each call is measured in this process, as it is served behind the token check: the query, its rows and their JSON text.
Times are those of the processor, which other load lengthens less: of this process, in which SQLite runs too, and of the
process with which PostgreSQL serves the connection, on the same machine and without parallel workers.
"""

import gzip
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median, quantiles
from typing import Any

import orjson
from sqlalchemy import Connection

from bench.libraries.databases import clock_of, opened, times_of
from bench.libraries.library import COMMON_WORD, FREQUENT_WORD, RARE_WORD, SELDOM_WORD
from photosvc.search.reading import photos
from photosvc.search.reading.clusters import find_clusters, parse_box
from photosvc.search.reading.photos import PhotoQuery, find_towns
from photosvc.search.reading.timeline import count_months, month_columns, photos_of_month
from tests.helpers.queries.parsing import TODAY, photo_query

_REPEATS = 15

QUERIES: dict[str, dict[str, str]] = {
    "everything": {},
    "rare word": {"q": RARE_WORD},
    "word of 3 %": {"q": SELDOM_WORD},
    "word of 9 %": {"q": COMMON_WORD},
    "two words": {"q": f"{COMMON_WORD} {FREQUENT_WORD}"},
    "not a word of 9 %": {"q": f"-{COMMON_WORD}"},
    "word of 20 %": {"q": FREQUENT_WORD},
    "not a word of 20 %": {"q": f"-{FREQUENT_WORD}"},
    "neither of two words": {"q": f"-{COMMON_WORD} -{FREQUENT_WORD}"},
    "not a word, a year": {"q": f"-{COMMON_WORD} year:2012"},
    "color": {"color": "blue"},
    "country": {"country": "it"},
    "year": {"year": "2012"},
    "type of all": {"type": "image"},
    "camera of every fourth": {"camera": "2"},
    "camera by name": {"camera": "nikon"},
    "favorite": {"favorite": "true"},
    "range of ISO": {"iso": "100-400"},
    "album": {"album": '"Album 0"'},
    "codec": {"codec": "dng"},
    "landscape": {"landscape": "true"},
}


def calls(connection: Connection, query: PhotoQuery) -> dict[str, Callable[[], Any]]:
    """The calls of a page with this query: all months, then the largest one."""
    months = count_months(connection, query, oldest_first=False)
    largest = max(months, key=lambda month: month[1])[0] if months else 0
    return {
        "months": lambda: count_months(connection, query, oldest_first=False),
        "columns": lambda: month_columns(connection, query, largest, oldest_first=False),
        "photos": lambda: photos_of_month(connection, query, largest, 0, 100, oldest_first=False),
        "globe": lambda: find_clusters(connection, query, parse_box(""), 2).clusters,
        "country": lambda: find_clusters(connection, query, parse_box("5.8,47.2,15.1,55.1"), 6).clusters,
        "towns": lambda: find_towns(connection, query),
    }


def measure(connection: Connection, parameters: Mapping[str, str]) -> dict[str, list[float]]:
    """Times of each call in ms."""
    query = photos.parse_query(parameters.items(), TODAY, sees_private=False)
    clock = clock_of(connection)
    return {
        name: times_of(connection, clock, lambda call=call: orjson.dumps(call()), _REPEATS)
        for name, call in calls(connection, query).items()
    }


def sizes(connection: Connection) -> Iterator[str]:
    """Bytes of the answers about everything, packed as nginx does."""
    query = photo_query(sees_private=False)
    for name, call in calls(connection, query).items():
        body = orjson.dumps(call())
        yield f"{name}: {len(body)} bytes, {len(gzip.compress(body, 6))} packed"
    months = count_months(connection, query, oldest_first=False)
    bodies = [orjson.dumps(month_columns(connection, query, month, oldest_first=False)) for month, _ in months]
    total = sum(count for _, count in months)
    packed = sum(len(gzip.compress(body, 6)) for body in bodies)
    yield f"columns of all {len(months)} months: {packed / total:.2f} bytes a photo, packed"


def main(libraries: Sequence[str]) -> None:
    with ExitStack() as stack:
        for library in libraries:
            connection = stack.enter_context(opened(library))
            count = sum(
                number for _, number in count_months(connection, photo_query(sees_private=False), oldest_first=False)
            )
            print(f"\n{connection.dialect.name}, {count} photos\n")
            print("| query: p50, p95 ms | months | columns | 100 photos | map, globe | map, country | towns |")
            print("|---|---|---|---|---|---|---|")
            for name, parameters in QUERIES.items():
                times = measure(connection, parameters).values()
                cells = " | ".join(f"{median(spent):.0f}, {quantiles(spent, n=20)[-1]:.0f}" for spent in times)
                print(f"| {name} | {cells} |", flush=True)
            print("\n" + "\n".join(sizes(connection)))


if __name__ == "__main__":
    main(sys.argv[1:])
