"""The photos: a search field, and what it finds as a grid by day."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request, url_for

from photosvc.auth.credentials import link_tokens
from photosvc.auth.principal import Principal
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.pages.layout import page, show
from photosvc.pages.photos.chips import Chip, chips_of
from photosvc.pages.photos.grid_data import grid_data
from photosvc.pages.photos.tiles import Day, days_of
from photosvc.query.nodes import Filter, conjunction
from photosvc.search.limits.errors import SearchTooLongError
from photosvc.search.reading.overview.photos import PhotoQuery, find_photos
from photosvc.search.reading.page import find
from photosvc.search.reading.planning.plan import ALL_ROWS
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching

#: Files on a page.
COUNT: Final = 120
_LAST_PAGE: Final = 10**7
DEFAULT_ORDER: Final = "newest"
#: Orders in which photos of one day follow each other.
_BY_DAY: Final = frozenset({"newest", "oldest"})
ORDERS: Final = (
    ("newest", "Newest first"),
    ("oldest", "Oldest first"),
    ("added", "Last added"),
    ("edited", "Last edited"),
    ("relevance", "Best match"),
    ("title", "By title"),
    ("name", "By file name"),
    ("size", "Largest files"),
    ("duration", "Longest videos"),
    ("similar", "By colour and place"),
    ("random", "Shuffled"),
)
_HIDDEN: Final = Filter("hidden", True)


@dataclass(frozen=True, slots=True)
class Found:
    """A page of a search, as its template shows it."""

    days: list[Day]
    total: int
    """Photos of the whole search."""
    hidden: int
    """The number of further photos that it would find, of low quality."""
    more: bool
    """Whether there is a page behind this one."""


def add_routes(pages: Blueprint) -> None:
    """Add the photos to the pages."""
    pages.add_url_rule("/", "photos", show_photos, methods=["GET"])


@page("photos.search")
def show_photos() -> Response:
    """The photos of a search, a page at a time."""
    query, order = request.args.get("q", "").strip(), request.args.get("order", "").strip()
    number, seed = _page_number(request.args.get("page", "")), request.args.get("seed", "").strip()
    found, message, status, chips = None, "", 200, list[Chip]()
    try:
        asked = parse_request(search_pairs(query, order, seed, count=COUNT, offset=(number - 1) * COUNT, total="true"))
        chips = chips_of(query)
        found = _find(asked, principal())
        order, seed = asked.order.name, str(asked.seed) if asked.order.base == "random" else ""
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    search = where(query, order, seed)
    answer = show(
        "photos",
        status,
        query=query,
        data=grid_data(principal(), query, order or DEFAULT_ORDER, search),
        order=order or DEFAULT_ORDER,
        orders=ORDERS,
        chips=chips,
        found=found,
        message=message,
        number=number,
        where=search,
        link=lambda **changes: link(query, order, seed, **changes),
    )
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


def search_pairs(query: str, order: str, seed: str, **more: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
    """The parameters of a search as the API has them; without an order, that of the query, or the newest first."""
    given = {"q": query, "order": order or _own_order(query), "seed": seed, "merged": "true", **more}
    return tuple((name, str(value)) for name, value in given.items())


def link(query: str, order: str, seed: str, **changes: object) -> str:
    """The address of the photos with another page, query or order."""
    asked = {"q": query, "order": order, "seed": seed, **{name: str(value) for name, value in changes.items()}}
    if "q" in changes or "order" in changes:
        asked["seed"] = ""
    if asked["order"] == DEFAULT_ORDER:
        asked["order"] = ""
    text = urlencode({name: value for name, value in asked.items() if value})
    return url_for(".photos") + (f"?{text}" if text else "")


def where(query: str, order: str, seed: str) -> str:
    """The search as the query string of a photo's page, which leads to the next ones and back."""
    pairs = {"q": query, "order": "" if order == DEFAULT_ORDER else order, "seed": seed}
    text = urlencode({name: value for name, value in pairs.items() if value})
    return f"?{text}" if text else ""


def thumbnails(who: Principal) -> str:
    """The address of thumbnails that this principal may see, with `{}` for hash and size."""
    token = link_tokens.preview_token(current_service().settings, who)
    address = url_for("photosvc.thumbnail", content_hash="HASH", token=token, size="SIZE")
    return address.replace("{", "{{").replace("}", "}}").replace("HASH", "{}").replace("SIZE", "{}")


def _find(asked: SearchRequest, who: Principal) -> Found:
    with searching(who.owner_uid) as connection:
        found = find(connection, asked, sees_private=who.sees_private)
        records = [record for records in found.results() for record in records]
        query = PhotoQuery(asked.node, asked.album, who.sees_private)
        photos = find_photos(connection, query, rows_needed=ALL_ROWS)
        total = connection.scalar(photos.select(photos.count)) or 0
        hidden = 0
        if who.sees_private:
            without = find_photos(
                connection, PhotoQuery(conjunction([asked.node, _HIDDEN]), asked.album, True), rows_needed=ALL_ROWS
            )
            hidden = connection.scalar(without.select(without.count)) or 0
    days = days_of(records, thumbnails(who), by_day=asked.order.base in _BY_DAY)
    return Found(days, total, hidden, more=asked.offset + found.count < (found.total or 0))


def _own_order(query: str) -> str:
    """The order of the page, unless the query names one."""
    return "" if "order:" in query.lower() else DEFAULT_ORDER


def _page_number(text: str) -> int:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and 0 < len(digits) < 8 and int(digits) else 1
