"""The page on which users take photos out of the album of a saved search, and put them back, also without scripts."""

from collections.abc import Sequence
from typing import Final

from flask import Response, request, url_for

from photosvc.auth.policy import decide
from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.library.album_photos import add_photos, photos_taken_out, remove_photos
from photosvc.library.albums import album_of_people
from photosvc.pages.albums.listing import read_own_album, title_of
from photosvc.pages.forms import chosen, page_number, read_form
from photosvc.pages.grid import Tile, records_of, tile_of
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.search_state import SearchState
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.search.reading.request import ALBUM_ORDERS, parse_request
from photosvc.search.reading.selection import Selection
from photosvc.web.changes import change_photos
from photosvc.web.contract import uses
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: The most photos on a page.
COUNT: Final = 120
#: The most ticked photos: more than a page shows.
_MOST: Final = 500
#: The most photos that the page offers to put back, the last ones.
_MOST_AWAY: Final = 100
#: The actions on ticked photos, as values of the buttons.
_REMOVE, _ADD = "remove", "add"
_DONE: Final = {_ADD: N_("Put back into the album.")}


@pages.get("/albums/<uid>/photos", endpoint="album_photos")
@page("photos.search")
@uses("albums.update")
def show_photos(uid: str) -> Response:
    """Show the photos in the order of the album; an album of chosen photos is changed where it is shown."""
    decide(principal(), "albums.update")
    return _photos(uid)


@pages.post("/albums/<uid>/photos", endpoint="change_album_photos")
@page("photos.search")
@uses("albums.update")
def change(uid: str) -> Response:
    """Take the ticked photos out, or put them back."""
    decide(principal(), "albums.update")
    form, photos = read_form(), chosen("photo", _MOST)
    act = form.get("act", "")
    try:
        _check(photos, act)
        if act == _REMOVE:
            uids_by_id, gone = change_photos(uid, Selection(photos=photos), remove_photos)
            return _photos(uid, removed=[uids_by_id[photo_id] for photo_id in gone])
        change_photos(uid, Selection(photos=photos), add_photos)
    except (InvalidValueError, NotFoundError) as error:
        return _photos(uid, error=error, ticked=photos)
    return see_other(url_for(".album_photos", uid=uid, page=page_number(), done=act))


def _check(photos: Sequence[str], act: str) -> None:
    if not photos or not all(is_uid(photo, PHOTO) for photo in photos):
        raise InvalidValueError(N_("Select photos first."), field="photo")
    if act not in {_REMOVE, _ADD}:
        raise InvalidValueError(N_("Choose an action for the selected photos."), field="act")


def _photos(
    uid: str, *, error: PhotosvcError | None = None, ticked: Sequence[str] = (), removed: Sequence[str] | None = None
) -> Response:
    number = page_number()
    album = read_own_album(uid)
    if not album.filter:
        return see_other(url_for(".album", uid=uid))
    order = album.order if album.order in ALBUM_ORDERS and album.order != "random" else "oldest"
    tiles = _tiles(SearchState("", order, "", album.uid), count=COUNT + 1, offset=(number - 1) * COUNT)
    return show(
        "album-photos",
        error.status if error else 200,
        shown=album,
        title=title_of(album),
        tiles=tiles[:COUNT],
        away=_taken_out(album.uid) if number == 1 else [],
        number=number,
        more=len(tiles) > COUNT,
        link=lambda page: url_for(".album_photos", uid=uid, page=page or None),
        error=error,
        ticked=frozenset(ticked),
        removed=removed,
        done="" if error or removed is not None else _DONE.get(request.args.get("done", ""), ""),
    )


def _tiles(search: SearchState, **page: int) -> list[Tile]:
    who = principal()
    search_request = parse_request(search.pairs(merged="", primary="true", **page), current_service().today())
    with searching(who.owner_uid) as connection:
        records, turns = records_of(connection, search_request, sees_private=who.sees_private)
    thumbs = ThumbnailAddresses(who, turns)
    return [tile_of(record, thumbs) for record in records]


def _taken_out(uid: str) -> list[Tile]:
    """Return the photos that match a saved search but were removed from its album."""
    who = principal()
    with current_service().reading(orm=True) as session:
        album = album_of_people(session, uid, sees_private=who.sees_private)
        uids = photos_taken_out(session, album, most=_MOST_AWAY, sees_private=who.sees_private)
    if not uids:
        return []
    return _tiles(SearchState(f"uid:{'|'.join(uids)}", "newest", ""), count=_MOST_AWAY)
