"""Statements that are compiled once: what every request runs should not be put together again each time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, select, tuple_
from sqlalchemy.engine import Dialect

from photosvc.models import SearchRow
from photosvc.search.orders import order_named
from photosvc.search.visible import visible


@dataclass(frozen=True, slots=True)
class Prepared:
    """SQL as the driver takes it, and the names of its values in their order."""

    text: str
    names: tuple[str, ...] | None
    """None where the driver takes values by name."""
    constants: dict[str, Any]

    def run(self, connection: Connection, values: dict[str, Any]) -> Sequence[Any]:
        """All rows."""
        values = self.constants | values
        given = values if self.names is None else tuple(values[name] for name in self.names)
        return connection.exec_driver_sql(self.text, given).fetchall()


def prepare_statement(statement: Any, dialect: Dialect) -> Prepared:  # noqa: ANN401
    """The statement for this dialect; its values are named bind parameters of whole numbers and texts."""
    compiled = statement.compile(dialect=dialect)
    names = tuple(compiled.positiontup) if compiled.positional else None
    return Prepared(compiled.string, names, compiled.params)


@lru_cache(maxsize=128)
def plain_window(order: str, dialect: Dialect, *, merged: bool, sees_private: bool, by_cursor: bool) -> Prepared:
    """The window of a search without conditions: `file_id` and the keys of the order.

    Takes `count` and, by cursor, `key0`, `key1`… of the last row, else `offset`.
    """
    chosen = order_named(order, merged=merged)
    keys = chosen.columns(0)
    query: Any = select(SearchRow.file_id, *keys).where(visible(sees_private=sees_private))
    if by_cursor:
        last = tuple_(*(bindparam(f"key{n}", type_=key.type) for n, key in enumerate(keys)))
        query = query.where(tuple_(*keys) < last if chosen.falling else tuple_(*keys) > last)
    else:
        query = query.offset(bindparam("offset", type_=SearchRow.newest_key.type))
    query = query.order_by(*(key.desc() if chosen.falling else key.asc() for key in keys))
    return prepare_statement(query.limit(bindparam("count", type_=SearchRow.newest_key.type)), dialect)
