"""A page of results: select row ids in order, join the stored texts."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, select, tuple_
from sqlalchemy.orm import Session

from photosvc.models import SearchDocument, SearchRow
from photosvc.search.cursor import Cursor
from photosvc.search.request import SearchRequest


@dataclass(frozen=True, slots=True)
class Page:
    """One page: the answer's body and what its headers say (spec section 4.2)."""

    body: str
    """A JSON array of photo search results."""
    count: int
    limit: int
    offset: int
    next: Cursor | None
    """Where the next page begins; None when this one was not full."""


def visible(*, sees_private: bool) -> ColumnElement[bool]:
    """What a search may show: always the outer AND."""
    if sees_private:
        return and_(SearchRow.listed)
    return and_(SearchRow.listed, ~SearchRow.private)


def find(session: Session, request: SearchRequest, *, sees_private: bool) -> Page:
    """The page of files this request asks for."""
    rows = session.execute(_statement(request, sees_private=sees_private)).all()
    last = None
    if len(rows) == request.count:
        position = request.offset + len(rows)
        last = Cursor(request.order.name, request.seed, position, tuple(rows[-1][1:]))
    return Page(
        body="[" + ",".join([row[0] for row in rows]) + "]",
        count=len(rows),
        limit=request.count,
        offset=request.offset,
        next=last,
    )


def _statement(request: SearchRequest, *, sees_private: bool) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy 2.0 and 2.1 differ
    keys = request.order.columns(request.seed)
    page: Any = select(SearchRow.file_id, *(key.label(f"key{n}") for n, key in enumerate(keys)))
    page = page.where(visible(sees_private=sees_private))
    if request.primary:
        page = page.where(SearchRow.is_primary)
    if request.cursor:
        here, there = tuple_(*keys), tuple_(*request.cursor.values)
        page = page.where(here < there if request.order.falling else here > there)
    else:
        page = page.offset(request.offset)
    page = page.order_by(*(key.desc() if request.order.falling else key.asc() for key in keys))
    found = page.limit(request.count).subquery("page")
    # The rows come in order on SQLite already; the outer ORDER BY promises it on every database.
    outer = [found.c[f"key{n}"] for n in range(len(keys))]
    return (
        select(SearchDocument.result, *outer)
        .join(found, found.c.file_id == SearchDocument.file_id)
        .order_by(*(key.desc() if request.order.falling else key.asc() for key in outer))
    )
