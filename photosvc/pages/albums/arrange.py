"""The page on which users remove and order the photos of an album; it works without scripts."""

from collections.abc import Sequence
from typing import Final

from flask import Response, request, url_for

from photosvc.auth.policy import decide
from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.library.album_photos import (
    add_photos,
    arrange_photos,
    keep_order,
    photos_taken_out,
    remove_photos,
)
from photosvc.library.albums import album_of_people, album_to_change, change_album
from photosvc.models import Album
from photosvc.pages.albums.listing import read_own_album, title_of
from photosvc.pages.forms import chosen, page_number, read_form
from photosvc.pages.grid import Tile, records_of, tile_of
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.search_state import SearchState
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.search.reading.albums import AlbumRecord
from photosvc.search.reading.request import ALBUM_ORDERS, MANUAL, parse_request
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
#: The most photos removed from a saved search that the page offers to restore, the last ones.
_MOST_AWAY: Final = 100
#: The actions on ticked photos, as values of the buttons.
_REMOVE, _ADD, _FIRST, _LAST = "remove", "add", "first", "last"
_ACTS: Final = frozenset({_REMOVE, _ADD, _FIRST, _LAST})
_DONE: Final = {
    _ADD: N_("Put back into the album."),
    _FIRST: N_("Moved to the beginning of the album."),
    _LAST: N_("Moved to the end of the album."),
    "moved": N_("Moved."),
}


@pages.get("/albums/<uid>/photos", endpoint="album_photos")
@page("photos.search")
@uses("albums.update")
def show_photos(uid: str) -> Response:
    """Show the photos in the order of the album."""
    decide(principal(), "albums.update")
    return _photos(uid)


@pages.post("/albums/<uid>/photos", endpoint="change_album_photos")
@page("photos.search")
@uses("albums.update")
def arrange(uid: str) -> Response:
    """Remove the ticked photos, put them back, or move them."""
    decide(principal(), "albums.update")
    form, photos = read_form(), chosen("photo", _MOST)
    act, before = form.get("act", ""), form.get("before", "")
    try:
        _arranging_check(photos, act, before)
        if act == _REMOVE:
            uids_by_id, gone = change_photos(uid, Selection(photos=photos), remove_photos)
            return _photos(uid, removed=[uids_by_id[photo_id] for photo_id in gone])
        if act == _ADD:
            change_photos(uid, Selection(photos=photos), add_photos)
        else:
            _move(uid, photos, before or None, last=act == _LAST)
    except (InvalidValueError, NotFoundError) as error:
        return _photos(uid, error=error, ticked=photos)
    anchor = photos[0] if before else None
    return see_other(url_for(".album_photos", uid=uid, page=page_number(), done=act or "moved", _anchor=anchor))


def _arranging_check(photos: Sequence[str], act: str, before: str) -> None:
    if not photos or not all(is_uid(photo, PHOTO) for photo in photos):
        raise InvalidValueError(N_("Select photos first."), field="photo")
    if act not in _ACTS and not before:
        raise InvalidValueError(N_("Choose an action for the selected photos."), field="act")


def _move(album_uid: str, photos: Sequence[str], before: str | None, *, last: bool) -> None:
    """Move photos before another one, to the beginning or to the end, in the order that the page shows.

    The order of the album becomes manual.
    """
    service, who = current_service(), principal()
    if before in photos:
        raise InvalidValueError(N_("Choose a place between photos that are not selected."), field="before")
    with service.writing(library=True) as session:
        album, now = album_to_change(session, album_uid, sees_private=who.sees_private), service.now()
        if not album.filter and album.order != MANUAL.name:
            album.order = _order(album)
            keep_order(session, album, service.today())
        try:
            arrange_photos(session, album, photos, before, now, last=last, sees_private=who.sees_private)
        except InvalidValueError as error:
            if album.filter:
                raise
            msg = N_("Somebody else removed some of these photos from the album. Nothing was moved.")
            raise InvalidValueError(msg, field=error.field) from None
        change_album(session, album, {"order": MANUAL.name}, now)


def _photos(
    uid: str, *, error: PhotosvcError | None = None, ticked: Sequence[str] = (), removed: Sequence[str] | None = None
) -> Response:
    number = page_number()
    album = read_own_album(uid)
    search = SearchState("", _order(album), "", album.uid)
    tiles = _tiles(search, count=COUNT + 1, offset=(number - 1) * COUNT)
    away = _taken_out(album.uid) if album.filter and number == 1 else []
    return show(
        "album-photos",
        error.status if error else 200,
        shown=album,
        title=title_of(album),
        tiles=tiles[:COUNT],
        away=away,
        number=number,
        more=len(tiles) > COUNT,
        link=lambda page: url_for(".album_photos", uid=uid, page=page or None),
        error=error,
        ticked=frozenset(ticked),
        removed=removed,
        done="" if error or removed is not None else _DONE.get(request.args.get("done", ""), ""),
    )


def _order(album: AlbumRecord | Album) -> str:
    """Return the order of the page: the order of the album, or oldest first if that is random."""
    return album.order if album.order in ALBUM_ORDERS and album.order != "random" else "oldest"


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
