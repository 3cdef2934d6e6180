"""A new album: of chosen photos, of those that a search finds now, or of those that it finds at any time."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.library.album_photos import add_photos, select_photos
from photosvc.library.albums import make_album
from photosvc.models.database.transactions import session_on
from photosvc.pages.albums.adding import MOST_PHOTOS, photos_in
from photosvc.pages.albums.values import AlbumForm, given_values, load, order_choices, read_album_form, refused
from photosvc.pages.forms import chosen
from photosvc.pages.layout import page, see_other, show
from photosvc.query.parser import parse_query, split_order
from photosvc.query.values.areas import locate
from photosvc.search.limits.errors import SearchEndedError
from photosvc.search.reading.selection import Selection
from photosvc.web.changes.albums import change_selected
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching

#: What the album holds, by the value of the form.
CHOSEN, FOUND, FOLLOWING = "chosen", "found", "following"
_KINDS: Final = {
    CHOSEN: ("Photos that I choose", "It is empty until you add some."),
    FOUND: ("What a search finds now", "Those photos are put into it once; you add and remove others."),
    FOLLOWING: ("A saved search", "Always what the search finds, also photos that come later."),
}
_LONGEST_QUERY: Final = 4096


def add_routes(pages: Blueprint) -> None:
    """Add the page that makes albums."""
    pages.add_url_rule("/albums/new", view_func=new_album, methods=["GET"])
    pages.add_url_rule("/albums/new", "make_album", make, methods=["POST"])


@page("albums.create")
def new_album() -> Response:
    """The form, with the search or the photos of the page that led here."""
    order, query = "", request.args.get("q", "").strip()[:_LONGEST_QUERY]
    with suppress(InvalidValueError):  # the form tells
        query, order = split_order(query)
    query = query.strip()
    if is_uid(album := request.args.get("s", ""), ALBUM):
        query = f"album:{album} ({query})" if query else f"album:{album}"
    values = {"Title": "", "Description": "", "Filter": query, "Order": order or "oldest"}
    return _form(AlbumForm(values), FOLLOWING if query else CHOSEN, photos_in(request.args.getlist("photo")))


@page("albums.create")
def make() -> Response:
    """Make the album, and lead to it."""
    form = read_album_form()
    values, kind = given_values(form), form.get("kind", "")
    photos = photos_in(chosen("photo", MOST_PHOTOS))
    try:
        uid = _make(values, kind if kind in _KINDS else CHOSEN, photos)
    except (InvalidValueError, ConflictError, SearchEndedError) as error:
        return _form(refused(values, error), kind, photos)
    return see_other(url_for(".album", uid=uid, done="made"))


def _make(values: dict[str, Any], kind: str, photos: Sequence[str]) -> str:
    """Make the album; gives its UID."""
    service, query = current_service(), values["Filter"].strip()
    if kind != CHOSEN and not query:
        msg = "Type a search."
        raise InvalidValueError(msg, field="Filter")
    loaded = load({**values, "Filter": query if kind == FOLLOWING else ""})
    if not loaded["title"]:
        msg = "An album needs a title."
        raise InvalidValueError(msg, field="Title")
    ids: list[int] = []
    if kind == FOUND:
        locate(parse_query(query, "Filter"))
        ids = _found(Selection(query=query), "Filter", "The search finds no photos now.")
    elif photos and kind == CHOSEN:
        ids = _found(Selection(photos=photos), "", "The photos are no longer in the library.")
    with service.changing() as session:
        uid = make_album(session, loaded, service.now()).uid
    change_selected(uid, ids, add_photos)
    return uid


def _found(selection: Selection, field: str, nothing: str) -> list[int]:
    """The ids of the photos that are selected; errors are about `field`, and say `nothing` where there are none."""
    who = principal()
    try:
        with searching(who.owner_uid, field) as connection, session_on(connection) as session:
            return list(select_photos(session, selection, sees_private=who.sees_private))
    except NotFoundError:
        raise InvalidValueError(nothing, field=field) from None
    except InvalidValueError as error:  # it names what is selected
        raise InvalidValueError(error.message, field=field) from None


def _form(form: AlbumForm, kind: str, photos: Sequence[str]) -> Response:
    return show(
        "album-new",
        form.status,
        form=form,
        chosen_kind=kind,
        kinds=[] if photos else _KINDS.items(),
        photos=photos,
        orders=order_choices(by_hand=True),
    )
