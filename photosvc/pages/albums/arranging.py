"""The photos of an album, to remove and to put in order: by ticking them, also without scripts."""

from collections.abc import Sequence
from typing import Final

from flask import Blueprint, Response, request, url_for
from sqlalchemy.orm import Session

from photosvc.auth.policy import decide
from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.library.album_photos import add_photos, arrange_photos, photos_in_order, photos_taken_out, remove_photos
from photosvc.library.albums import album_of_people, album_to_change, change_album
from photosvc.models import Album
from photosvc.pages.albums.album import read_own_album
from photosvc.pages.albums.kinds import title_of
from photosvc.pages.forms import chosen, page_number, read_form
from photosvc.pages.layout import page, see_other, show
from photosvc.pages.photos.asked import Asked
from photosvc.pages.photos.listing import COUNT, Found, find_page
from photosvc.pages.photos.tiles import Tile
from photosvc.search.reading.orders import MANUAL
from photosvc.search.reading.request import parse_request
from photosvc.search.reading.selection import Selection
from photosvc.web.actions import uses
from photosvc.web.changes.albums import change_photos
from photosvc.web.current import current_service
from photosvc.web.protector import principal

#: More photos than a page shows.
_MOST: Final = 500
#: Photos taken out of a saved search that are offered to be put back, the last ones.
_MOST_AWAY: Final = 100
#: What is done with the ticked photos, by the value of the button.
_REMOVE, _ADD, _FIRST, _LAST = "remove", "add", "first", "last"
_ACTS: Final = frozenset({_REMOVE, _ADD, _FIRST, _LAST})
_DONE: Final = {
    _ADD: "They are in the album again.",
    _FIRST: "They are the first photos of the album now.",
    _LAST: "They are the last photos of the album now.",
    "moved": "They are moved.",
}


def add_routes(pages: Blueprint) -> None:
    """Add the page that arranges the photos of an album."""
    path = "/albums/<uid>/photos"
    pages.add_url_rule(path, "album_photos", show_photos, methods=["GET"])
    pages.add_url_rule(path, "change_album_photos", change, methods=["POST"])


@page("photos.search")
@uses("albums.update")
def show_photos(uid: str) -> Response:
    """The photos in the order by hand, or in that of a saved search."""
    decide(principal(), "albums.update")
    return _photos(uid)


@page("photos.search")
@uses("albums.update")
def change(uid: str) -> Response:
    """Remove the ticked photos, put them back, or move them."""
    decide(principal(), "albums.update")
    form, photos = read_form(), chosen("photo", _MOST)
    act, before = form.get("act", ""), form.get("before", "")
    try:
        _check(photos, act, before)
        if act == _REMOVE:
            found, gone = change_photos(uid, Selection(photos=photos), remove_photos)
            return _photos(uid, removed=[found[photo_id] for photo_id in gone])
        if act == _ADD:
            change_photos(uid, Selection(photos=photos), add_photos)
        else:
            _move(uid, photos, before or None, last=act == _LAST)
    except (InvalidValueError, NotFoundError) as error:
        return _photos(uid, error=error, ticked=photos)
    anchor = photos[0] if before else None
    return see_other(url_for(".album_photos", uid=uid, page=page_number(), done=act or "moved", _anchor=anchor))


def _check(photos: Sequence[str], act: str, before: str) -> None:
    if not photos or not all(is_uid(photo, PHOTO) for photo in photos):
        msg = "Tick photos first."
        raise InvalidValueError(msg, field="photo")
    if act not in _ACTS and not before:
        msg = "Choose what happens to the ticked photos."
        raise InvalidValueError(msg, field="act")


def _move(album_uid: str, photos: Sequence[str], before: str | None, *, last: bool) -> None:
    """Move photos before another one, to the beginning or to the end; the album is ordered by hand from now on."""
    service, who = current_service(), principal()
    if before in photos:
        msg = "Choose a place between photos that are not ticked."
        raise InvalidValueError(msg, field="before")
    with service.changing() as session:
        album, now = album_to_change(session, album_uid, sees_private=who.sees_private), service.now()
        try:
            arrange_photos(session, album, photos, before, now, sees_private=who.sees_private)
        except InvalidValueError as error:
            if album.filter:
                raise
            msg = "Somebody has removed some of these photos from the album meanwhile. Nothing was moved."
            raise InvalidValueError(msg, field=error.field) from None
        if last and (end := _last_but(session, album, photos)) is not None:
            arrange_photos(session, album, photos, end, now, sees_private=who.sees_private)
            arrange_photos(session, album, [end], photos[0], now, sees_private=who.sees_private)
        change_album(session, album, {"order": MANUAL.name}, now)


def _last_but(session: Session, album: Album, photos: Sequence[str]) -> str | None:
    """The last photo of an album but these; None when there is none."""
    chosen_, who = set(photos), principal()
    rest = [uid for uid in photos_in_order(session, album, sees_private=who.sees_private) if uid not in chosen_]
    return rest[-1] if rest else None


def _photos(
    uid: str, *, error: PhotosvcError | None = None, ticked: Sequence[str] = (), removed: Sequence[str] | None = None
) -> Response:
    who, number = principal(), page_number()
    album = read_own_album(uid)
    order = (album.order if album.order != "random" else "oldest") if album.filter else MANUAL.name
    search = Asked("", order, "", album.uid)
    asked = parse_request(search.pairs(count=COUNT, offset=(number - 1) * COUNT, total="true"))
    found = find_page(asked, who)
    away = _taken_out(album.uid) if album.filter and number == 1 else []
    return show(
        "album-photos",
        error.status if error else 200,
        shown=album,
        title=title_of(album),
        tiles=_tiles(found),
        away=away,
        search=search,
        found=found,
        number=number,
        error=error,
        ticked=frozenset(ticked),
        removed=removed,
        done="" if error or removed is not None else _DONE.get(request.args.get("done", ""), ""),
    )


def _tiles(found: Found) -> list[Tile]:
    return [tile for day in found.days for tile in day.tiles]


def _taken_out(uid: str) -> list[Tile]:
    """The photos that the search of a saved search finds, but the album no longer shows."""
    who = principal()
    with current_service().loading() as session:
        album = album_of_people(session, uid, sees_private=who.sees_private)
        uids = photos_taken_out(session, album, most=_MOST_AWAY, sees_private=who.sees_private)
    if not uids:
        return []
    asked = Asked(f"uid:{'|'.join(uids)}", "newest", "")
    return _tiles(find_page(parse_request(asked.pairs(count=_MOST)), who))
