"""The list of albums: those of users, and the months and regions of the library, each with a cover."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import urlencode

from flask import Response, request, url_for

from photosvc.auth import tokens
from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.library.albums import deleted_album
from photosvc.models import Album
from photosvc.pages.album import KINDS, Kind, subtitle_of, title_of
from photosvc.pages.forms import page_number
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.tiles import COVERS, cover_sizes
from photosvc.search.limits import SearchTooLongError
from photosvc.search.reading.albums import ALBUM, AlbumRecord, AlbumsRequest
from photosvc.search.reading.library_albums import FOLDER, MONTH
from photosvc.web.contract import is_mounted
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching

#: Albums on a page.
COUNT: Final = 60
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Card:
    """An album in the list."""

    uid: str
    title: str
    subtitle: str
    count: int | None
    """The number of its photos; None when counting them takes too long."""
    smart: bool
    favorite: bool
    private: bool
    cover: str
    srcset: str


@pages.get("/albums", endpoint="albums")
@page("albums.search")
def show_albums() -> Response:
    """List the albums of one kind, a page at a time; folders have pages of their own."""
    who, given = principal(), {name: request.args.get(name, "").strip() for name in ("type", "order", "q")}
    if given["type"] == FOLDER:
        return see_other(url_for(".folders", find=given["q"] or None))
    kind = KINDS.get(given["type"], KINDS[ALBUM])
    order = given["order"] if given["order"] in kind.orders else next(iter(kind.orders))
    text, number = given["q"].replace("\0", "")[:_LONGEST], page_number()
    asked = AlbumsRequest(kind.type, order, text, COUNT + 1, (number - 1) * COUNT)
    found, counted = _read(asked, who)
    covers = _covers(who)
    cards = [(album.year, _card(album, covers, counted=counted)) for album in found[:COUNT]]
    by_year = kind.type == MONTH and order in {"newest", "oldest"}
    groups = groupby(cards, key=lambda one: one[0] if by_year else 0)
    answer = show(
        "albums",
        kind=kind,
        kinds=KINDS.values(),
        order=order,
        text=text,
        groups=[(year, [card for _, card in cards]) for year, cards in groups],
        number=number,
        more=len(found) > COUNT,
        link=lambda **changes: _link(kind, {"q": text, "order": order, **changes}),
        creates=may(who, "albums.create"),
        deleted=_deleted(request.args.get("deleted", ""), who),
    )
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


def _read(asked: AlbumsRequest, who: Principal) -> tuple[list[AlbumRecord], bool]:
    """Read the albums; return them and whether all of their photos are counted, as each saved search needs a search."""
    albums = current_service().albums
    try:
        with searching(who.owner_uid) as connection:
            return albums.page(connection, asked, sees_private=who.sees_private), True
    except SearchTooLongError:
        with searching(who.owner_uid) as connection:
            return albums.page(connection, asked, sees_private=who.sees_private, counted=False), False


def _deleted(uid: str, who: Principal) -> Album | None:
    """Return the deleted album with this UID if it may be restored."""
    if not uid or not may(who, "albums.delete"):
        return None
    with current_service().reading(orm=True) as session:
        return deleted_album(session, uid, sees_private=who.sees_private)


def _covers(who: Principal) -> dict[str, str]:
    """Return the addresses of covers by size, with `UID` for that of an album; none where the API is not mounted."""
    if not is_mounted("photos.preview"):
        return {}
    token = tokens.preview_token(current_service().settings, who)
    return {
        size: url_for("photosvc.thumbnails.album_cover", uid="UID", token=token, size=size, quiet=1) for size in COVERS
    }


def _card(album: AlbumRecord, covers: Mapping[str, str], *, counted: bool) -> Card:
    known = counted or not album.filter
    shown = covers if album.photo_count or not known else {}
    sizes = {size: address.replace("/UID/", f"/{album.uid}/", 1) for size, address in shown.items()}
    return Card(
        uid=album.uid,
        title=title_of(album),
        subtitle=subtitle_of(album),
        count=album.photo_count if known else None,
        smart=bool(album.filter),
        favorite=album.favorite,
        private=album.private,
        cover=next(iter(sizes.values()), ""),
        srcset=cover_sizes(sizes),
    )


def _link(kind: Kind, asked: dict[str, object]) -> str:
    """Return the address of the list with these parameters."""
    if asked["order"] == next(iter(kind.orders)):
        asked["order"] = ""
    given = {"type": "" if kind.type == ALBUM else kind.type, **asked}
    text = urlencode({name: str(value) for name, value in given.items() if value})
    return url_for(".albums") + (f"?{text}" if text else "")
