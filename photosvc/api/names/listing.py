"""Pages of people and of labels: a part of the name, an order, favourites only."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import Response, request
from marshmallow import Schema

from photosvc.core.errors import InvalidValueError
from photosvc.query.fold import fold
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.overview.kept import Kept
from photosvc.search.reading.overview.people import Label, Person
from photosvc.web.answers.answer import is_fresh, json_answer, not_modified
from photosvc.web.answers.paging import page_headers, page_parameters, read_page
from photosvc.web.contract import TEXT
from photosvc.web.protector import principal
from photosvc.web.requests.parameters import describe, read_switch
from photosvc.web.searches.searching import searching

PAGE_HEADERS: Final = page_headers("entries")
#: Orders of the lists: by name, the most frequent first, or favourites first.
_ORDERS: Final[dict[str, Callable[[Person | Label], Any]]] = {
    "name": lambda entry: fold(entry.name),
    "slug": lambda entry: fold(entry.name),
    "count": lambda entry: -entry.photo_count,
    "relevance": lambda entry: -entry.photo_count,
    "favorites": lambda entry: not entry.favorite,
}


def list_parameters() -> list[dict[str, Any]]:
    """The parameters of a list, as OpenAPI has them."""
    described = {
        **page_parameters("entries"),
        "q": (TEXT, "Part of the name."),
        "favorite": ({"type": "boolean", "default": False}, "Favourites only."),
        "order": ({"type": "string", "enum": [*_ORDERS], "default": "name"}, "The order of the entries."),
    }
    return describe(described)


def list_entries(name: str, kept: Kept[list[Any]], schema: Schema) -> Response:
    """A page of the entries that the caller may see.

    Raises:
        InvalidValueError: a parameter is not valid.

    """
    sees_private = principal().sees_private
    page = read_page()
    wanted, order = fold(request.args.get("q", "")), request.args.get("order", "").strip().lower() or "name"
    if order not in _ORDERS:
        msg = f"order {order[:40]!r} is unknown: use one of {', '.join(_ORDERS)}"
        raise InvalidValueError(msg, field="order")
    favorite = read_switch("favorite")
    with searching(principal().owner_uid) as connection:
        asked = (page.count, page.offset, wanted, order, favorite)
        etag = state_tag(connection, name, *asked, sees_private=sees_private)
        if is_fresh(etag):
            return not_modified(etag)
        every: Sequence[Any] = kept.read(connection, sees_private=sees_private)
    found = [entry for entry in every if wanted in fold(entry.name) and (entry.favorite or not favorite)]
    found = sorted(found, key=_ORDERS[order])[page.offset : page.offset + page.count]
    return page.answer(json_answer([schema.dump(entry) for entry in found], etag=etag), len(found))
