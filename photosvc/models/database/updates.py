"""Updates of many rows by their ids, each of the columns that changed: one prepared statement for equal columns."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Update, bindparam, update

from photosvc.models.base import Base
from photosvc.models.database.prepared import run_many


class Updates:
    """Collects new values of rows, and writes them when `run` is called."""

    def __init__(self) -> None:
        self._rows: defaultdict[tuple[Any, str, tuple[str, ...]], list[dict[str, Any]]] = defaultdict(list)

    def add(self, mapped: type[Base], key: str, row_id: int, values: Mapping[str, Any]) -> None:
        """Note new values of columns, of the types of the columns, for the rows whose column `key` is `row_id`."""
        if values:
            named = {f"new_{name}": value for name, value in values.items()}
            self._rows[mapped, key, tuple(values)].append({"row": row_id, **named})

    def run(self, connection: Connection) -> None:
        """Write them."""
        for (mapped, key, names), rows in self._rows.items():
            run_many(connection, _statement(mapped, key, names), rows)
        self._rows.clear()


def changed_values(names: Sequence[str], new: Sequence[Any], old: Sequence[Any]) -> dict[str, Any]:
    """The new values that differ from the old ones, by the names of their columns."""
    if new == old:
        return {}
    return {name: value for name, value, before in zip(names, new, old, strict=True) if value != before}


@lru_cache(maxsize=256)
def _statement(mapped: type[Base], key: str, names: tuple[str, ...]) -> Update:
    table: Any = mapped.__table__
    statement = update(table).where(table.c[key] == bindparam("row"))
    return statement.values({name: bindparam(f"new_{name}") for name in names})
