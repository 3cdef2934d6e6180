"""Pages of people and of labels: a part of the name, an order, favourites only."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import Response, request
from marshmallow import Schema

from photosvc.core.errors import InvalidValueError
from photosvc.query.fold import fold
from photosvc.query.values.reader import BOOLEANS
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.overview.kept import Kept
from photosvc.search.reading.overview.people import Label, Person
from photosvc.search.reading.request import DEFAULT_COUNT, MAX_COUNT, parse_request
from photosvc.web.answer import ReadyResponse, cache_headers, is_fresh, json_answer
from photosvc.web.contract import TEXT, Header
from photosvc.web.protector import principal
from photosvc.web.searching import searching

PAGE_HEADERS: Final = {
    "X-Count": Header("integer", "Entries on this page."),
    "X-Limit": Header("integer", "The most entries that a page can have."),
    "X-Offset": Header("integer", "Entries before it."),
}
#: Orders of the lists: by name, the most frequent first, or favourites first.
_ORDERS: Final[dict[str, Callable[[Person | Label], Any]]] = {
    "name": lambda entry: fold(entry.name),
    "slug": lambda entry: fold(entry.name),
    "count": lambda entry: -entry.photo_count,
    "relevance": lambda entry: -entry.photo_count,
    "favorites": lambda entry: not entry.favorite,
}


def page_parameters() -> list[dict[str, Any]]:
    """The parameters of a list, as OpenAPI has them."""
    limits = {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": DEFAULT_COUNT}
    described: dict[str, tuple[dict[str, Any], str]] = {
        "count": (limits, "Entries on a page."),
        "offset": ({"type": "integer", "minimum": 0, "default": 0}, "Entries to skip."),
        "q": (TEXT, "Part of the name."),
        "favorite": ({"type": "boolean", "default": False}, "Favourites only."),
        "order": ({"type": "string", "enum": [*_ORDERS], "default": "name"}, "The order of the entries."),
    }
    return [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, (schema, description) in described.items()
    ]


def list_entries(name: str, kept: Kept[list[Any]], schema: Schema) -> Response:
    """A page of the entries that the caller may see.

    Raises:
        InvalidValueError: a parameter is not valid.

    """
    sees_private = principal().sees_private
    page = parse_request({name: request.args.get(name, "") for name in ("count", "offset")})
    wanted, order = fold(request.args.get("q", "")), request.args.get("order", "").strip().lower() or "name"
    favorite = BOOLEANS.get(request.args.get("favorite", "").strip().lower() or "false")
    if order not in _ORDERS:
        msg = f"order {order[:40]!r} is unknown: use one of {', '.join(_ORDERS)}"
        raise InvalidValueError(msg, field="order")
    if favorite is None:
        msg = "favorite is true or false"
        raise InvalidValueError(msg, field="favorite")
    with searching(principal().owner_uid) as connection:
        asked = (page.count, page.offset, wanted, order, favorite)
        etag = state_tag(connection, name, *asked, sees_private=sees_private)
        if is_fresh(etag):
            return ReadyResponse(status=304, headers=cache_headers(etag))
        every: Sequence[Any] = kept.read(connection, sees_private=sees_private)
    found = [entry for entry in every if wanted in fold(entry.name) and (entry.favorite or not favorite)]
    found = sorted(found, key=_ORDERS[order])[page.offset : page.offset + page.count]
    answer = json_answer([schema.dump(entry) for entry in found])
    answer.headers.extend(cache_headers(etag))
    for header, value in (("X-Count", len(found)), ("X-Limit", page.count), ("X-Offset", page.offset)):
        answer.headers[header] = str(value)
    return answer
