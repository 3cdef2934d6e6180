"""The photos of an album: adding, removing and ordering them. Its public links, of which there are none."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, Response
from werkzeug.exceptions import MethodNotAllowed

from photosvc.api.library.albums import MAX_BODY, record_of_album
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import ALBUM, PHOTO, is_uid
from photosvc.core.texts.counted import counted
from photosvc.library.album_photos import (
    add_photos,
    arrange_photos,
    photos_in_order,
    remove_photos,
)
from photosvc.library.albums import album_of_people, album_to_change
from photosvc.models.database.transactions import session_on
from photosvc.records.album import AlbumSelectionSchema, ArrangementSchema
from photosvc.records.zip import ZipSelectionSchema
from photosvc.search.reading.selection import MOST_SELECTED, find_album, parse_selection
from photosvc.web.answers.answer import json_answer
from photosvc.web.changes.albums import PhotosChange, change_photos
from photosvc.web.contract import NUMBER, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import searching

_UIDS: Final = {"type": "array", "items": TEXT}
_ALBUM: Final = {"type": "object"}
_CHANGED: Final = {"type": "array", "items": json_object("PhotoUID AlbumUID", PhotoUID=TEXT, AlbumUID=TEXT)}
_ADDED: Final = json_object(
    "code message album photos added", code=NUMBER, message=TEXT, album=_ALBUM, photos=_UIDS, added=_CHANGED
)
_REMOVED: Final = json_object(
    "code message album photos removed", code=NUMBER, message=TEXT, album=_ALBUM, photos=_UIDS, removed=_CHANGED
)
_ORDER: Final = json_object("photos", photos=_UIDS)


def add_routes(api: Blueprint) -> None:
    """Add the photos of albums to the API."""
    api.add_url_rule("/albums/<album_uid>/clone", view_func=clone_albums, methods=["POST"])
    api.add_url_rule("/albums/<album_uid>/photos", view_func=list_album_photos, methods=["GET"])
    api.add_url_rule("/albums/<album_uid>/photos", view_func=add_album_photos, methods=["POST"])
    api.add_url_rule("/albums/<album_uid>/photos", view_func=arrange_album_photos, methods=["PUT"])
    api.add_url_rule("/albums/<album_uid>/photos", view_func=remove_album_photos, methods=["DELETE"])
    api.add_url_rule("/albums/<album_uid>/links", view_func=list_album_links, methods=["GET"])
    api.add_url_rule("/albums/<album_uid>/links", view_func=add_album_link, methods=["POST"])


@require("albums.view")
@answers(_ORDER, "The UIDs of the photos.")
@refuses(404, 409)
def list_album_photos(album_uid: str) -> Response:
    """The photos of an album in the order that people gave them; new ones are the last."""
    return _in_order(album_uid)


@require("albums.update")
@takes(ArrangementSchema, any_type=True, max_body=MAX_BODY)
@answers(_ORDER, "The UIDs of all photos in their new order.")
@refuses(400, 404, 409)
def arrange_album_photos(given: dict[str, Any], album_uid: str) -> Response:
    """Move photos of an album, in the order given, before the photo `before`, or to the beginning."""
    service, who = current_service(), principal()
    if len(given["photos"]) > MOST_SELECTED or not all(is_uid(uid, PHOTO) for uid in given["photos"]):
        msg = f"photos: send at most {MOST_SELECTED:,} photo UIDs"
        raise InvalidValueError(msg, field="photos")
    if not (given["before"] is None or is_uid(given["before"], PHOTO)):
        msg = "before: send a photo UID"
        raise InvalidValueError(msg, field="before")
    with service.changing() as session:
        album = album_to_change(session, album_uid, sees_private=who.sees_private)
        arrange_photos(session, album, given["photos"], given["before"], service.now(), sees_private=who.sees_private)
    return _in_order(album_uid)


@require("albums.update")
@takes(ZipSelectionSchema, any_type=True, max_body=MAX_BODY)
@answers(_ADDED, "The album, what was selected, and what is new in the album.")
@refuses(400, 404, 409)
def add_album_photos(given: dict[str, Any], album_uid: str) -> Response:
    """Add photos to an album: by UIDs, of files or albums, or what a query finds.

    What a smart album contains follows from its query: there it puts photos back that were taken out.
    """
    return _with_photos(album_uid, given, add_photos, "added")


@require("albums.update")
@takes(ZipSelectionSchema, any_type=True, max_body=MAX_BODY)
@answers(_REMOVED, "The album, what was selected, and what is no longer in the album.")
@refuses(400, 404, 409)
def remove_album_photos(given: dict[str, Any], album_uid: str) -> Response:
    """Remove photos from an album, also from a smart one. They stay in the library."""
    return _with_photos(album_uid, given, remove_photos, "removed")


@require("albums.update")
@takes(AlbumSelectionSchema, any_type=True, max_body=MAX_BODY)
@answers(_ADDED, "The album, what was selected, and what is new in the album.")
@refuses(400, 404, 409)
def clone_albums(given: dict[str, Any], album_uid: str) -> Response:
    """Add the photos of the albums in `albums`, also of smart and computed ones, to an album of chosen photos."""
    return _with_photos(album_uid, {"photos": None, "files": None, "q": None, **given}, add_photos, "added")


@require("albums.view")
@answers({"type": "object"}, "No links.", many=True)
@refuses(404)
def list_album_links(album_uid: str) -> Response:
    """Always an empty list: this service makes no public links to albums."""
    _check_album(album_uid)
    return json_answer([])


@require("albums.update")
@answers({"type": "object"}, "Never.")
@refuses(404, 405)
def add_album_link(album_uid: str) -> Response:
    """Refused: this service makes no public links to albums."""
    _check_album(album_uid)
    msg = "this service makes no public links; give people an account or an app password"
    raise MethodNotAllowed(["GET"], msg)


def _in_order(album_uid: str) -> Response:
    who = principal()
    with searching(who.owner_uid, "uid") as connection, session_on(connection) as session:
        album = album_of_people(session, album_uid, sees_private=who.sees_private)
        uids = photos_in_order(session, album, sees_private=who.sees_private)
    return json_answer({"photos": uids})


def _check_album(uid: str) -> None:
    with current_service().reading() as connection:
        found = is_uid(uid, ALBUM) and find_album(connection, uid, sees_private=principal().sees_private)
    if not found:
        msg = "there is no such album"
        raise NotFoundError(msg, field="uid")


def _with_photos(
    album_uid: str,
    given: Mapping[str, Any],
    change: PhotosChange,
    outcome: str,
) -> Response:
    photos, changed = change_photos(album_uid, parse_selection(given), change)
    record = record_of_album(album_uid)
    answer = {
        "code": 200,
        "message": f"{counted(len(changed), 'photo')} {outcome}: {record['Title']}",
        "album": record,
        "photos": list(photos.values()),
        outcome: [{"PhotoUID": photos[photo_id], "AlbumUID": album_uid} for photo_id in changed],
    }
    # photoprism 0.1.0 reads the fields of the album beside these, and after `clone` in `a`.
    return json_answer({**record, **answer, "a": record})
