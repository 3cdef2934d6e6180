"""People on photos: their list, names and favourites (/subjects), and the marked areas of files (/markers)."""

from collections.abc import Callable
from typing import Any, Final

import orjson
from flask import Response, request
from sqlalchemy import ColumnElement, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import FILE, MARKER, is_uid
from photosvc.core.vocabulary import MANUAL
from photosvc.index.file_columns import add_area
from photosvc.library.people import check_person_name, name_area, no_area, remove_area
from photosvc.library.renames import QueuedRename, change_person
from photosvc.media.metadata import Region
from photosvc.models import File, Marker, Photo
from photosvc.records.people import MarkerEditSchema, NewMarkerSchema, SubjectEditSchema, SubjectSchema
from photosvc.records.photos import MarkerSchema
from photosvc.search.reading.covers import with_covers
from photosvc.search.reading.files import files_of_photo, load_file
from photosvc.search.reading.people import read_people
from photosvc.web.changes import Editing, change_one, rename_context
from photosvc.web.contract import ETAG, answers, or_answers, read_switch, takes, takes_query
from photosvc.web.job_answers import JOB, answer_job
from photosvc.web.lists import PAGE_HEADERS, list_entries, list_parameters
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

subjects = OwnBlueprint("subjects", __name__)

_HIDDEN: Final = ({"type": "boolean", "default": False}, "Hidden people, who are otherwise left out.")
_subject, _marker = SubjectSchema(), MarkerSchema()


@subjects.get("/subjects")
@require("people.search")
@takes_query(lambda: list_parameters(hidden=_HIDDEN))
@answers(SubjectSchema, "A page of people.", many=True, headers={**PAGE_HEADERS, **ETAG})
def list_subjects() -> Response:
    """List the people on photos, each with the number of their photos."""
    if request.args.get("type", "").strip().lower() not in {"", "person"}:
        return json_answer([])
    hidden = read_switch("hidden")
    return list_entries("people", current_service().cached(read_people), _subject, with_covers, hidden=hidden)


@subjects.get("/faces")
@require("people.search")
@answers({"type": "object"}, "No faces.", many=True)
def list_faces() -> Response:
    """Answer with an empty list: this service recognises no faces. Names come from the marked areas of files."""
    return json_answer([])


@subjects.get("/subjects/<subject_uid>")
@require("people.search")
@answers(SubjectSchema, "The person.", refuses=(404,))
def read_subject(subject_uid: str) -> Response:
    """Show a person with the number of their photos."""
    return _answer(subject_uid)


@subjects.put("/subjects/<subject_uid>")
@require("people.update")
@takes(SubjectEditSchema, any_type=True)
@answers(SubjectSchema, "The changed person.", refuses=(400, 404, 429))
@or_answers(JOB)
def rename_subject(body: dict[str, Any], subject_uid: str) -> Response:
    """Rename a person, make them a favourite, hide them, or set their birth date.

    The name of another person merges the two under the UID of that person. A name outlives every index run: files
    with an earlier name show this person. Hidden people are left out of lists, facets
    and suggestions. If over 1,000 photos show the person, a job does it.
    """
    name, marks = body.get("name"), {mark: body.get(mark) for mark in ("favorite", "hidden", "birth_date")}
    if name is None and all(value is None for value in marks.values()):
        raise InvalidValueError("Name: send a name, Favorite, Hidden or BirthDate", field="Name")
    if name is not None:
        check_person_name(name)
    context = rename_context("subject_uid")
    changed = change_person(context, context.find_person(subject_uid), name, **marks)
    return answer_job(changed.job_id) if isinstance(changed, QueuedRename) else _answer(changed)


@subjects.post("/subjects/<subject_uid>/like")
@subjects.delete("/subjects/<subject_uid>/like", endpoint="dislike_subject")
@require("people.update")
@answers(SubjectSchema, "The changed person.", refuses=(404,))
def like_subject(subject_uid: str) -> Response:
    """Make a person a favourite by POST, and no longer by DELETE."""
    context = rename_context("subject_uid")
    change_person(context, context.find_person(subject_uid), None, favorite=request.method == "POST")
    return _answer(subject_uid)


def _answer(uid: str) -> Response:
    """Answer with a person, with the latest photo as the cover."""
    context = rename_context("subject_uid")
    person = context.find_person(uid)
    with context.reading() as connection:
        (covered,) = with_covers(connection, [person], sees_private=context.sees_private)
    return json_answer(_subject.dump(covered))


@subjects.get("/markers/<marker_uid>")
@require("people.search")
@answers(MarkerSchema, "The marked area.")
def read_marker(marker_uid: str) -> Response:
    """Show a marked area of a file with the name of the person on it."""
    service, photo_uid = current_service(), _photo_of(marker_uid)
    with service.reading() as connection:
        seen = files_of_photo(connection, photo_uid, sees_private=principal().sees_private)
    with service.reading(orm=True) as session:
        files = [load_file(session, file.file_id) for file in seen]
        marker = next((area for file in files for area in file.markers if area.uid == marker_uid), None)
        if marker is None:
            raise no_area()
        return json_answer(_marker.dump(marker))


@subjects.post("/markers")
@require("people.update")
@takes(NewMarkerSchema, any_type=True)
@answers(MarkerSchema, "The new area.", refuses=(400, 404, 409, 412))
def add_marker(body: dict[str, Any]) -> Response:
    """Mark an area of a file, with the name of the person on it if it is known.

    The area outlives every index run and turns with the picture. It is in the history of the photo. Any part outside
    the picture is cut off.
    """
    if body["name"]:
        check_person_name(body["name"])
    file_uid = body.pop("file_uid")
    photo_uid = _seen_photo(File.uid == file_uid) if is_uid(file_uid, FILE) else None
    x, y = round(body["x"], 5), round(body["y"], 5)
    w, h = (round(min(body[side], 1 - start), 5) for side, start in (("w", x), ("h", y)))
    area = Region(**{**body, "x": x, "y": y, "w": w, "h": h})

    def change(editing: Editing) -> None:
        file = next((file for file in editing.photo.files if file.uid == file_uid and not file.missing), None)
        if file is None:
            raise _no_file()
        add_area(file, area)

    if photo_uid is None:
        raise _no_file()
    box = {"FileUID": file_uid, "Src": MANUAL, "Type": area.kind, "X": x, "Y": y, "W": w, "H": h}
    return _changed(photo_uid, change, lambda marker: box.items() <= marker.items())


@subjects.put("/markers/<marker_uid>")
@require("people.update")
@takes(MarkerEditSchema, any_type=True)
@answers(MarkerSchema, "The changed or removed area.", refuses=(400, 404, 409, 412))
def change_marker(body: dict[str, Any], marker_uid: str) -> Response:
    """Name the person on a marked area, or remove an area that a person added; null restores the name in the file.

    The name outlives every index run, as long as the file has this area. It is in the history of the photo.
    """
    name = body.get("name")
    if body.get("invalid"):
        return _removed(marker_uid)
    if "name" not in body:
        raise InvalidValueError("Name: send a name, or Invalid", field="Name")
    if name:
        check_person_name(name)
    return _named(marker_uid, name)


@subjects.delete("/markers/<marker_uid>/subject")
@require("people.update")
@answers(MarkerSchema, "The area, without a name.", refuses=(404, 409, 412))
def unname_marker(marker_uid: str) -> Response:
    """Remove the name of the person on a marked area, also if the file has one."""
    return _named(marker_uid, "")


def _named(marker_uid: str, name: str | None) -> Response:
    def change(editing: Editing) -> None:
        name_area(editing.session, editing.photo, marker_uid, name)

    return _changed(_photo_of(marker_uid), change, lambda marker: marker["UID"] == marker_uid)


def _removed(marker_uid: str) -> Response:
    record: dict[str, Any] = {}

    def change(editing: Editing) -> None:
        record.update(_marker.dump(remove_area(editing.photo, marker_uid)))

    change_one(_photo_of(marker_uid), "people.marker", change)
    return json_answer({**record, "Invalid": True})


def _changed(photo_uid: str, change: Callable[[Editing], None], chosen: Callable[[dict[str, Any]], bool]) -> Response:
    """Change a photo, and answer with one of its areas."""
    body, _ = change_one(photo_uid, "people.marker", change)
    markers = (marker for file in orjson.loads(body)["Files"] for marker in file["Markers"])
    marker = next(filter(chosen, markers), None)
    if marker is None:
        raise no_area()
    return json_answer(marker)


def _photo_of(marker_uid: str) -> str:
    """Return the UID of the photo with this marker, if the photo may be seen."""
    marked = File.id.in_(select(Marker.file_id).where(Marker.uid == marker_uid))
    photo_uid = _seen_photo(marked) if is_uid(marker_uid, MARKER) else None
    if photo_uid is None:
        raise no_area()
    return photo_uid


def _seen_photo(which: ColumnElement[bool]) -> str | None:
    """Return the UID of the photo with this file; None for a photo that may not be seen, as for an unknown file."""
    with current_service().reading() as connection:
        photo_uid = connection.scalar(select(Photo.uid).join(File, File.photo_id == Photo.id).where(which))
        seen = photo_uid is not None and files_of_photo(connection, photo_uid, sees_private=principal().sees_private)
    return photo_uid if seen else None


def _no_file() -> NotFoundError:
    return NotFoundError("there is no such file", field="FileUID")
