"""The pages of photos: a search with its results as a grid, named searches, the address of a photo, and uploads.

A page names all scripts of its grid, so that browsers load them at once. It also contains the first photos, in the form
of `GET /photos/timeline/months/{month}` or, in orders other than by time, of `GET /photos/sequence`.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from flask import Response, request, url_for
from sqlalchemy import Connection, not_

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import SearchRow
from photosvc.pages.grid import first_months, first_positions, grid_data, records_of
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, public_page, see_other, show, show_cacheable
from photosvc.pages.search_state import (
    DEFAULT_ORDER,
    Chip,
    SearchState,
    asked_query,
    read_chips,
    read_search,
    usual_order,
)
from photosvc.query.nodes import Filter, conjunction
from photosvc.search.limits import SearchEndedError, SearchTooLongError
from photosvc.search.reading.files import files_of_photo
from photosvc.search.reading.hints import Hint, find_hints, may_have_hints
from photosvc.search.reading.library import version_of
from photosvc.search.reading.pages import neighbours
from photosvc.search.reading.photos import PhotoQuery, find_photos
from photosvc.search.reading.plan import ALL_ROWS
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.search.reading.suggest import read_names
from photosvc.search.reading.timeline import count_photos
from photosvc.web.contract import for_visitors, uses
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: The scripts of the grid by time, and in other orders. Scripts that the first photos need come first.
BY_TIME, IN_ORDER = (
    tuple(
        f"grid/{name}.js"
        for name in f"main {kind} list window api tile layouts span rows words elements beside "
        "tools scrubber selection actions line keys viewing library suggest upload news".split()
    )
    for kind in ("timeline", "sequence")
)
#: Those of pages that show the library, not one album to visitors.
OF_LIBRARY: Final = tuple(f"grid/{name}.js" for name in ("library", "suggest", "upload", "news"))
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
class FirstResults:
    """The first results of a search for its template."""

    total: int
    """The number of photos of the whole search."""
    hidden: int
    """The number of photos of low quality, which the search leaves out."""
    hints: Sequence[Hint]
    """Queries that match photos, if this search matches none."""
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
    usual = usual_order(asked_query(request.args))
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
    order, seed = (request.args.get(name, "").strip() for name in ("order", "seed"))
    search = SearchState(asked_query(request.args), order, seed, album, usual, shelf, folder)
    found, message, status, chips, typed = None, "", 200, list[Chip](), search.query
    try:
        search_request = parse_request(search.pairs(count=_COUNT), current_service().today())
        chips, typed = read_chips(search.query)
        found = find_page(search_request, principal(), hinted=() if shelf else search.pairs())
        seed = str(search_request.seed) if search_request.order.base == "random" else ""
        search = replace(search, order=search_request.order.name, seed=seed)
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    return show_cacheable(
        template,
        status,
        search=search,
        query=search.query,
        order=search.order or usual,
        data=grid_data(principal(), search, of_album=rights),
        scripts=BY_TIME if found and found.by_time else IN_ORDER,
        chips=chips,
        typed=typed,
        found=found,
        message=message,
        link=search.link,
        filters=may(principal(), "photos.facets"),
        saves=may(principal(), "albums.create"),
        **context,
    )


def find_page(search_request: SearchRequest, who: Principal, *, hinted: Sequence[tuple[str, str]] = ()) -> FirstResults:
    """Find the first photos of a search for a principal; `hinted` has its parameters if an empty one gets hints."""
    hints: Sequence[Hint] = ()
    with searching(who.owner_uid) as connection:
        records, turns = records_of(connection, search_request, sees_private=who.sees_private)
        query = PhotoQuery(search_request.node, search_request.album, who.sees_private, search_request.today)
        totals = _count(connection, query)
        if may_have_hints(hinted) and not records:
            names = current_service().cached(read_names).read(connection, sees_private=who.sees_private)
            hints = find_hints(connection, hinted, names, sees_private=who.sees_private, today=search_request.today)
        version = version_of(connection, sees_private=who.sees_private)
    by_time, first = search_request.order.name in _BY_DAY, None
    if records and by_time:
        first = first_months(records, turns, oldest_first=search_request.order.name == "oldest")
    elif records:
        first = first_positions(records, turns, version=version, total=totals.found)
    return FirstResults(*totals, hints=hints, version=version, by_time=by_time, first=first)


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


@pages.get("/photos/<uid>", endpoint="photo")
@page("photos.view")
def show_photo(uid: str) -> Response:
    """Lead to a photo in the search that `q`, `s` and `order` name; to it alone if they do not find it."""
    who = principal()
    with current_service().reading() as connection:
        seen = files_of_photo(connection, uid, sees_private=who.sees_private)
    if not seen:
        raise NotFoundError(N_("This photo does not exist, or you have no permission to see it."))
    alone = (SearchState(f"uid:{uid}{more}", DEFAULT_ORDER, "") for more in (" archived:true", " hidden:true"))
    searches = (read_search(request.args), *alone)
    found = (search for search in searches if _finds(search, seen[0].photo_id))
    return show_cacheable("photo", uid=uid, grid=next(found, SearchState(f"uid:{uid}", DEFAULT_ORDER, "")).link())


def _finds(search: SearchState, photo_id: int) -> bool:
    """Return whether a search finds a photo; False if the search is not valid or takes too long."""
    who = principal()
    with suppress(InvalidValueError, NotFoundError, SearchEndedError):
        search_request = parse_request(search.pairs(), current_service().today())
        with searching(who.owner_uid) as connection:
            return neighbours(connection, search_request, photo_id, sees_private=who.sees_private) is not None
    return False


@pages.get("/upload", endpoint="upload")
@page("files.upload")
def show_upload() -> Response:
    """Show the field for files, and files that another app shared."""
    data, readonly = grid_data(principal(), SearchState("", "", "")), current_service().settings.readonly
    return show("upload", data=data, readonly=readonly, shared=request.args.get("shared", ""))


@pages.post("/upload/shared")
@public_page
def share_files() -> Response:
    """Lead to the upload page without the shared files: only the service worker of the pages can take files."""
    return see_other(url_for(".upload", shared="none"))
