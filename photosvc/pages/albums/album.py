"""One album: its photos, with the search field and the grid of all photos."""

from typing import Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.policy import decide, may
from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.library.albums import album_of_people
from photosvc.pages.albums.kinds import KINDS, subtitle_of, title_of
from photosvc.pages.albums.values import order_choices
from photosvc.pages.forms import read_form
from photosvc.pages.layout import page, see_other
from photosvc.pages.photos.listing import show_search
from photosvc.search.reading.orders import ALBUM_ORDERS
from photosvc.search.reading.overview.albums import ALBUM, AlbumRecord
from photosvc.web.actions import uses
from photosvc.web.changes.albums import change_values
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching

_DONE: Final = {
    "made": "The album is made.",
    "added": "It is in the album.",
    "saved": "The album is saved.",
    "restored": "The album is back.",
}


def add_routes(pages: Blueprint) -> None:
    """Add the pages of albums."""
    pages.add_url_rule("/albums/<uid>", "album", show_album, methods=["GET"])
    pages.add_url_rule("/albums/<uid>/favorite", "favor_album", favor_album, methods=["POST"])


@page("photos.search")
@uses("albums.view")
def show_album(uid: str) -> Response:
    """The photos of an album."""
    who = principal()
    decide(who, "albums.view")
    album = _read_album(uid, who)
    own = album.type == ALBUM
    return show_search(
        "album",
        album=uid,
        usual=album.order if album.order in ALBUM_ORDERS else "oldest",
        rights=_rights(album),
        orders=order_choices(by_hand=own and not album.filter),
        computed=not own,
        shown=album,
        title=title_of(album),
        subtitle=subtitle_of(album),
        kind=KINDS[album.type],
        changes=own and may(who, "albums.update"),
        done=_DONE.get(request.args.get("done", ""), ""),
    )


def _rights(album: AlbumRecord) -> tuple[str, ...]:
    """What may be done with an album of people: `fill`, uploads are added to it, because its photos are chosen."""
    if album.type != ALBUM:
        return ()
    return ("remove",) if album.filter else ("remove", "fill")


@page("albums.update")
def favor_album(uid: str) -> Response:
    """Make an album a favorite, or end that."""
    change_values(uid, {"favorite": read_form().get("favorite") == "yes"})
    return see_other(url_for(".album", uid=uid))


def _read_album(uid: str, who: Principal) -> AlbumRecord:
    """The album with this UID; the photos of a smart one are not counted.

    Raises:
        NotFoundError: there is none, or it may not be seen.

    """
    with searching(who.owner_uid, "uid") as connection:
        found = current_service().albums.find(connection, uid, sees_private=who.sees_private, counted=False)
    if found is None or found.type not in KINDS:
        msg = "There is no such album, or it may not be seen."
        raise NotFoundError(msg)
    return found


def read_own_album(uid: str) -> AlbumRecord:
    """The album of people with this UID.

    Raises:
        NotFoundError: there is none, or it may not be seen.
        ConflictError: it follows from the library.

    """
    who = principal()
    with current_service().loading() as session:
        album_of_people(session, uid, sees_private=who.sees_private)
    return _read_album(uid, who)
