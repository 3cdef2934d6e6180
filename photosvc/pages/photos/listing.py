"""The photos: a search field, and what it finds as a grid by day."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.credentials import link_tokens
from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.pages.forms import page_number
from photosvc.pages.layout import page, show
from photosvc.pages.photos.asked import DEFAULT_ORDER, Asked
from photosvc.pages.photos.chips import Chip, chips_of
from photosvc.pages.photos.first_screen import first_screen
from photosvc.pages.photos.grid_data import grid_data
from photosvc.pages.photos.scripts import GRID_SCRIPTS
from photosvc.pages.photos.tiles import Day, days_of
from photosvc.pages.photos.totals import totals_of
from photosvc.search.limits.errors import SearchTooLongError
from photosvc.search.reading.overview.photos import PhotoQuery
from photosvc.search.reading.paging.page import find
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching

#: Files on a page.
COUNT: Final = 120
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
    first: Mapping[str, Any] | None
    """The same photos for the scripts of the grid; None in orders that it does not have."""


def add_routes(pages: Blueprint) -> None:
    """Add the photos to the pages."""
    pages.add_url_rule("/", "photos", show_photos, methods=["GET"])


@page("photos.search")
def show_photos() -> Response:
    """The photos of a search, a page at a time."""
    return show_search("photos", orders=ORDERS)


def show_search(
    template: str,
    *,
    album: str = "",
    usual: str = DEFAULT_ORDER,
    rights: Collection[str] = (),
    **context: Any,  # noqa: ANN401
) -> Response:
    """The photos of the search that the request names.

    Args:
        template: the page.
        album: the UID of the album that is searched; empty: all photos.
        usual: the order when the request names none.
        rights: what those who may change albums may do with that one, as the scripts name it.
        context: further values of the template; `orders`, the keys and labels of orders to choose from.

    """
    query, order, seed = (request.args.get(name, "").strip() for name in ("q", "order", "seed"))
    search, number = Asked(query, order, seed, album, usual), page_number()
    found, message, status, chips = None, "", 200, list[Chip]()
    try:
        asked = parse_request(search.pairs(count=COUNT, offset=(number - 1) * COUNT))
        chips = chips_of(search.query)
        found = find_page(asked, principal())
        seed = str(asked.seed) if asked.order.base == "random" else ""
        search = replace(search, order=asked.order.name, seed=seed)
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    answer = show(
        template,
        status,
        search=search,
        query=search.query,
        order=search.order or usual,
        data=grid_data(principal(), search, of_album=rights),
        # A page that is asked for by its number is shown as it is.
        scripted="page" not in request.args,
        scripts=GRID_SCRIPTS,
        chips=chips,
        found=found,
        message=message,
        number=number,
        link=search.link,
        saves=may(principal(), "albums.create"),
        **context,
    )
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


def thumbnails(who: Principal) -> str:
    """The address of thumbnails that this principal may see, with `{}` for hash and size."""
    token = link_tokens.preview_token(current_service().settings, who)
    address = url_for("photosvc.thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=1)
    return address.replace("{", "{{").replace("}", "}}").replace("HASH", "{}").replace("SIZE", "{}")


def find_page(asked: SearchRequest, who: Principal) -> Found:
    """A page of this search, as this principal sees it."""
    with searching(who.owner_uid) as connection:
        found = find(connection, asked, sees_private=who.sees_private)
        records = [record for records in found.results() for record in records]
        totals = totals_of(connection, PhotoQuery(asked.node, asked.album, who.sees_private))
        behind = replace(asked, count=1, offset=asked.offset + asked.count)
        more = found.count == asked.count and find(connection, behind, sees_private=who.sees_private).count > 0
    days = days_of(records, thumbnails(who), by_day=asked.order.base in _BY_DAY)
    first = None
    if records and asked.order.name in _BY_DAY:
        first = first_screen(records, oldest_first=asked.order.name == "oldest")
    return Found(days, *totals, more=more, first=first)
