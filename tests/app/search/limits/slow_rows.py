"""A library whose every search takes many seconds of the processor, on either database."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from tests.helpers.library import Library

#: Counts to a million for each row: 0.1 to 0.5 seconds. It depends on the row, so that it is not done once for all.
_SLOWLY = """
CREATE VIEW photosvc_search_rows AS SELECT * FROM all_rows AS r WHERE (
  WITH RECURSIVE n(i) AS (SELECT r.file_id UNION ALL SELECT i + 1 FROM n WHERE i < r.file_id + 1000000)
  SELECT count(*) FROM n
) > 0
"""


def _slow_down(library: Library) -> None:
    """Make every read of a search row slow."""
    with library.session() as session:
        session.execute(text("ALTER TABLE photosvc_search_rows RENAME TO all_rows"))
        session.execute(text(_SLOWLY))


def _speed_up(library: Library) -> None:
    """Make it as fast as it was."""
    with library.session() as session:
        session.execute(text("DROP VIEW photosvc_search_rows"))
        session.execute(text("ALTER TABLE all_rows RENAME TO photosvc_search_rows"))


@contextmanager
def slow_rows(library: Library) -> Iterator[None]:
    """Slow inside of the block."""
    _slow_down(library)
    try:
        yield
    finally:
        _speed_up(library)
