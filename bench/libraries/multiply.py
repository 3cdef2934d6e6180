"""Multiply a library in PostgreSQL, on its server: as `bench.libraries.repeat`, but without a row leaving the database.

With `rows_only`, just the search rows are repeated, with records of no text: enough for sizes of indexes and for plans
of searches that look at no words, where whole copies would need hundreds of gigabytes.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, Engine, text

from bench.libraries.library import RARE_WORD
from bench.libraries.postgres import _INDEXES
from bench.libraries.repeat import _IDS, _TABLES

_WRITTEN = text("""
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = :name AND is_generated = 'NEVER'
""")


def multiply(engine: Engine, times: int, *, rows_only: bool = False) -> None:
    """Make the library this many times as large."""
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text("SET LOCAL maintenance_work_mem = '512MB'"))
        indexes = connection.execute(_INDEXES).all()
        for name, _ in indexes:
            connection.exec_driver_sql(f'DROP INDEX "{name}"')
        largest = "SELECT max({}_id) FROM photosvc_search_rows"
        highest = {name: connection.scalar(text(largest.format(name[:-1]))) for name in _IDS}
        for name, changed in _TABLES.items():
            if not rows_only:
                _repeat(connection, f"photosvc_{name}", changed, highest, times)
        if rows_only:
            _repeat(connection, "photosvc_search_rows", _TABLES["search_rows"], highest, times)
            empty = {"file_id": _TABLES["search_documents"]["file_id"], "result_head": "''", "file": "''"}
            _repeat(connection, "photosvc_search_documents", empty, highest, times)
        rare = "UPDATE photosvc_search_texts SET words = replace(words, :word, 'x') WHERE photo_id > :photos"
        connection.execute(text(rare), {"word": RARE_WORD, "photos": highest["photos"]})
        for _, definition in indexes:
            connection.exec_driver_sql(definition.replace("%", "%%"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")


def _repeat(
    connection: Connection, table: str, changed: Mapping[str, str], highest: Mapping[str, int], times: int
) -> None:
    columns = connection.scalars(_WRITTEN, {"name": table}).all()
    rules = [changed.get(column, "{}").format(f'"{column}"') for column in columns]
    copied = ", ".join(rules).replace("char(65 + :n)", "chr(65 + :n)")
    for name, number in highest.items():
        copied = copied.replace(f":{name}", str(number))
    copied = copied.replace(":n", "n::bigint").replace("chr(65 + n::bigint)", "chr(65 + n)")
    copied = copied.replace("|| '_' || n::bigint", "|| '_' || n").replace("& 2147483647", "& 2147483647::bigint")
    names = ", ".join(f'"{column}"' for column in columns)
    connection.exec_driver_sql(
        f"INSERT INTO {table} ({names}) SELECT {copied} FROM {table}, generate_series(1, {times - 1}) AS n"
    )
