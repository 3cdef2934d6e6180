"""The page of the photos: a search field, and its results as a grid by day.

The page names all scripts of the grid, so that browsers need not read one to learn of the next. It also contains its
photos for these scripts, in the form of `GET /photos/timeline/{month}` or, in other orders than by time, of
`GET /photos/sequence`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from flask import Response, request, url_for
from sqlalchemy import Connection, not_

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import SearchRow
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, see_other, show_kept
from photosvc.pages.tiles import (
    DEFAULT_ORDER,
    Asked,
    Chip,
    chips_of,
    grid_data,
    records_of,
    title_of,
    usual_order,
)
from photosvc.query.lexer import close_quote
from photosvc.query.nodes import Filter, conjunction
from photosvc.search.limits import SearchTooLongError
from photosvc.search.reading.hints import Hint, find_hints, may_have_hints
from photosvc.search.reading.photos import PhotoQuery, find_photos, version_of
from photosvc.search.reading.plan import ALL_ROWS
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.search.reading.suggest import read_names
from photosvc.search.reading.timeline import TYPES, count_photos
from photosvc.web.contract import for_visitors, uses
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching

#: The scripts of the grid by time, and in other orders: those that the first photos need, then the rest.
BY_TIME, IN_ORDER = (
    tuple(
        f"grid/{name}.js"
        for name in f"main {kind} list window api tile layouts span rows words icons beside "
        "tools scrubber selection actions line keys viewing suggest upload news".split()
    )
    for kind in ("timeline", "sequence")
)
Record = Mapping[str, Any]
_DIGITS = "0123456789abcdef"
_HIDDEN: Final = Filter("hidden", True)
#: The most files that a page contains for its scripts.
_COUNT: Final = 120
#: Orders in which photos of one day follow each other.
_BY_DAY: Final = frozenset({"newest", "oldest"})
ORDERS: Final = (
    ("newest", N_("Newest first")), ("oldest", N_("Oldest first")), ("added", N_("Last added")),
    ("edited", N_("Last edited")), ("relevance", N_("Best match")), ("title", N_("By title")),
    ("name", N_("By file name")), ("size", N_("Largest files")), ("duration", N_("Longest videos")),
    ("similar", N_("By colour and place")), ("random", N_("Shuffled")),
)  # fmt: skip


def first_screen(records: Iterable[Record], turns: Mapping[str, int], *, oldest_first: bool) -> dict[str, Any]:
    """Return columns and photos of these search results, which are sorted by time; `turns` as for `Thumbnails`.

    Searches sort by UTC, with photos without a date among the others. The timeline sorts by local days first, with
    photos without a date at its end, so these are left out here.
    """
    dated = sorted(filter(_month, records), key=_day, reverse=not oldest_first)
    months = [(name, list(of_month)) for name, of_month in groupby(dated, key=_month)]
    return {
        "months": [_month_columns(name, of_month) for name, of_month in months],
        "photos": [_photo(one, turns) for one in dated],
    }


def _month_columns(name: str, photos: Sequence[Record]) -> dict[str, Any]:
    days = [(day, len(list(same))) for day, same in groupby(max(photo["Day"], 0) for photo in photos)]
    return {"name": name, "days": days, **_columns(photos)}


def _columns(photos: Sequence[Record]) -> dict[str, Any]:
    return {
        "ratio": [_ratio(photo) for photo in photos],
        "color": "".join(_DIGITS[photo["Color"]] if 0 <= photo["Color"] < len(_DIGITS) else "0" for photo in photos),
        "type": "".join(str(TYPES.index(photo["Type"])) if photo["Type"] in TYPES else "0" for photo in photos),
    }


def _photo(record: Record, turns: Mapping[str, int]) -> tuple[Any, ...]:
    """Return UID, hash, duration, favorite, private, turn and text of a photo."""
    text = title_of(record) or record["Description"].strip()
    marks = int(bool(record["Favorite"])), int(bool(record["Private"]))
    return (record["UID"], record["Hash"], record.get("Duration", 0), *marks, turns.get(record["Hash"], 1), text[:200])


def _month(record: Record) -> str:
    """Return the month as the timeline writes it; empty when it is unknown."""
    known = record["Year"] > 0 and record["Month"] > 0
    return f"{record['Year']:04}-{record['Month']:02}" if known else ""


def _day(record: Record) -> tuple[int, int, int]:
    return record["Year"], record["Month"], max(record["Day"], 0)


def _ratio(record: Record) -> int:
    width, height = record["Width"], record["Height"]
    return (round(100 * width / height) or 100) if width > 0 and height > 0 else 100


class Totals(NamedTuple):
    """The numbers of photos of a search."""

    found: int
    hidden: int
    """Photos of low quality, which the search leaves out."""


def _count(connection: Connection, query: PhotoQuery) -> Totals:
    found = count_photos(connection, query)
    if not query.sees_private:
        return Totals(found, 0)
    further = replace(query, node=conjunction([query.node, _HIDDEN]))
    photos = find_photos(connection, further, rows_needed=ALL_ROWS)
    # No hidden photo is listed; with this condition, databases read only the index of unlisted photos.
    hidden = photos.select(photos.count).where(not_(SearchRow.listed))
    return Totals(found, connection.scalar(hidden) or 0)


@dataclass(frozen=True, slots=True)
class Found:
    """The first results of a search for its template."""

    total: int
    """The number of photos of the whole search."""
    hidden: int
    """The number of photos of low quality, which the search leaves out."""
    hints: Sequence[Hint]
    """If nothing was found: queries that find photos."""
    version: str
    """The version of the library; see `GET /photos/state`."""
    by_time: bool
    """True in the orders of the timeline."""
    first: Mapping[str, Any] | None
    """The first photos for the scripts of the grid, if there are any."""


@pages.get("/", endpoint="photos")
@page("photos.search")
@for_visitors
def show_photos() -> Response:
    """Show the photos of a search; lead guests to the albums that are shared with them."""
    if principal().shared is not None:
        return see_other(url_for(".shared_albums"))
    usual = usual_order(close_quote(request.args.get("q", "").strip()))
    # The first account leads to this once.
    offers = request.args.get("welcome") == "1" and may(principal(), "library.tidy")
    return show_search("photos", usual=usual, orders=ORDERS, offers_thumbnails=offers)


def show_search(
    template: str,
    *,
    album: str = "",
    usual: str = DEFAULT_ORDER,
    rights: Collection[str] = (),
    shelf: str = "",
    folder: str = "",
    **context: Any,  # noqa: ANN401
) -> Response:
    """Show the photos of the search that the request names.

    Args:
        album: the UID of the album that is searched; empty: all photos.
        usual: the order when the request names none.
        rights: the rights on this album of principals that may change albums, by their names in the scripts.
        shelf: the named page, one of `SHELVES`; empty: none.
        folder: the path of the folder of which this is the album; empty: none.
        context: further values of the template, among them `orders`: keys and labels of the orders to choose from.
    """
    query, order, seed = (request.args.get(name, "").strip() for name in ("q", "order", "seed"))
    search = Asked(close_quote(query), order, seed, album, usual, shelf, folder)
    found, message, status, chips = None, "", 200, list[Chip]()
    try:
        asked = parse_request(search.pairs(count=_COUNT), current_service().today())
        chips = chips_of(search.query)
        found = find_page(asked, principal(), hinted=() if shelf else search.pairs())
        seed = str(asked.seed) if asked.order.base == "random" else ""
        search = replace(search, order=asked.order.name, seed=seed)
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    return show_kept(
        template,
        status,
        search=search,
        query=search.query,
        order=search.order or usual,
        data=grid_data(principal(), search, of_album=rights),
        scripts=BY_TIME if found and found.by_time else IN_ORDER,
        chips=chips,
        found=found,
        message=message,
        link=search.link,
        filters=may(principal(), "photos.facets"),
        saves=may(principal(), "albums.create"),
        **context,
    )


def find_page(asked: SearchRequest, who: Principal, *, hinted: Sequence[tuple[str, str]] = ()) -> Found:
    """Find the first photos of a search for a principal; `hinted` has its parameters if an empty one gets hints."""
    hints: Sequence[Hint] = ()
    with searching(who.owner_uid) as connection:
        records, turns = records_of(connection, asked, sees_private=who.sees_private)
        query = PhotoQuery(asked.node, asked.album, who.sees_private, asked.today)
        totals = _count(connection, query)
        if may_have_hints(hinted) and not records:
            names = current_service().kept(read_names).read(connection, sees_private=who.sees_private)
            hints = find_hints(connection, hinted, names, sees_private=who.sees_private, today=asked.today)
        version = version_of(connection, sees_private=who.sees_private)
    by_time, first = asked.order.name in _BY_DAY, None
    if records and by_time:
        first = first_screen(records, turns, oldest_first=asked.order.name == "oldest")
    elif records:
        photos = [_photo(one, turns) for one in records]
        first = {"version": version, "total": totals.found, **_columns(records), "photos": photos}
    return Found(*totals, hints=hints, version=version, by_time=by_time, first=first)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The words of a named page."""

    title: str
    about: str
    nothing: str
    """The message when no photo is on it."""


_FAVORITES: Final = Shelf(
    N_("Favorites"),
    N_("Photos that somebody marked with the heart."),
    N_("There are no favorites yet. Mark a photo with the heart, and it is here, too."),
)
_ARCHIVE: Final = Shelf(
    N_("Archive"),
    N_("Photos that are kept, but left out of all searches and albums."),
    N_("The archive is empty. Archive a photo to keep it out of sight; restore it here."),
)
_REVIEW: Final = Shelf(
    N_("Review"),
    N_(
        "Photos that may not be worth keeping in sight, such as small pictures and screenshots. "
        "Approve or archive them."
    ),
    N_("There is nothing to review. Small pictures, screenshots, and photos without a date come here."),
)


@pages.get("/favorites", endpoint="favorites")
@page("photos.search")
def show_favorites() -> Response:
    """Show the favorites."""
    return _show("favorites", _FAVORITES)


@pages.get("/archive", endpoint="archive")
@page("photos.search")
@uses("trash.empty")
def show_archive() -> Response:
    """Show the archived photos."""
    return _show("archive", _ARCHIVE, trash=may(principal(), "trash.empty"))


@pages.get("/review", endpoint="review")
@page("photos.search")
def show_review() -> Response:
    """Show the photos in review."""
    return _show("review", _REVIEW)


def _show(name: str, shelf: Shelf, *, trash: bool = False) -> Response:
    return show_search("shelf", shelf=name, orders=ORDERS, named=shelf, trash=trash)
