"""The forms of albums, which work without scripts: make, edit, delete, restore, and remove and order photos.

A new album is empty, or has the photos that a search finds now, or always those that it finds.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from flask import Response, request, url_for
from sqlalchemy.orm import Session

from photosvc.auth.policy import decide, may
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import ALBUM, PHOTO, is_uid
from photosvc.library.album_photos import (
    add_photos,
    arrange_photos,
    keep_order,
    photos_in_order,
    photos_taken_out,
    remove_photos,
    select_photos,
)
from photosvc.library.albums import (
    album_of_people,
    album_to_change,
    change_album,
    change_members,
    delete_whole,
    make_album,
    restore_whole,
)
from photosvc.models import Album
from photosvc.models.engine import session_on
from photosvc.pages.album import (
    AlbumForm,
    given_values,
    load,
    order_choices,
    read_album_form,
    read_own_album,
    refused,
    title_of,
    values_of,
    version_of,
)
from photosvc.pages.forms import chosen, page_number, read_form
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.tiles import Asked, Thumbnails, Tile, records_of, tile_of
from photosvc.query.areas import locate
from photosvc.query.parser import parse_query, split_order
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.albums import AlbumRecord
from photosvc.search.reading.request import ALBUM_ORDERS, MANUAL, parse_request
from photosvc.search.reading.selection import Selection
from photosvc.web.changes import change_photos
from photosvc.web.contract import uses
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching

#: The most photos on a page.
COUNT: Final = 120
#: The most ticked photos: more than a page shows.
_MOST: Final = 500
#: The most photos removed from a saved search that the page offers to restore, the last ones.
_MOST_AWAY: Final = 100
#: The kinds of new albums, as values of the form.
CHOSEN, FOUND, FOLLOWING = "chosen", "found", "following"
_LONGEST_QUERY: Final = 4096
#: The value of the button that leads to the links of the new album.
_SHARE: Final = "share"


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
            arrange_photos(session, album, photos, before, now, sees_private=who.sees_private)
        except InvalidValueError as error:
            if album.filter:
                raise
            msg = N_("Somebody else removed some of these photos from the album. Nothing was moved.")
            raise InvalidValueError(msg, field=error.field) from None
        if last and (end := _last_but(session, album, photos)) is not None:
            arrange_photos(session, album, photos, end, now, sees_private=who.sees_private)
            arrange_photos(session, album, [end], photos[0], now, sees_private=who.sees_private)
        change_album(session, album, {"order": MANUAL.name}, now)


def _last_but(session: Session, album: Album, photos: Sequence[str]) -> str | None:
    """Return the last photo of an album that is not one of these; None when there is none."""
    chosen_, who = set(photos), principal()
    rest = [uid for uid in photos_in_order(session, album, sees_private=who.sees_private) if uid not in chosen_]
    return rest[-1] if rest else None


def _photos(
    uid: str, *, error: PhotosvcError | None = None, ticked: Sequence[str] = (), removed: Sequence[str] | None = None
) -> Response:
    number = page_number()
    album = read_own_album(uid)
    search = Asked("", _order(album), "", album.uid)
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
    """Return the order in which the page shows the photos of an album: its own, or oldest first if that is random."""
    return album.order if album.order in ALBUM_ORDERS and album.order != "random" else "oldest"


def _tiles(search: Asked, **page: int) -> list[Tile]:
    who = principal()
    asked = parse_request(search.pairs(merged="", primary="true", **page), current_service().today())
    with searching(who.owner_uid) as connection:
        records, turns = records_of(connection, asked, sees_private=who.sees_private)
    thumbs = Thumbnails(who, turns)
    return [tile_of(record, thumbs) for record in records]


def _taken_out(uid: str) -> list[Tile]:
    """Return the photos that a saved search finds, but that users removed from its album."""
    who = principal()
    with current_service().reading(orm=True) as session:
        album = album_of_people(session, uid, sees_private=who.sees_private)
        uids = photos_taken_out(session, album, most=_MOST_AWAY, sees_private=who.sees_private)
    if not uids:
        return []
    return _tiles(Asked(f"uid:{'|'.join(uids)}", "newest", ""), count=_MOST_AWAY)


class _StaleError(ConflictError):
    """Somebody has changed this album since you opened the form."""


@pages.get("/albums/<uid>/edit")
@page("albums.update")
@uses("albums.delete")
def edit_album(uid: str) -> Response:
    """Show the form with the values of the album."""
    album = read_own_album(uid)
    return _form(album, AlbumForm(values_of(album)))


@pages.post("/albums/<uid>/edit", endpoint="change_album")
@page("albums.update")
def change(uid: str) -> Response:
    """Save the form, unless somebody changed the album since it was opened."""
    form = read_album_form()
    values = given_values(form)
    try:
        _save(uid, values, form.get("version", ""))
    except (InvalidValueError, _StaleError) as error:
        shown = read_own_album(uid)
        present = values_of(shown) if isinstance(error, _StaleError) else {}
        differing = {name: value for name, value in present.items() if value != values.get(name)}
        return _form(shown, refused(values, error), differing)
    return see_other(url_for(".album", uid=uid, done="saved"))


def _save(uid: str, values: dict[str, Any], version: str) -> None:
    service, loaded = current_service(), load(values)
    with service.writing(library=True) as session:
        album = album_to_change(session, uid, sees_private=principal().sees_private)
        if version_of(album) != version:
            raise _StaleError
        if album.filter and not values["Filter"].strip():
            msg = N_("A saved search cannot become another kind of album: type a search.")
            raise InvalidValueError(msg, field="Filter")
        change_album(session, album, loaded, service.now())


@pages.post("/albums/<uid>/delete", endpoint="delete_album")
@page("albums.delete")
def delete(uid: str) -> Response:
    """Delete the album; its photos stay."""
    service = current_service()
    delete_whole(service.writing, uid, service.now(), sees_private=principal().sees_private)
    return see_other(url_for(".albums", deleted=uid))


@pages.post("/albums/<uid>/restore", endpoint="restore_album")
@page("albums.delete")
def restore(uid: str) -> Response:
    """Restore the deleted album."""
    restore_whole(current_service().writing, uid, sees_private=principal().sees_private)
    return see_other(url_for(".album", uid=uid, done="restored"))


def _form(album: AlbumRecord, form: AlbumForm, present: Mapping[str, Any] | None = None) -> Response:
    return show(
        "album-form",
        form.status,
        shown=album,
        form=form,
        present=present or {},
        version=version_of(album),
        orders=order_choices(by_hand=not album.filter),
    )


_KINDS: Final = (
    (CHOSEN, N_("Photos that I choose"), N_("Empty until you add photos.")),
    (FOUND, N_("The current results of a search"), N_("They are added once. Later results of the search are not.")),
    (FOLLOWING, N_("A saved search"), N_("Always the current results of the search, also photos added later.")),
)


@pages.get("/albums/new")
@page("albums.create")
def new_album() -> Response:
    """Show the form for a new album, with the search or the photos of the page that led here."""
    order, query = "", request.args.get("q", "").strip()[:_LONGEST_QUERY]
    with suppress(InvalidValueError):  # the form reports the error when it is sent
        query, order = split_order(query)
    query = query.strip()
    if is_uid(album := request.args.get("s", ""), ALBUM):
        query = f"album:{album} ({query})" if query else f"album:{album}"
    values = {"Title": "", "Description": "", "Filter": query, "Order": order or "oldest"}
    return _making_form(AlbumForm(values), FOLLOWING if query else CHOSEN)


@pages.post("/albums/new", endpoint="make_album")
@page("albums.create")
def make() -> Response:
    """Make the album, and lead to it, or to the page of its links."""
    form = read_album_form()
    values, kind = given_values(form), form.get("kind", "")
    try:
        uid = _make(values, kind if kind in {FOUND, FOLLOWING} else CHOSEN)
    except (InvalidValueError, ConflictError, SearchEndedError) as error:
        return _making_form(refused(values, error), kind)
    if form.get("then") == _SHARE and not values["Private"] and may(principal(), "links.list"):
        return see_other(url_for(".album_links", uid=uid))
    return see_other(url_for(".album", uid=uid, done="made"))


def _make(values: dict[str, Any], kind: str) -> str:
    """Make the album, and return its UID."""
    service, query = current_service(), values["Filter"].strip()
    if kind != CHOSEN and not query:
        raise InvalidValueError(N_("Type a search."), field="Filter")
    loaded = load({**values, "Filter": query if kind == FOLLOWING else ""})
    if not loaded["title"]:
        raise InvalidValueError(N_("An album needs a title."), field="Title")
    ids: list[int] = []
    if kind == FOUND:
        locate(parse_query(query, service.today(), "Filter"))
        ids = _found(query)
    with service.writing(library=True) as session:
        uid = make_album(session, loaded, service.now(), principal().owner_uid).uid
    change_members(service.writing, uid, ids, add_photos, service.now(), sees_private=principal().sees_private)
    return uid


def _found(query: str) -> list[int]:
    """Return the ids of the photos that a search finds; errors name its field."""
    service, who = current_service(), principal()
    try:
        with searching(who.owner_uid, "Filter") as connection, session_on(connection) as session:
            selection = Selection(query=query)
            return list(select_photos(session, selection, service.today(), sees_private=who.sees_private))
    except NotFoundError:
        raise InvalidValueError(N_("The search finds no photos now."), field="Filter") from None
    except InvalidValueError as error:  # it names a field of the selection, which the form does not have
        raise InvalidValueError(error.message, field="Filter") from None


def _making_form(form: AlbumForm, kind: str) -> Response:
    return show(
        "album-form",
        form.status,
        form=form,
        present={},
        chosen_kind=kind,
        kinds=_KINDS,
        orders=order_choices(by_hand=True),
        share=_SHARE if may(principal(), "links.make") else "",
    )
