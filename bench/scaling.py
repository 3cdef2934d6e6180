"""Costs of searches and bytes on disk by the size of a library: `python -m bench.scaling FOLDER-OR-URI …`.

The libraries, of one kind of database and the smallest first, are made by `bench.libraries.library`, and multiplied by
`bench.libraries.repeat` or, inside PostgreSQL, with `--multiply TIMES FOLDER`. With `--rows TIMES FOLDER`, search rows
alone are multiplied. docs/scaling.md says what follows from the figures.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from statistics import median

from sqlalchemy import Connection, func, select, text

from bench.libraries.databases import clock_of, engine_of, opened, times_of
from bench.searches.queries import QUERIES, measure
from bench.searches.timeline import calls
from photosvc.models import SearchRow
from tests.helpers.queries.parsing import photo_query

#: Queries of each kind of cost; those of words need the texts of all photos.
_QUERIES = (
    "newest", "newest, cursor 9 in 10", "newest, offset 9 in 10", "random", "color", "camera", "year", "two colors",
    "circle of 50 km", "range of ISO", "name by its middle", "nine facets",
)  # fmt: skip
_OF_WORDS = (
    "rare word", "word of 9 %", "word of 9 %, total", "two words", "any of 24 prefixes", "word of 9 %, by relevance",
    "two words, by relevance", "phrase",
)  # fmt: skip
_REPEATS = 5
_SIZES = {
    "sqlite": """
        SELECT coalesce(m.tbl_name, s.name), m.type = 'index', sum(pgsize)
        FROM dbstat s LEFT JOIN sqlite_master m ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY 1, 2
    """,
    "postgresql": """
        SELECT relname, false, pg_table_size(oid) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'photosvc%'
        UNION ALL
        SELECT relname, true, pg_indexes_size(oid) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'photosvc%'
    """,
}


def sizes(connection: Connection) -> dict[str, int]:
    """Bytes of each part of the database."""
    found = dict.fromkeys(("search rows", "their indexes", "records", "words", "photos, files and others"), 0)
    for table, is_index, size in connection.execute(text(_SIZES[connection.dialect.name])):
        name = table.removeprefix("photosvc_")
        if name == "search_rows":
            found["their indexes" if is_index else "search rows"] += size
        elif name == "search_documents":
            found["records"] += size
        elif name.startswith("search_text"):
            found["words"] += size
        else:
            found["photos, files and others"] += size
    connection.rollback()
    return found


def times(connections: Sequence[Connection], *, with_words: bool) -> Iterator[tuple[str, list[float]]]:
    """The median of each query in each library, in ms of processor time."""
    names = (*_QUERIES, *(_OF_WORDS if with_words else ()))
    for name, found in measure(connections, {name: QUERIES[name] for name in names}):
        yield name, [median(spent) for spent in found]
    query = photo_query(sees_private=False)
    for name in ("months", "globe"):
        found = []
        for connection in connections:
            call = calls(connection, query)[name]
            found.append(median(times_of(connection, clock_of(connection), call, _REPEATS)))
        yield f"timeline: {name}", found


def growth(small: float, large: float, factor: float) -> float:
    """The power of the size by which a cost grows: 0 not at all, 1 in proportion."""
    return math.log(large / small) / math.log(factor)


def main(libraries: Sequence[str], *, with_words: bool = True) -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(library)) for library in libraries]
        counts = [connection.scalar(select(func.count()).select_from(SearchRow)) for connection in connections]
        parts = [sizes(connection) for connection in connections]
        head = "".join(f" {count:,} |" for count in counts)
        print(f"{connections[0].dialect.name}\n\n| bytes a file |{head}\n|---|{'---|' * len(counts)}")
        for part in parts[0]:
            cells = (f" {found[part] / count:.0f} |" for found, count in zip(parts, counts, strict=True))
            print(f"| {part} |{''.join(cells)}")
        print("| all, GB |" + "".join(f" {sum(found.values()) / 1e9:.2f} |" for found in parts))
        print(f"\n| ms of the processor |{head} power |\n|---|{'---|' * len(counts)}---|")
        for name, found in times(connections, with_words=with_words):
            power = growth(found[0], found[-1], counts[-1] / counts[0])
            print(f"| {name} |{''.join(f' {one:.2f} |' for one in found)} {power:.2f} |", flush=True)


if __name__ == "__main__":
    options = sys.argv[1:]
    if options[0] in {"--multiply", "--rows"}:
        from bench.libraries.multiply import multiply

        with engine_of(options[2]) as engine:
            multiply(engine, int(options[1]), rows_only=options[0] == "--rows")
    else:
        main([one for one in options if one != "--no-words"], with_words="--no-words" not in options)
