"""The list of albums, and the page of one, with the search field and grid of all photos."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from flask import Response, request, url_for

from photosvc.auth import link_tokens
from photosvc.auth.policy import decide, may
from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.library.albums import album_of_people, album_to_change, change_album, deleted_album
from photosvc.models import Album
from photosvc.pages.forms import page_number, read_form
from photosvc.pages.grid import month_label
from photosvc.pages.language import N_, _, country_label
from photosvc.pages.layout import page, pages, see_other, show_cacheable
from photosvc.pages.photos import ORDERS, show_search
from photosvc.pages.search_state import query_string
from photosvc.pages.thumbnails import COVERS, cover_sizes
from photosvc.search.reading.albums import ALBUM, AlbumRecord, AlbumsRequest, KnownAlbums
from photosvc.search.reading.albums_named import FOLDER, MONTH, STATE
from photosvc.search.reading.request import ALBUM_ORDERS, MANUAL
from photosvc.web.contract import uses
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

_MOST: Final = {"count": N_("Most photos")}
_DONE: Final = {
    "made": N_("Album created."),
    "saved": N_("Album saved."),
    "restored": N_("Album restored."),
}
#: The sizes of the cover above the photos of an album.
_HEAD_COVERS: Final = ("fit_1280", "fit_2560")
#: Albums on a page.
COUNT: Final = 60
_LONGEST_TYPED: Final = 200


@dataclass(frozen=True, slots=True)
class AlbumKind:
    """A kind of albums."""

    type: str
    """Its name in the API."""
    label: str
    orders: Mapping[str, str]
    """The orders of their list by their names in the API, with labels; the first is the usual one."""
    example: str
    """A part of a title."""
    every: str
    """The text of the link to the whole list."""


_ALBUM_ORDERS: Final = {
    "name": N_("By title"), "edited": N_("Last changed"), "added": N_("Last made"),
    "favorites": N_("Favorites first"), **_MOST,
}  # fmt: skip
_MONTH_ORDERS: Final = {"newest": N_("Newest first"), "oldest": N_("Oldest first"), **_MOST}
_STATE_ORDERS: Final = {"place": N_("By country"), "name": N_("By name"), **_MOST}
KINDS: Final = {
    kind.type: kind
    for kind in (
        AlbumKind(ALBUM, N_("Albums"), _ALBUM_ORDERS, N_("Holidays"), N_("All albums")),
        AlbumKind(MONTH, N_("Months"), _MONTH_ORDERS, "2023-05", N_("All months")),
        AlbumKind(STATE, N_("Regions"), _STATE_ORDERS, N_("Bavaria"), N_("All regions")),
    )
}


def title_of(album: AlbumRecord) -> str:
    """Return the title of an album; of a month as `May 2023`."""
    if album.type == MONTH:
        return month_label(album.year, album.month)
    return album.title or _("Untitled")


def subtitle_of(album: AlbumRecord) -> str:
    """Return the subtitle that distinguishes equal titles: the country of a region."""
    return country_label(album.country) if album.type == STATE else ""


def order_choices(*, by_hand: bool) -> tuple[tuple[str, str], ...]:
    """Return the orders that an album may have, with their labels."""
    return ((MANUAL.name, N_("By hand")), *ORDERS) if by_hand else ORDERS


@pages.get("/albums/<uid>", endpoint="album")
@page("photos.search")
@uses("albums.view")
def show_album(uid: str) -> Response:
    """Show the photos of an album; a folder has a page of its own."""
    who = principal()
    decide(who, "albums.view")
    album = _read_album(uid, who)
    if album.type == FOLDER:
        parameters = {name: request.args.get(name, "") for name in ("q", "order", "seed", "page")}
        return see_other(url_for(".folder", folder=album.path) + query_string(parameters))
    own = album.type == ALBUM
    return show_search(
        "album",
        album=uid,
        usual=album.order if album.order in ALBUM_ORDERS else "oldest",
        rights=_rights(album),
        orders=order_choices(by_hand=own and not album.filter),
        computed=not own,
        shown=album,
        cover={size: address.replace("/UID/", f"/{uid}/", 1) for size, address in _covers(who, _HEAD_COVERS).items()},
        title=title_of(album),
        subtitle=subtitle_of(album),
        kind=KINDS[album.type],
        changes=own and may(who, "albums.update"),
        shares=own and not album.private and may(who, "links.list"),
        done=_DONE.get(request.args.get("done", ""), ""),
    )


def _rights(album: AlbumRecord) -> tuple[str, ...]:
    """Return the rights on an album of users; `fill` (add uploads to it) only for an album of chosen photos."""
    if album.type != ALBUM:
        return ()
    return ("remove", "cover") if album.filter else ("remove", "cover", "arrange", "fill")


@pages.post("/albums/<uid>/favorite")
@page("albums.update")
def favor_album(uid: str) -> Response:
    """Mark or unmark an album as favorite."""
    values = {"favorite": read_form().get("favorite") == "yes"}
    service = current_service()
    with service.writing(library=True) as session:
        album = album_to_change(session, uid, sees_private=principal().sees_private)
        change_album(session, album, values, service.now())
    return see_other(url_for(".album", uid=uid))


def _read_album(uid: str, who: Principal) -> AlbumRecord:
    """Return the album with this UID, without counting the photos of a saved search."""
    with searching(who.owner_uid, "uid") as connection:
        album = (
            current_service()
            .only(KnownAlbums)
            .find(connection, uid, sees_private=who.sees_private, today=current_service().today(), counted=False)
        )
    if album is None or album.type not in {*KINDS, FOLDER}:
        raise NotFoundError(N_("This album does not exist, or you have no permission to see it."))
    return album


def read_own_album(uid: str) -> AlbumRecord:
    """Return the album with this UID if a user made it.

    Raises:
        NotFoundError: there is none, or it may not be seen.
        ConflictError: it is made by the library: a month, folder or region.
    """
    who = principal()
    with current_service().reading(orm=True) as session:
        album_of_people(session, uid, sees_private=who.sees_private)
    return _read_album(uid, who)


@pages.get("/albums", endpoint="albums")
@page("albums.search")
def show_albums() -> Response:
    """List the albums of one kind, a page at a time; folders have pages of their own."""
    who, given = principal(), {name: request.args.get(name, "").strip() for name in ("type", "order", "q")}
    if given["type"] == FOLDER:
        return see_other(url_for(".folders", find=given["q"] or None))
    kind = KINDS.get(given["type"], KINDS[ALBUM])
    order = given["order"] if given["order"] in kind.orders else next(iter(kind.orders))
    text, number = given["q"].replace("\0", "")[:_LONGEST_TYPED], page_number()
    albums_request = AlbumsRequest(kind.type, order, text, COUNT + 1, (number - 1) * COUNT)
    with searching(who.owner_uid) as connection:
        known, today = current_service().only(KnownAlbums), current_service().today()
        albums = known.page(connection, albums_request, sees_private=who.sees_private, today=today)
    covers = _covers(who)
    cards = [(album.year, _card(album, covers)) for album in albums[:COUNT]]
    by_year = kind.type == MONTH and order in {"newest", "oldest"}
    groups = groupby(cards, key=lambda one: one[0] if by_year else 0)
    return show_cacheable(
        "albums",
        kind=kind,
        kinds=KINDS.values(),
        order=order,
        text=text,
        groups=[(year, [card for _, card in cards]) for year, cards in groups],
        number=number,
        more=len(albums) > COUNT,
        link=lambda **changes: _link(kind, {"q": text, "order": order, **changes}),
        creates=may(who, "albums.create"),
        deleted=_deleted(request.args.get("deleted", ""), who),
    )


def _deleted(uid: str, who: Principal) -> Album | None:
    """Return the deleted album with this UID if it may be restored."""
    if not uid or not may(who, "albums.delete"):
        return None
    with current_service().reading(orm=True) as session:
        return deleted_album(session, uid, sees_private=who.sees_private)


def _covers(who: Principal, sizes: Sequence[str] = COVERS) -> dict[str, str]:
    """Return the addresses of covers by size, with `UID` for that of an album."""
    token = link_tokens.preview_token(current_service().settings, who)
    return {
        size: url_for("photosvc.thumbnails.album_cover", uid="UID", token=token, size=size, quiet=1) for size in sizes
    }


def _card(album: AlbumRecord, covers: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of an album in the list; no count if counting its photos would take too long."""
    known = album.photo_count >= 0
    shown = covers if album.photo_count or not known else {}
    sizes = {size: address.replace("/UID/", f"/{album.uid}/", 1) for size, address in shown.items()}
    return {
        "uid": album.uid,
        "title": title_of(album),
        "subtitle": subtitle_of(album),
        "count": album.photo_count if known else None,
        "smart": bool(album.filter),
        "favorite": album.favorite,
        "private": album.private,
        "cover": next(iter(sizes.values()), ""),
        "srcset": cover_sizes(sizes),
    }


def _link(kind: AlbumKind, parameters: dict[str, object]) -> str:
    """Return the address of the list with these parameters."""
    if parameters["order"] == next(iter(kind.orders)):
        parameters["order"] = ""
    return url_for(".albums") + query_string({"type": "" if kind.type == ALBUM else kind.type, **parameters})
