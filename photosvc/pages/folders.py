"""The pages of folders of the originals: the folders in one with their covers, then the grid of its own photos.

A folder exists for principals that may see a photo in it or below it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request, url_for
from sqlalchemy import Connection

from photosvc.auth.policy import decide
from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.pages.forms import page_number
from photosvc.pages.language import N_, _
from photosvc.pages.layout import page, pages, show_cacheable
from photosvc.pages.photos import ORDERS, show_search
from photosvc.pages.search_state import query_string
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.query.fold import fold
from photosvc.search.reading.albums import (
    AlbumRecord,
    AlbumsRequest,
    Folder,
    KnownAlbums,
    files_in,
    find_folder,
    folders_in,
)
from photosvc.search.reading.albums_named import FOLDER, paths_down_to, query_below
from photosvc.search.reading.covers import with_covers
from photosvc.search.reading.files import turns_of
from photosvc.web.contract import uses
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: Folders on a page.
COUNT: Final = 60
#: A limit that no library reaches: all folders.
_ALL: Final = 1 << 31
#: The most characters of a name to look for.
_LONGEST: Final = 200
_SORTS: Final[dict[str, tuple[str, Callable[[Folder], Any], bool]]] = {
    "name": (N_("By name"), lambda folder: fold(folder.path), False),
    "latest": (N_("Latest first"), lambda folder: folder.latest, True),
    "count": (N_("Most photos"), lambda folder: folder.total_count, True),
}


@dataclass(frozen=True, slots=True)
class Step:
    """A folder on the way from the topmost folder to the one that is shown."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the folders in a folder."""

    cards: Sequence[Mapping[str, Any]]
    text: str
    """The part of the names that was looked for; empty: all folders directly in the folder."""
    sort: str
    number: int
    more: bool
    any: bool
    """False if the folder contains no folder, so that the page needs no search field."""


@pages.get("/folders", endpoint="folders")
@pages.get("/folders/<path:folder>", endpoint="folder")
@page("folders.view")
@uses("photos.search")
def show_folder(folder: str = "") -> Response:
    """Show the folders and photos directly in a folder, by default the topmost one."""
    asked, who = folder.strip("/"), principal()
    decide(who, "photos.search")
    with searching(who.owner_uid, "path") as connection:
        request_of_all = AlbumsRequest(FOLDER, "path", "", _ALL, 0)
        service = current_service()
        every = service.only(KnownAlbums).page(
            connection, request_of_all, sees_private=who.sees_private, today=service.today()
        )
        shown = find_folder(every, asked) if asked else Folder("", 0, sum(album.photo_count for album in every))
        if shown is None:
            msg = N_("This folder does not exist, or it has no photos that you have permission to see.")
            raise NotFoundError(msg, field="path")
        listing = _list(connection, every, shown.path, who)
        at_top = not asked and files_in(connection, "", count=1, offset=0, sees_private=who.sees_private)
    trail = _trail(shown.path)
    context: dict[str, Any] = {
        "shown": shown,
        "title": shown.name or _("Folders"),
        "trail": trail,
        "listing": listing,
        "sorts": [(key, label) for key, (label, _, _) in _SORTS.items()],
        "turn": lambda **changes: _link(trail[-1].href, listing, changes),
        "everything": url_for(".photos", q=query_below(shown.path)) if shown.path else "",
    }
    if shown.photo_count:
        return show_search(
            "folder", album=shown.uid, folder=shown.path, usual="oldest", orders=ORDERS, computed=True, **context
        )
    if at_top:
        return show_search("folder", shelf="folders", orders=ORDERS, **context)
    return show_cacheable("folders", **context)


def _list(connection: Connection, albums: Sequence[AlbumRecord], path: str, who: Principal) -> Listing:
    """Return the page of folders that the request names."""
    text = request.args.get("find", "").strip().replace("\0", "")[:_LONGEST]
    sort = request.args.get("sort", "")
    sort = sort if sort in _SORTS else next(iter(_SORTS))
    number = page_number("folders")
    direct = folders_in(albums, path, recursive=False)
    folders = folders_in(albums, path, recursive=True) if text and direct else direct
    folders = [folder for folder in folders if fold(text) in fold(folder.name)]
    _, key, falling = _SORTS[sort]
    folders.sort(key=key, reverse=falling)
    shown = folders[(number - 1) * COUNT : number * COUNT]
    shown = with_covers(connection, shown, sees_private=who.sees_private)
    turns = turns_of(connection, {folder.thumb for folder in shown if folder.thumb})
    thumbs = ThumbnailAddresses(who, turns)
    cards = [_card(folder, path, thumbs) for folder in shown]
    return Listing(cards, text, sort, number, more=len(folders) > number * COUNT, any=bool(direct))


def _card(folder: Folder, path: str, thumbs: ThumbnailAddresses) -> dict[str, Any]:
    """Return the values of a folder in the list of another one; `within` are the folders between them."""
    within = folder.path[len(path) :].strip("/").rpartition("/")[0]
    cover, srcset = thumbs.cover(folder.thumb)
    shown = {"name": folder.name, "within": within, "count": folder.total_count}
    return {**shown, "href": url_for(".folder", folder=folder.path), "cover": cover, "srcset": srcset}


def _trail(path: str) -> list[Step]:
    """Return the folders from the topmost one to the one with this path."""
    folders = paths_down_to(path) if path else ()
    steps = (Step(to.rpartition("/")[2], url_for(".folder", folder=to)) for to in folders)
    return [Step(_("Folders"), url_for(".folders")), *steps]


def _link(address: str, listing: Listing, changes: Mapping[str, object]) -> str:
    """Return the address of a list of folders with another page, name or order."""
    sort = "" if listing.sort == next(iter(_SORTS)) else listing.sort
    return address + query_string({"find": listing.text, "sort": sort, **changes})
