"""Times of searches in this process: `python -m bench.queries FOLDER-OR-URI …`.

The libraries are made by `bench.library`.
Times are those of the processor, which other load lengthens less: of this process, in which SQLite runs too, and of the
process with which PostgreSQL serves the connection, without parallel workers.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median, quantiles

from sqlalchemy import Connection, func, select

from bench.databases import clock_of, opened
from bench.library import COMMON_WORD, FREQUENT_WORD, RARE_WORD, SELDOM_WORD
from bench.servers import with_spread
from photosvc.models import SearchRow
from photosvc.search.reading.facets import count_values, parse_facets
from photosvc.search.reading.pages import Page, find
from tests.helpers.parsing import parse_request, photo_query

_ROUNDS, _REPEATS, _WARM_UP = 5, 20, 2
#: Seconds of a round of a query in the slowest library; it is asked less often when more would not fit.
_SECONDS = 1.0

_PREFIXES = [start + end for start in ("ba", "ri", "mo", "ten", "la", "sur") for end in ("mi", "sta", "ler", "nu")]

#: Parameters of a page; those with `by` count facets instead.
QUERIES: dict[str, dict[str, str]] = {
    "newest": {},
    "added": {"order": "added"},
    "name": {"order": "name"},
    "random": {"order": "random", "seed": "5"},
    "newest, merged": {"merged": "true"},
    "newest, offset 5,000": {"offset": "5000"},
    "newest, offset 9 in 10": {"offset": "deep"},
    "newest, cursor 9 in 10": {"cursor": "deep"},
    "rare word": {"q": RARE_WORD},
    "word of 9 %": {"q": COMMON_WORD},
    "word of 9 %, total": {"q": COMMON_WORD, "total": "true"},
    "word of 3 %": {"q": SELDOM_WORD},
    "two words": {"q": f"{COMMON_WORD} {FREQUENT_WORD}"},
    "not a word of 9 %": {"q": f"-{COMMON_WORD}"},
    "prefix": {"q": COMMON_WORD[:4]},
    "any of 24 prefixes": {"q": "|".join(_PREFIXES)},
    "phrase": {"q": f'"{RARE_WORD} over the lake"'},
    "word of 9 %, by relevance": {"q": COMMON_WORD, "order": "relevance"},
    "two words, by relevance": {"q": f"{COMMON_WORD} {FREQUENT_WORD}", "order": "relevance"},
    "color": {"color": "blue"},
    "country": {"country": "it"},
    "year": {"year": "2012"},
    "camera": {"camera": "5"},
    "album": {"album": '"Album 5"'},
    "camera by name": {"camera": "nikon"},
    "circle of 50 km": {"latlng": "48.1,11.6@50"},
    "day": {"taken": "2012-05-06"},
    "before a day": {"before": "2003-05-06"},
    "name by its beginning": {"name": "IMG_0012*"},
    "name by its middle": {"name": "*0012*"},
    "little words": {"q": f"the {COMMON_WORD} in the {FREQUENT_WORD}"},
    "near a place": {"near": "arezzo"},
    "newest, reversed": {"reverse": "true"},
    "nine facets": {"by": "year,month,country,city,camera,lens,type,color,album"},
}


def measure(
    connections: Sequence[Connection], queries: Mapping[str, dict[str, str]] = QUERIES
) -> Iterator[tuple[str, list[list[float]]]]:
    """All times of each query in each library, in ms; measured alternately, so that other load affects all alike."""
    clocks = [clock_of(connection) for connection in connections]
    for name, parameters in queries.items():
        for connection in connections:  # as a request has it: after a long query, one keeps no statements
            connection.execution_options(compiled_cache={})
        yield name, _timed(connections, clocks, parameters)


def _timed(
    connections: Sequence[Connection], clocks: Sequence[Callable[[], float]], parameters: Mapping[str, str]
) -> list[list[float]]:
    asked = [_deep(connection, {"order": "newest", **parameters}) for connection in connections]

    def timed(number: int, repeat: int) -> float:
        started = clocks[number]()
        _answer(connections[number], {**asked[number], "count": str(100 + repeat % 2)})
        return clocks[number]() - started

    numbers = range(len(asked))
    slowest = max(timed(number, 0) for number in numbers)
    repeats = max(2, min(_REPEATS, int(_SECONDS / slowest)))
    times: list[list[float]] = [[] for _ in numbers]
    for _ in range(_ROUNDS):
        for number in numbers:
            spent = [timed(number, repeat) * 1000 for repeat in range(-_WARM_UP, repeats)]
            times[number] += spent[_WARM_UP:]
    return times


def _deep(connection: Connection, asked: dict[str, str]) -> dict[str, str]:
    """The query with its offset or cursor at nine tenths of the library."""
    if "deep" in asked.values():
        total = _page(connection, {"total": "true"}).total or 0
        by_cursor = asked.pop("cursor", None)
        asked["offset"] = str(total * 9 // 10)
        if by_cursor:
            asked["cursor"] = str(_page(connection, asked).next)
            del asked["offset"]
    return asked


def _answer(connection: Connection, asked: Mapping[str, str]) -> None:
    if by := asked.get("by"):
        count_values(connection, photo_query(sees_private=False), parse_facets(by))
        connection.rollback()
    else:
        _page(connection, asked)


def _page(connection: Connection, asked: Mapping[str, str]) -> Page:
    page = find(connection, parse_request({"order": "newest", **asked}), sees_private=False)
    connection.rollback()
    return page


def main() -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(library)) for library in sys.argv[1:]]
        kinds = [f" {connection.dialect.name}, {_size(connection):,}: p50, p95 ms |" for connection in connections]
        print(f"| query, 100 files a page |{''.join(kinds)} last to first |\n|---|{'---|' * len(kinds)}---|")
        for name, times in measure(connections):
            cells = "".join(f" {median(spent):.2f}, {quantiles(spent, n=20)[-1]:.2f} |" for spent in times)
            print(f"| {name} |{cells} {_growth(times[0], times[-1])} |", flush=True)


def _size(connection: Connection) -> int:
    size: int = connection.scalar(select(func.count()).select_from(SearchRow))
    connection.rollback()
    return size


def _growth(smallest: list[float], largest: list[float]) -> str:
    """Ratio of the times of the largest library to those of the smallest, for each round."""
    size = len(largest) // _ROUNDS
    rounds = [
        median(largest[start : start + size]) / median(smallest[start : start + size])
        for start in range(0, len(largest), size)
    ]
    return with_spread(rounds)


if __name__ == "__main__":
    main()
