"""Times of searches in this process: `python -m bench.queries FOLDER …`, with libraries made by `bench.library`."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median, quantiles

from sqlalchemy import Connection, create_engine

from bench.library import COMMON_WORD, FREQUENT_WORD, RARE_WORD, SELDOM_WORD
from bench.serve import with_spread
from photosvc.models.database import configure_engine
from photosvc.query.errors import InvalidQueryError
from photosvc.query.filters import FILTERS
from photosvc.query.parser import parse_query
from photosvc.search.reading.page import Page, find
from photosvc.search.reading.request import parse_request

_ROUNDS, _REPEATS, _WARM_UP = 5, 20, 2

QUERIES: dict[str, dict[str, str]] = {
    "newest": {},
    "added": {"order": "added"},
    "oldest": {"order": "oldest"},
    "name": {"order": "name"},
    "newest, merged": {"merged": "true"},
    "newest, offset 5,000": {"offset": "5000"},
    "newest, offset 9 in 10": {"offset": "deep"},
    "newest, cursor 9 in 10": {"cursor": "deep"},
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


def measure(folders: Sequence[Path]) -> dict[str, list[list[float]]]:
    """All times of each query in each library, in ms; measured alternately, so that other load affects all alike."""
    with ExitStack() as stack:
        connections = [stack.enter_context(_opened(folder)) for folder in folders]
        return {name: _timed(connections, parameters) for name, parameters in QUERIES.items()}


@contextmanager
def _opened(folder: Path) -> Iterator[Connection]:
    engine = create_engine(f"sqlite:///{folder / 'photosvc.db'}")
    configure_engine(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _timed(connections: Sequence[Connection], parameters: Mapping[str, str]) -> list[list[float]]:
    asked = [_deep(connection, {"order": "newest", **parameters}) for connection in connections]
    times: list[list[float]] = [[] for _ in connections]
    for _ in range(_ROUNDS):
        for connection, query, spent in zip(connections, asked, times, strict=True):
            for number in range(-_WARM_UP, _REPEATS):
                started = time.perf_counter()
                _page(connection, {**query, "count": str(100 + number % 2)})
                if number >= 0:
                    spent.append((time.perf_counter() - started) * 1000)
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


def _page(connection: Connection, asked: Mapping[str, str]) -> Page:
    page = find(connection, parse_request({"order": "newest", **asked}), sees_private=False)
    connection.rollback()
    return page


def measure_parser() -> dict[str, tuple[float, float]]:
    """Times to parse query texts of up to 4 KiB, the allowed maximum: median and p99 in ms."""
    examples = [spec.example for spec in FILTERS.values()]
    texts = {
        "4 KiB of identifiers": "uid:" + "|".join(f"p{number:015}" for number in range(240)),
        "4 KiB of words": " ".join(f"somewhat{number:08}" for number in range(240)),
        "4 KiB of filters": " ".join(examples * 4)[:4096].rpartition(" ")[0],
        "three terms": "lake color:blue before:2020",
    }
    found = {}
    for name, text in texts.items():
        times = []
        for _ in range(1000):
            started = time.perf_counter()
            with suppress(InvalidQueryError):  # the text of filters has more terms than allowed
                parse_query(text)
            times.append((time.perf_counter() - started) * 1000)
        found[name] = median(times), quantiles(times, n=100)[-1]
    return found


def main() -> None:
    folders = [Path(name) for name in sys.argv[1:]]
    print("| query, 100 files a page |" + "".join(f" {folder.name}: p50, p95 ms |" for folder in folders) + " growth |")
    print("|---|" + "---|" * len(folders) + "---|")
    for name, times in measure(folders).items():
        cells = "".join(f" {median(spent):.2f}, {quantiles(spent, n=20)[-1]:.2f} |" for spent in times)
        print(f"| {name} |{cells} {_growth(times[0], times[-1])} |")
    print("\n| query text | p50, p99 ms |\n|---|---|")
    for name, (half, most) in measure_parser().items():
        print(f"| {name} | {half:.3f}, {most:.3f} |")


def _growth(smallest: list[float], largest: list[float]) -> str:
    """Ratio of the times of the largest library to those of the smallest, for each round."""
    rounds = [
        median(largest[start : start + _REPEATS]) / median(smallest[start : start + _REPEATS])
        for start in range(0, _ROUNDS * _REPEATS, _REPEATS)
    ]
    return with_spread(rounds)


if __name__ == "__main__":
    main()
