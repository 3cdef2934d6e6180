"""Times of hints, suggestions and facets: `python -m bench.searches.typing FOLDER-OR-URI …`.

The libraries are made by `bench.libraries.library`. Times are those of the processor, as in `bench.searches.queries`.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median, quantiles

from sqlalchemy import Connection

from bench.libraries.databases import clock_of, opened, times_of
from bench.libraries.library import COMMON_WORD, FREQUENT_WORD, RARE_WORD, SELDOM_WORD
from photosvc.query.typed import find_typed
from photosvc.search.reading.facets import count_values, parse_facets
from photosvc.search.reading.hints import find_hints
from photosvc.search.reading.suggest import Names, read_names, suggest
from tests.helpers.queries.parsing import TODAY, photo_query

_REPEATS = 5
#: Milliseconds of a call that is not repeated.
_LONG = 1000

#: Queries that find nothing, by what is wrong with them.
EMPTY: Mapping[str, Sequence[str]] = {
    "one slip": ("famly", "sumer", "harvset", "zepelin", "batens"),
    "one slip beside words": (f"famly {FREQUENT_WORD}", f"{COMMON_WORD} sumer", f"{COMMON_WORD} {SELDOM_WORD} harvset"),
    "no such word": ("xqzzt", "wkkvw pqrst", "qqqqqq yyyyyy wwwwww zzzzzz"),
    "words and a filter that excludes all": (
        f"{COMMON_WORD} year:1950",
        f"{COMMON_WORD} {FREQUENT_WORD} iso:77",
        f"{SELDOM_WORD} width:>=10000",
        f"{RARE_WORD} camera:99",
    ),
    "filters that exclude each other": (
        "year:2012 taken:2013",
        "color:blue type:video iso:100 year:1950",
        "country:it city:nowhere faces:3 rating:5",
        "favorite:true panorama:true scan:true stack:true",
    ),
    "eight parts": (
        f"{COMMON_WORD} {FREQUENT_WORD} {SELDOM_WORD} color:blue country:it year:2012 iso:100 width:>=10000",
        "ba ri mo ten la sur ke xqzzt",
    ),
}
#: Texts that are typed, letter by letter.
TYPED = (COMMON_WORD, "zeppelin", "camera:nik", "country:ger", "city:bar", "keywords:ba", "year:20", "color:bl", "is:")
_PAGE = "year,month,country,city,person,album,type,camera,lens,color,rating"
FACETS: Mapping[str, Sequence[str]] = {
    "one facet": ("year", "camera", "lens", "country", "city", "type", "color", "album", "person", "month", "rating"),
    "nine facets": ("year,month,country,city,camera,lens,type,color,album",),
    "the page of filters": (_PAGE,),
}
NARROWED = ("", COMMON_WORD, RARE_WORD, "year:2012", f"-{COMMON_WORD}")


def calls(connection: Connection) -> Iterator[tuple[str, list[Callable[[], object]]]]:
    """Yield the name of each row of the table and its calls."""
    names = read_names(connection, sees_private=False)
    connection.rollback()
    yield "names of the library", [lambda: read_names(connection, sees_private=False)]
    for what, queries in EMPTY.items():
        yield f"hints: {what}", [partial(_hints, connection, query, names) for query in queries]
    parts = [text[:length] for text in TYPED for length in range(len(text) + 1)]
    yield "suggestions", [partial(_suggested, connection, part, names) for part in parts]
    for what, asked in FACETS.items():
        for query in NARROWED:
            yield f"{what}, `{query}`" if query else what, [partial(_facets, connection, query, by) for by in asked]


def _hints(connection: Connection, query: str, names: Names) -> None:
    find_hints(connection, [("q", query)], names, sees_private=False, today=TODAY)


def _suggested(connection: Connection, text: str, names: Names) -> None:
    suggest(connection, find_typed(text, len(text)), names, sees_private=False)


def _facets(connection: Connection, query: str, by: str) -> None:
    asked = photo_query(f"{query} primary:true" if by == _PAGE else query, sees_private=False)
    count_values(connection, asked, parse_facets(by))


def main() -> None:
    with ExitStack() as stack:
        for library in sys.argv[1:]:
            connection = stack.enter_context(opened(library))
            clock = clock_of(connection)
            print(f"\n| {connection.dialect.name}, {library} | calls | p50 ms | p95 ms |\n|---|---|---|---|")
            for name, made in calls(connection):
                times = [spent for call in made for spent in times_of(connection, clock, call, _REPEATS, _LONG)]
                most = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
                print(f"| {name} | {len(made)} | {median(times):.1f} | {min(most, max(times)):.1f} |", flush=True)


if __name__ == "__main__":
    main()
