"""The windows of searches without conditions, by statements that are compiled once."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, select, tuple_
from sqlalchemy.engine import Dialect

from photosvc.models import SearchDocument, SearchRow
from photosvc.models.database.prepared import Prepared, prepare_statement
from photosvc.models.database.unindexed import Column
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.reading.orders import Order, order_named


def plain_query(order: Order, *, sees_private: bool, by_cursor: bool, with_results: bool) -> Any:  # noqa: ANN401
    """The SELECT of a search without conditions: `file_id`, the keys of the order and, if wanted, the result heads.

    Takes `count` and, by cursor, `key0`, `key1`… of the last row, else `offset`.
    """
    keys = order.columns(0)
    query: Any = select(SearchRow.file_id, *keys).where(visible(sees_private=sees_private))
    if with_results:
        query = query.add_columns(SearchDocument.result_head).join(
            SearchDocument, SearchDocument.file_id == SearchRow.file_id
        )
    if by_cursor:
        last = tuple_(*(bindparam(f"key{n}", type_=key.type) for n, key in enumerate(keys)))
        query = query.where(tuple_(*keys) < last if order.falling else tuple_(*keys) > last)
    else:
        query = query.offset(bindparam("offset", type_=SearchRow.newest_key.type))
    return in_order(query, order, keys).limit(bindparam("count", type_=SearchRow.newest_key.type))


@lru_cache(maxsize=128)
def plain_statement(
    order: str, dialect: Dialect, *, merged: bool, sees_private: bool, by_cursor: bool, with_results: bool
) -> Prepared:
    """`plain_query` for the order of this name, compiled for a dialect."""
    chosen = order_named(order, merged=merged)
    query = plain_query(chosen, sees_private=sees_private, by_cursor=by_cursor, with_results=with_results)
    return prepare_statement(query, dialect)


def in_order(query: Any, order: Order, keys: Sequence[Column]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The query, sorted by these keys in the direction of the order."""
    return query.order_by(*(key.desc() if order.falling else key.asc() for key in keys))
