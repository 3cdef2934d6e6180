"""The statement of the commonest search: a window of everything, in some order."""

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, select, tuple_
from sqlalchemy.engine import Dialect

from photosvc.models import SearchDocument, SearchRow
from photosvc.models.prepared import Prepared, prepare_statement
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.reading.orders import order_named


@lru_cache(maxsize=128)
def plain_window(
    order: str, dialect: Dialect, *, merged: bool, sees_private: bool, by_cursor: bool, with_results: bool
) -> Prepared:
    """The window of a search without conditions: `file_id`, the keys of the order and, if wanted, the stored results.

    Takes `count` and, by cursor, `key0`, `key1`… of the last row, else `offset`.
    """
    chosen = order_named(order, merged=merged)
    keys = chosen.columns(0)
    query: Any = select(SearchRow.file_id, *keys).where(visible(sees_private=sees_private))
    if with_results:
        query = query.add_columns(SearchDocument.result_head).join(
            SearchDocument, SearchDocument.file_id == SearchRow.file_id
        )
    if by_cursor:
        last = tuple_(*(bindparam(f"key{n}", type_=key.type) for n, key in enumerate(keys)))
        query = query.where(tuple_(*keys) < last if chosen.falling else tuple_(*keys) > last)
    else:
        query = query.offset(bindparam("offset", type_=SearchRow.newest_key.type))
    query = query.order_by(*(key.desc() if chosen.falling else key.asc() for key in keys))
    return prepare_statement(query.limit(bindparam("count", type_=SearchRow.newest_key.type)), dialect)
