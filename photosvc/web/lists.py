"""Lists of labels and people: their parameters, orders, and pages."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import Response, request
from marshmallow import Schema

from photosvc.core.errors import InvalidValueError
from photosvc.query.fold import fold
from photosvc.search.reading.library import CachedValue, state_tag
from photosvc.search.reading.people import Label, Person
from photosvc.web.contract import (
    TEXT,
    describe,
    read_switch,
)
from photosvc.web.links import LINK_HEADERS, link_headers
from photosvc.web.paging import page_headers, page_parameters, read_page
from photosvc.web.protector import principal
from photosvc.web.responses import cached_answer, require_modified
from photosvc.web.searching import searching
from photosvc.web.service import current_service

PAGE_HEADERS: Final = {**page_headers("entries"), **LINK_HEADERS}
#: Orders of the lists: by name, the most frequent, the newest, or favourites first.
_ORDERS: Final[dict[str, Callable[[Person | Label], Any]]] = {
    "name": lambda entry: fold(entry.name),
    "slug": lambda entry: fold(entry.name),
    "count": lambda entry: -entry.photo_count,
    "relevance": lambda entry: -entry.photo_count,
    "added": lambda entry: -entry.added,
    "favorites": lambda entry: not entry.favorite,
}


def list_parameters(**more: tuple[dict[str, Any], str]) -> list[dict[str, Any]]:
    """Return the parameters of a list, followed by these further ones, as OpenAPI has them."""
    described = {
        **page_parameters("entries"),
        "q": (TEXT, "Part of the name."),
        "favorite": ({"type": "boolean", "default": False}, "Favourites only."),
        "order": ({"type": "string", "enum": [*_ORDERS], "default": "name"}, "The order of the entries."),
        **more,
    }
    return describe(described)


def list_entries(
    name: str,
    kept: CachedValue[list[Any]],
    schema: Schema,
    with_covers: Callable[..., list[Any]],
    *,
    hidden: bool | None = None,
) -> Response:
    """Answer with a page of the entries that the caller may see.

    Args:
        name: the name of the list, for its entity tag.
        kept: all entries.
        schema: the form of the answer.
        with_covers: returns entries with the hashes of their covers.
        hidden: whether hidden entries are listed, or the others; None if none can be hidden.

    Raises:
        InvalidValueError: a parameter is not valid.
    """
    sees_private, headers = principal().sees_private, link_headers()
    page = read_page()
    typed, order = fold(request.args.get("q", "")), request.args.get("order", "").strip().lower() or "name"
    if order not in _ORDERS:
        raise InvalidValueError(f"order {order[:40]!r} is unknown: use one of {', '.join(_ORDERS)}", field="order")
    favorite = read_switch("favorite")
    with searching(principal().owner_uid) as connection:
        parameters = (page.count, page.offset, typed, order, favorite, hidden)
        etag = state_tag(connection, name, *parameters, sees_private=sees_private, today=current_service().today())
        require_modified(etag, headers)
        entries: Sequence[Any] = kept.read(connection, sees_private=sees_private)
        if hidden is not None:
            entries = [entry for entry in entries if entry.hidden == hidden]
        entries = [entry for entry in entries if typed in fold(entry.name) and (entry.favorite or not favorite)]
        entries = sorted(entries, key=_ORDERS[order])[page.offset : page.offset + page.count]
        entries = with_covers(connection, entries, sees_private=sees_private)
    answer = cached_answer([schema.dump(entry) for entry in entries], etag)
    answer.headers.extend(headers)
    return page.answer(answer, len(entries))
