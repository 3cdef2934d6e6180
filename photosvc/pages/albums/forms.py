"""The forms of albums, which work without scripts: make, edit, delete and restore.

A new album is empty, or has the photos that a search finds now, or always those that it finds.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from flask import Response, request, url_for

from photosvc.auth.policy import may
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import ALBUM, digest, is_uid
from photosvc.library.album_photos import add_photos, select_photos
from photosvc.library.albums import (
    album_to_change,
    change_album,
    change_members,
    delete_whole,
    make_album,
    restore_whole,
)
from photosvc.models import Album
from photosvc.models.engine import session_on
from photosvc.pages.albums.listing import order_choices, read_own_album
from photosvc.pages.forms import read_form, sentence
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.messages import message_text
from photosvc.query.areas import locate
from photosvc.query.parser import parse_query, split_order
from photosvc.records import limits
from photosvc.records.albums import AlbumEditSchema
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.albums import AlbumRecord
from photosvc.search.reading.selection import Selection
from photosvc.web.contract import load_values, uses
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: The kinds of new albums, as values of the form.
CHOSEN, FOUND, FOLLOWING = "chosen", "found", "following"

#: The value of the button that leads to the links of the new album.
_SHARE: Final = "share"
#: Characters read of a field, more than any may have, so that too long texts are refused instead of cut off; the most
#: bytes of the form.
_LONGEST: Final = 5000
_VALUES_MOST: Final = 128 * 1024
_TEXTS: Final = ("Title", "Description", "Filter", "Order")
#: Fields that may be cleared; other values stay as they are when a form leaves them empty.
_MAY_BE_EMPTY: Final = frozenset({"Title", "Description", "Favorite", "Private"})
_FLAGS: Final = ("Favorite", "Private")
_DIGITS: Final = 20
_ON: Final = "yes"
_schema: Final = AlbumEditSchema()


@dataclass(frozen=True, slots=True)
class AlbumForm:
    """The values of a form by their names in the API, and its errors."""

    values: Mapping[str, Any]
    errors: Mapping[str, str] = field(default_factory=dict)
    """Messages by field; `""`: about the whole form."""
    status: int = 200


def read_album_form() -> dict[str, str]:
    """Read the form of the request."""
    return read_form(longest=_LONGEST, most=_VALUES_MOST)


def given_values(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a form that has a field for each of them."""
    texts = {name: form.get(name, "").replace("\r\n", "\n") for name in _TEXTS}
    return texts | {name: form.get(name) == _ON for name in _FLAGS}


def values_of(album: AlbumRecord | Album) -> dict[str, Any]:
    """Return the values of an album by their names in the API."""
    return {name: getattr(album, name.lower()) for name in (*_TEXTS, *_FLAGS)}


def load(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a form as columns, or raise `InvalidBodyError`, which names the wrong value."""
    return load_values(_schema, {name: value for name, value in values.items() if name in _MAY_BE_EMPTY or value})


def version_of(album: AlbumRecord | Album) -> str:
    """Return a digest of the album's values, which changes with them, but not when photos are added or removed."""
    return digest(orjson.dumps(list(values_of(album).values())).decode())[:_DIGITS]


def refused(values: Mapping[str, Any], error: PhotosvcError) -> AlbumForm:
    """Return the form with messages beside the fields that are wrong."""
    details = error.details or [{"field": error.field or "", "message": error.message}]
    errors = {}
    for detail in details:
        name = detail["field"] if detail["field"] in values else ""
        errors[name] = sentence(message_text(detail["message"]).removeprefix(f"{name}: "))
    return AlbumForm(values, errors, error.status)


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
    order, query = "", request.args.get("q", "").strip()[: limits.TEXT]
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
