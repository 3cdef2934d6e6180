"""/markers/<uid>: who is on a marked area of a picture."""

from collections.abc import Callable
from typing import Any

import orjson
from flask import Blueprint, Response
from sqlalchemy import select

from photosvc.api.library.edits import Editing, change_one
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.ids import MARKER, is_uid
from photosvc.index.describing.describe import areas_of
from photosvc.index.describing.markers import choose_name, own_markers
from photosvc.index.sidecars.links import sidecars_of
from photosvc.models import File, Marker, Photo
from photosvc.query.fold import words
from photosvc.records.people import MarkerEditSchema
from photosvc.records.photos.photo import MarkerSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import answers, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import require


def add_routes(api: Blueprint) -> None:
    """Add marked areas to the API."""
    api.add_url_rule("/markers/<marker_uid>", view_func=name_marker, methods=["PUT"])
    api.add_url_rule("/markers/<marker_uid>/subject", view_func=unname_marker, methods=["DELETE"])


@require("people.update")
@takes(MarkerEditSchema, any_type=True)
@answers(MarkerSchema, "The marked area as it is now.")
@refuses(400, 404, 409, 412)
def name_marker(given: dict[str, Any], marker_uid: str) -> Response:
    """Say who is on a marked area; null gives the name back to the file.

    The name outlives every index run, as long as the file has this area. It is in the history of the photo.
    """
    name = given["name"]
    if name and not words(name):
        msg = "Name: send a name with letters or digits"
        raise InvalidValueError(msg, field="Name")
    return _named(marker_uid, name)


@require("people.update")
@answers(MarkerSchema, "The marked area, which has no name now.")
@refuses(404, 409, 412)
def unname_marker(marker_uid: str) -> Response:
    """Say that the person on a marked area is not who the file says, without naming another one."""
    return _named(marker_uid, "")


def _named(marker_uid: str, name: str | None) -> Response:
    body, _ = change_one(_photo_of(marker_uid), "people.marker", _naming(marker_uid, name))
    markers = (marker for file in orjson.loads(body)["Files"] for marker in file["Markers"])
    found = next((marker for marker in markers if marker["UID"] == marker_uid), None)
    if found is None:
        raise _no_marker()
    return json_answer(found)


def _naming(marker_uid: str, name: str | None) -> Callable[[Editing], None]:
    def change(editing: Editing) -> None:
        photo = editing.photo
        file = next((file for file in photo.files if any(one.uid == marker_uid for one in file.markers)), None)
        if file is None or file.missing:
            raise _no_marker()
        sidecars = sidecars_of(editing.session, [photo.id])
        own, areas = [one.uid for one in own_markers(file)], areas_of(file, sidecars.get(file.id, ()))
        if marker_uid not in own or len(own) != len(areas):
            msg = "the areas of this file changed; index it first"
            raise ConflictError(msg)
        choose_name(file, areas, own.index(marker_uid), name)

    return change


def _photo_of(marker_uid: str) -> str:
    """The UID of the photo that a marker is on; `change_one` finds out whether it may be seen."""
    query = select(Photo.uid).join(File, File.photo_id == Photo.id).join(Marker, Marker.file_id == File.id)
    with current_service().reading() as connection:
        found = connection.scalar(query.where(Marker.uid == marker_uid)) if is_uid(marker_uid, MARKER) else None
    if found is None:
        raise _no_marker()
    uid: str = found
    return uid


def _no_marker() -> NotFoundError:
    msg = "there is no such marked area"
    return NotFoundError(msg, field="uid")
