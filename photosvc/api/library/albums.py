"""Albums: the list, one album, and the photos in it."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from flask import Blueprint, Response, request

from photosvc.core.errors import NotFoundError
from photosvc.library.albums import album_of_people, make_album
from photosvc.records.album import AlbumEditSchema, AlbumResultSchema, AlbumSelectionSchema
from photosvc.search.limits.errors import SearchEndedError
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.names.library_albums import kind_of
from photosvc.search.reading.overview.albums import ORDERS, TYPES, AlbumRecord, parse_albums_request
from photosvc.search.reading.selection import MOST_SELECTED, parse_selection
from photosvc.web.answers.answer import is_fresh, json_answer, not_modified
from photosvc.web.answers.paging import page_headers, page_parameters, read_page
from photosvc.web.changes.albums import change_values, delete_whole
from photosvc.web.contract import (
    ETAG,
    MESSAGE,
    NUMBER,
    TEXT,
    answers,
    json_object,
    refuses,
    takes,
    takes_query,
)
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.requests.parameters import describe
from photosvc.web.searches.searching import searching

#: Bytes of a selection: 20,000 UIDs take 400 KB.
MAX_BODY: Final = 1 << 20
_UIDS: Final = {"type": "array", "items": TEXT}
_DELETED: Final = json_object("code message albums", code=NUMBER, message=TEXT, albums=_UIDS)

_schema = AlbumResultSchema()


def add_routes(api: Blueprint) -> None:
    """Add albums to the API."""
    api.add_url_rule("/albums", view_func=list_albums, methods=["GET"])
    api.add_url_rule("/albums", view_func=create_album, methods=["POST"])
    api.add_url_rule("/albums/<album_uid>", view_func=read_album, methods=["GET"])
    api.add_url_rule("/albums/<album_uid>", view_func=update_album, methods=["PUT"])
    api.add_url_rule("/albums/<album_uid>", "patch_album", update_album, methods=["PATCH"])
    api.add_url_rule("/albums/<album_uid>", view_func=remove_album, methods=["DELETE"])
    api.add_url_rule("/albums/<album_uid>/like", view_func=like_album, methods=["POST"])
    api.add_url_rule("/albums/<album_uid>/like", view_func=dislike_album, methods=["DELETE"])
    api.add_url_rule("/batch/albums/delete", view_func=delete_albums, methods=["POST"])


def _list_parameters() -> list[dict[str, Any]]:
    described = {
        **page_parameters("albums"),
        "type": ({"type": "string", "enum": [*TYPES], "default": TYPES[0]}, "Albums of people, or computed ones."),
        "q": (TEXT, "Part of the title."),
        "order": ({"type": "string", "enum": [*ORDERS]}, "The order of the albums."),
    }
    return describe(described)


@require("albums.search")
@takes_query(_list_parameters)
@answers(AlbumResultSchema, "A page of albums.", many=True, headers={**page_headers("albums"), **ETAG})
def list_albums() -> Response:
    """The albums of people, or the folders, months or states of the library, each with the number of its photos."""
    service, who = current_service(), principal()
    sees_private = who.sees_private
    page = read_page()
    asked = parse_albums_request(request.args, page.count, page.offset)
    with searching(who.owner_uid) as connection:
        etag = state_tag(connection, "albums", asked, sees_private=sees_private)
        if is_fresh(etag):
            return not_modified(etag)
        albums = service.albums.page(connection, asked, sees_private=sees_private)
    return page.answer(json_answer([_schema.dump(album) for album in albums], etag=etag), len(albums))


@require("albums.view")
@answers(AlbumResultSchema, "The album.", headers=ETAG)
@refuses(404)
def read_album(album_uid: str) -> Response:
    """An album with the number of its photos. `s` of the search finds these."""
    service, who = current_service(), principal()
    sees_private = who.sees_private
    with searching(who.owner_uid, "uid") as connection:
        etag = state_tag(connection, "album", album_uid, sees_private=sees_private)
        found = service.albums.find(connection, album_uid, sees_private=sees_private)
    if found is None:
        raise _no_album()
    if is_fresh(etag):
        return not_modified(etag)
    return json_answer(_schema.dump(found), etag=etag)


@require("albums.create")
@takes(AlbumEditSchema, any_type=True)
@answers(AlbumResultSchema, "The new album.")
@refuses(400, 409)
def create_album(given: dict[str, Any]) -> Response:
    """Make an album; with a `Filter` a smart one, which contains what that query finds."""
    service = current_service()
    with service.changing() as session:
        uid = make_album(session, given, service.now()).uid
    return json_answer(record_of_album(uid))


@require("albums.update")
@takes(AlbumEditSchema, any_type=True)
@answers(AlbumResultSchema, "The album as it is now.")
@refuses(400, 404, 409)
def update_album(given: dict[str, Any], album_uid: str) -> Response:
    """Change an album: fields that are absent or null stay as they are."""
    return json_answer(_changed(album_uid, given))


@require("albums.update")
@answers(MESSAGE, "The album is a favourite.")
@refuses(404, 409)
def like_album(album_uid: str) -> Response:
    """Make an album a favourite."""
    return json_answer({"code": 200, "message": "Album saved", **_changed(album_uid, {"favorite": True})})


@require("albums.update")
@answers(MESSAGE, "The album is no favourite.")
@refuses(404, 409)
def dislike_album(album_uid: str) -> Response:
    """Make an album no favourite."""
    return json_answer({"code": 200, "message": "Album saved", **_changed(album_uid, {"favorite": False})})


@require("albums.delete")
@answers(MESSAGE, "The album is deleted.")
@refuses(404, 409)
def remove_album(album_uid: str) -> Response:
    """Delete an album. Its photos stay in the library."""
    return json_answer({"code": 200, "message": f"{delete_whole(album_uid)} deleted"})


@require("albums.delete")
@takes(AlbumSelectionSchema, any_type=True, max_body=MAX_BODY)
@answers(_DELETED, "The UIDs of the albums that are deleted.")
@refuses(400, 404, 409)
def delete_albums(given: dict[str, Any]) -> Response:
    """Delete the albums in `albums`; unknown ones are left out."""
    service, sees_private = current_service(), principal().sees_private
    selection = parse_selection({"photos": None, "files": None, "q": None, **given}, most_albums=MOST_SELECTED)
    uids = dict.fromkeys(selection.albums)
    with service.loading() as session:
        for uid in filter(kind_of, uids):  # refused before any is deleted
            with suppress(NotFoundError):
                album_of_people(session, uid, sees_private=sees_private)
    deleted: list[str] = []
    for uid in uids:
        with suppress(NotFoundError):
            delete_whole(uid)
            deleted.append(uid)
    return json_answer({"code": 200, "message": f"{len(deleted)} albums deleted", "albums": deleted})


def _changed(album_uid: str, values: dict[str, Any]) -> dict[str, Any]:
    change_values(album_uid, values)
    return record_of_album(album_uid)


def _find_changed(uid: str, *, counted: bool) -> AlbumRecord | None:
    service, who = current_service(), principal()
    with searching(who.owner_uid, "uid") as connection:
        found = service.albums.find(connection, uid, sees_private=who.sees_private, counted=counted)
        if found is None:
            found = service.albums.find(connection, uid, sees_private=True, counted=False)
            found = found and replace(found, photo_count=0)
    return found


def record_of_album(uid: str) -> dict[str, Any]:
    """The record of an album that this request changed: also of one that it made private."""
    try:
        found = _find_changed(uid, counted=True)
    except SearchEndedError:  # the change is committed, so the answer says so, with the number known last or 0
        found = _find_changed(uid, counted=False)
    if found is None:
        raise _no_album()
    record: dict[str, Any] = _schema.dump(found)
    return record


def _no_album() -> NotFoundError:
    msg = "there is no such album"
    return NotFoundError(msg, field="uid")
