"""Entity tags: they change with the state of the library (RFC 9110 section 8.8.3)."""

import hashlib
from functools import lru_cache

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.engine import Dialect

from photosvc.models import PROJECTION_VERSION, STATE, LibraryState
from photosvc.models.prepared import Prepared, prepare_statement
from photosvc.query.canonical import canonical_text
from photosvc.search.reading.request import SearchRequest


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(connection: Connection, request: SearchRequest, *, sees_private: bool) -> str | None:
    """The entity tag of a page; None for a page in an order that was drawn for this request alone."""
    if not request.repeats:
        return None
    made_of = (
        canonical_text(request.node),
        request.album,
        request.order.name,
        request.seed,
        request.count,
        request.offset,
        str(request.cursor or ""),
        request.merged,
        request.total,
    )
    return state_tag(connection, *made_of, sees_private=sees_private)


def state_tag(connection: Connection, *made_of: object, sees_private: bool) -> str:
    """The entity tag of an answer made from the library's state, the right to private photos, and `made_of`."""
    ((state,),) = _state(connection.dialect).run(connection, {"name": STATE}) or [(0,)]
    text = repr((state, PROJECTION_VERSION, sees_private, *made_of))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
