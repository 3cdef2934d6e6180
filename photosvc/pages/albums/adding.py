"""Photos that another page hands over, to add to an album: for those who choose without scripts."""

from collections.abc import Sequence
from typing import Final

from flask import Blueprint, Response, request, url_for

from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import ALBUM, PHOTO, is_uid
from photosvc.library.album_photos import add_photos
from photosvc.pages.forms import chosen, read_form
from photosvc.pages.layout import page, see_other, show
from photosvc.search.reading.overview.albums import ALBUM as OF_PEOPLE
from photosvc.search.reading.overview.albums import AlbumsRequest
from photosvc.search.reading.selection import Selection
from photosvc.web.changes.albums import change_photos
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching

#: Photos that one page hands over.
MOST_PHOTOS: Final = 200
#: Albums to choose from, the last changed first.
_SHOWN: Final = 60
_ALL: Final = 1 << 31
_LONGEST: Final = 200


def add_routes(pages: Blueprint) -> None:
    """Add the page that adds photos to an album."""
    pages.add_url_rule("/albums/add", "choose_album", choose, methods=["GET"])
    pages.add_url_rule("/albums/add", "add_to_album", add, methods=["POST"])


@page("albums.update")
def choose() -> Response:
    """The albums to choose from."""
    return _choices(photos_in(request.args.getlist("photo")))


@page("albums.update")
def add() -> Response:
    """Add the photos, and lead to the album."""
    form = read_form()
    photos, album = photos_in(chosen("photo", MOST_PHOTOS)), form.get("album", "")
    try:
        _check(album)
        change_photos(album, Selection(photos=photos), add_photos)
    except (InvalidValueError, NotFoundError) as error:
        return _choices(photos, error)
    return see_other(url_for(".album", uid=album, done="added"))


def _check(album: str) -> None:
    if not is_uid(album, ALBUM):
        msg = "Choose an album."
        raise InvalidValueError(msg, field="album")


def photos_in(given: Sequence[str]) -> list[str]:
    """The UIDs of photos among these texts, each once."""
    return [uid for uid in dict.fromkeys(given) if is_uid(uid, PHOTO)][:MOST_PHOTOS]


def _choices(photos: Sequence[str], error: PhotosvcError | None = None) -> Response:
    who, text = principal(), request.args.get("q", "").strip().replace("\0", "")[:_LONGEST]
    if not photos:
        msg = "There are no photos to add."
        raise NotFoundError(msg)
    asked = AlbumsRequest(OF_PEOPLE, "edited", text, _ALL, 0)
    with searching(who.owner_uid) as connection:
        every = current_service().albums.page(connection, asked, sees_private=who.sees_private, counted=False)
    albums = [album for album in every if not album.filter]
    return show(
        "album-add",
        error.status if error else 200,
        photos=photos,
        text=text,
        albums=albums[:_SHOWN],
        more=max(len(albums) - _SHOWN, 0),
        error=error,
    )
