"""What the full-text index knows of words: on SQLite of prefixes, on PostgreSQL of how many photos have them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection

from photosvc.models import SearchText
from photosvc.models.database.prepared import run_text
from photosvc.models.search.tables import WORD_INDEX, WORD_TERMS, WORD_VOCABULARY
from photosvc.search.reading.conditions.columns import LAST

#: Words that the prefixes of a query may stand for; FTS5 looks up the others by itself.
_MOST_EXPANDED: Final = 128

_WORDS: Final = f"SELECT term FROM {WORD_VOCABULARY} WHERE term >= ? AND term <= ? LIMIT ?"  # noqa: S608 - constants
_PHOTOS: Final = f"SELECT count(*) FROM {WORD_INDEX} WHERE {WORD_INDEX} MATCH ?"  # noqa: S608 - constants
#: The shares of words that PostgreSQL keeps decide what it expects.
_ESTIMATE: Final = (
    f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {SearchText.__tablename__} "  # noqa: S608 - constants
    f"WHERE {WORD_TERMS} @@ %(asked)s::tsquery"
)

_FOUND: Final = (
    f"SELECT photo_id FROM {SearchText.__tablename__} "  # noqa: S608 - constants
    f"WHERE {WORD_TERMS} @@ %(asked)s::tsquery LIMIT %(most)s"
)


def expand(prefixes: Iterable[str], connection: Connection) -> dict[str, list[str]]:
    """The indexed words that begin with each prefix, as long as they are few; prefixes of many words are left out.

    FTS5 merges the photos of all words with a prefix before it gives the first one. Of words that are named one by
    one it reads only as many photos as are wanted.
    """
    found: dict[str, list[str]] = {}
    left = _MOST_EXPANDED
    for prefix in prefixes:
        rows = run_text(connection, _WORDS, (prefix, prefix + LAST, left + 1)) if left else ()
        if left and len(rows) <= left:
            found[prefix] = [row[0] for row in rows]
            left -= len(rows)
    return found


def have_more(prefixes: Iterable[str], most: int, connection: Connection) -> bool:
    """Whether the photos of these prefixes, counted for each prefix alone, are more than `most`."""
    found = 0
    for prefix in prefixes:
        found += run_text(connection, _PHOTOS, (f'"{prefix}" *',))[0][0]
        if found > most:
            return True
    return False


def estimate(asked: str, connection: Connection) -> int:
    """PostgreSQL: the photos that it expects a text search to find, by its statistics and in half a millisecond."""
    ((plans,),) = run_text(connection, _ESTIMATE, {"asked": asked})
    return int(plans[0]["Plan"]["Plan Rows"])


def find_by_index(asked: str, most: int, connection: Connection) -> list[int]:
    """PostgreSQL: the photos that a text search finds, at most so many, by the full-text index alone."""
    with by_indexes_alone(connection):
        return [row[0] for row in run_text(connection, _FOUND, {"asked": asked, "most": most})]


@contextmanager
def by_indexes_alone(connection: Connection) -> Iterator[None]:
    """PostgreSQL: read no tables in the block.

    Left to itself it reads them when it expects many rows, which it does of any of several words that no photo has, and
    when an index is to be read from end to end, whose pages it takes for scattered.
    """
    run_text(connection, "SET LOCAL enable_seqscan = off", {})
    run_text(connection, "SET LOCAL random_page_cost = 1", {})
    yield
    run_text(connection, "SET LOCAL enable_seqscan = on", {})
    run_text(connection, "SET LOCAL random_page_cost TO DEFAULT", {})
