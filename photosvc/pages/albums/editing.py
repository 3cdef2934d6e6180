"""Changing what an album says of itself, deleting it, and bringing it back."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, url_for

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.models import Album
from photosvc.pages.albums.album import read_own_album
from photosvc.pages.albums.values import (
    AlbumForm,
    given_values,
    load,
    order_choices,
    read_album_form,
    refused,
    values_of,
    version_of,
)
from photosvc.pages.layout import page, see_other, show
from photosvc.search.reading.overview.albums import AlbumRecord
from photosvc.web.actions import uses
from photosvc.web.changes.albums import change_values, delete_whole, restore_whole


class _StaleError(ConflictError):
    """Somebody has changed this album since you opened the form."""


def add_routes(pages: Blueprint) -> None:
    """Add the page that changes and deletes an album, and what brings it back."""
    pages.add_url_rule("/albums/<uid>/edit", view_func=edit_album, methods=["GET"])
    pages.add_url_rule("/albums/<uid>/edit", "change_album", change, methods=["POST"])
    pages.add_url_rule("/albums/<uid>/delete", "delete_album", delete, methods=["POST"])
    pages.add_url_rule("/albums/<uid>/restore", "restore_album", restore, methods=["POST"])


@page("albums.update")
@uses("albums.delete")
def edit_album(uid: str) -> Response:
    """The form with the values of the album."""
    album = read_own_album(uid)
    return _form(album, AlbumForm(values_of(album)))


@page("albums.update")
def change(uid: str) -> Response:
    """Save the form, unless somebody changed the album since it was opened."""
    form = read_album_form()
    values, version = given_values(form), form.get("version", "")

    def check(album: Album) -> None:
        if version_of(album) != version:
            raise _StaleError
        if album.filter and not values["Filter"].strip():
            msg = "A saved search stays one: type a search."
            raise InvalidValueError(msg, field="Filter")

    try:
        change_values(uid, load(values), check)
    except (InvalidValueError, _StaleError) as error:
        album = read_own_album(uid)
        stale = isinstance(error, _StaleError)
        return _form(album, refused(values, error), present=_differing(album, values) if stale else {})
    return see_other(url_for(".album", uid=uid, done="saved"))


@page("albums.delete")
def delete(uid: str) -> Response:
    """Delete the album; its photos stay."""
    delete_whole(uid)
    return see_other(url_for(".albums", deleted=uid))


@page("albums.delete")
def restore(uid: str) -> Response:
    """Bring the deleted album back."""
    restore_whole(uid)
    return see_other(url_for(".album", uid=uid, done="restored"))


def _differing(album: AlbumRecord, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the album has now, where they are others than those of a form."""
    return {name: value for name, value in values_of(album).items() if value != values.get(name)}


def _form(album: AlbumRecord, form: AlbumForm, present: Mapping[str, Any] | None = None) -> Response:
    return show(
        "album-edit",
        form.status,
        shown=album,
        form=form,
        present=present or {},
        version=version_of(album),
        orders=order_choices(by_hand=not album.filter),
    )
