"""Times of every order at four depths: `python -m bench.searches.orders FOLDER-OR-URI …`.

The libraries are made by `bench.libraries.library`. Of each order, a page of 100 files and one of the photos of 100
files at the beginning, and after a tenth, half and nine tenths of the library; and, as `/photos/sequence` gives them,
100 photos at the same places. Times are those of the processor, as in `bench.searches.queries`.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from statistics import median

from sqlalchemy import Connection

from bench.libraries.databases import clock_of, opened, times_of
from photosvc.search.reading.pages import find
from photosvc.search.reading.request import ORDERS
from photosvc.search.reading.timeline import count_photos, read_stretch
from tests.helpers.queries.parsing import parse_request, photo_query

_REPEATS = 3
#: Milliseconds of a call that is not repeated.
_LONG = 300
#: Where the pages begin, in tenths of the library.
DEPTHS = (0, 1, 5, 9)
_PAGES = ("files", "merged", "sequence")


def calls(connection: Connection, order: str) -> Iterator[tuple[int, str, Callable[[], object]]]:
    """Yield the tenths, the name and the call of each page of an order."""
    files, photos = _sizes(connection)
    asked = {"order": order, "seed": "5", "count": "100"}
    for tenths in DEPTHS:
        offset, start = files * tenths // 10, photos * tenths // 10
        for name in _PAGES:
            if name == "sequence":
                request = parse_request({**asked, "merged": "true"})
                yield (
                    tenths,
                    name,
                    lambda request=request, start=start: read_stretch(connection, request, start, sees_private=False),
                )
            else:
                request = parse_request({**asked, "merged": str(name == "merged").lower(), "offset": str(offset)})
                yield tenths, name, lambda request=request: find(connection, request, sees_private=False)


def _sizes(connection: Connection) -> tuple[int, int]:
    """Return the number of files and of photos that a search without conditions finds."""
    everything = photo_query(sees_private=False)
    found = find(connection, parse_request({"total": "true", "count": "1"}), sees_private=False).total or 0
    photos = count_photos(connection, everything)
    connection.rollback()
    return found, photos


def main() -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(library)) for library in sys.argv[1:]]
        clocks = [clock_of(connection) for connection in connections]
        for connection in connections:
            files, photos = _sizes(connection)
            print(f"{connection.dialect.name}: {files:,} files, {photos:,} photos are found")
        kinds = [f" {connection.dialect.name}: {name} |" for connection in connections for name in _PAGES]
        print(f"\n| order, at |{''.join(kinds)}\n|---|{'---|' * len(kinds)}")
        for order in ORDERS:
            cells: dict[int, list[str]] = {tenths: [] for tenths in DEPTHS}
            for connection, clock in zip(connections, clocks, strict=True):
                for tenths, _, call in calls(connection, order):
                    spent = median(times_of(connection, clock, call, _REPEATS, _LONG))
                    cells[tenths].append(f" {spent:.1f} |")
            for tenths, times in cells.items():
                print(f"| {order}, {tenths * 10} % |{''.join(times)}", flush=True)


if __name__ == "__main__":
    main()
