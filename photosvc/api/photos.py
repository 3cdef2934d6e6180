"""One photo and its files: their records, and the changes, history, undo and stack of the photo.

The addresses are those below /photos/<uid>, and /files/<hash>, which finds a file by its content.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from flask import Response, request
from sqlalchemy.orm import Session

from photosvc.core.accounts import ADMIN
from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.vocabulary import MANUAL
from photosvc.index.file_columns import choose_orientation
from photosvc.index.shared_rows import SharedRows
from photosvc.library import stacks
from photosvc.library.edits import FILES, apply, approve
from photosvc.library.journal import Author, Change, changes_of, find_change, record, wire_values
from photosvc.library.trash.deletion import trash_file
from photosvc.models import File, Photo
from photosvc.records.edits import ChangeSchema, OrientationSchema, PhotoEditSchema, yaml_text
from photosvc.records.fields import compile_schema
from photosvc.records.photos import FileEntitySchema, PhotoSchema
from photosvc.search.reading.files import file_with_hash, files_of_photo, load_file
from photosvc.search.reading.library import state_tag
from photosvc.web.changes import Editing, EditingChange, answer_changed, change_one, read_record, taking_originals
from photosvc.web.contract import ETAG, LONG_BODY, answers, describe, json_object, takes, takes_query
from photosvc.web.files import disposition
from photosvc.web.paging import log_parameters, read_page_of_log
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import JSON, ReadyResponse, cache_headers, json_answer, json_text, require_modified
from photosvc.web.service import current_service

photos = OwnBlueprint("photos", __name__)

_YAML: Final = "text/x-yaml; charset=utf-8"
_dump_file = compile_schema(FileEntitySchema())
#: The contract of answers that wrap the photo, as clients expect for like, approve and undo.
WRAPPED = json_object(photo={"type": "object"})
_schema = ChangeSchema()


@photos.get("/photos/<photo_uid>")
@require("photos.view")
@answers(PhotoSchema, "The photo.", headers=ETAG)
def read_photo(photo_uid: str) -> Response:
    """Show a photo with its files, camera, lens, place and albums.

    The record has every field of a merged search result, and the records that those fields refer to.
    """
    body, etag = read_record(photo_uid)
    require_modified(etag)
    return ReadyResponse(body, content_type=JSON, headers=cache_headers(etag))


@photos.get("/photos/<photo_uid>/yaml")
@require("photos.view")
@answers(PhotoSchema, "The photo as YAML.", media_type="text/x-yaml", headers=ETAG, refuses=(404,))
def read_photo_as_yaml(photo_uid: str) -> Response:
    """Show the record of a photo as YAML; with `download`, as a file that is named by the UID."""
    body, etag = read_record(photo_uid)
    require_modified(etag)
    headers = cache_headers(etag)
    if "download" in request.args:
        headers.append(disposition(f"{photo_uid}.yml"))
    return ReadyResponse(yaml_text(orjson.loads(body)), content_type=_YAML, headers=headers)


@photos.get("/files/<content_hash>")
@require("files.view")
@answers(FileEntitySchema, "The file.", headers=ETAG)
def read_file(content_hash: str) -> Response:
    """Show the record of the file with this SHA1; `PhotoUID` names its photo."""
    service, sees_private, content_hash = current_service(), principal().sees_private, content_hash.lower()
    with service.reading() as connection:
        file = file_with_hash(connection, content_hash, sees_private=sees_private)
        if file is None:
            raise NotFoundError("there is no such file", field="hash")
        etag = state_tag(connection, "file", content_hash, sees_private=sees_private, today=service.today())
    require_modified(etag)
    with service.reading(orm=True) as session:
        body = orjson.dumps(_dump_file(load_file(session, file.file_id)))
    return ReadyResponse(body, content_type=JSON, headers=cache_headers(etag))


@photos.put("/photos/<photo_uid>")
@photos.patch("/photos/<photo_uid>", endpoint="patch_photo")
@require("photos.update")
@takes(PhotoEditSchema, any_type=True, quoted=True, max_body=LONG_BODY)
@answers(PhotoSchema, "The changed photo.", headers=ETAG, refuses=(400, 404, 412))
def change_photo(values: dict[str, Any], photo_uid: str) -> Response:
    """Change a photo: absent fields stay as they are, null restores the value of the files.

    Values that a person sets outlive every index run. With `If-Match`, only the state with that entity tag is changed.
    """
    body, etag = change_one(
        photo_uid, "photos.update", lambda editing: apply(editing.photo, values, editing.shared_rows)
    )
    return ReadyResponse(body, content_type=JSON, headers=cache_headers(etag))


@photos.post("/photos/<photo_uid>/like")
@photos.delete("/photos/<photo_uid>/like", endpoint="dislike_photo")
@require("photos.update")
@answers(WRAPPED, "The changed photo.", refuses=(404, 412))
def like_photo(photo_uid: str) -> Response:
    """Make a photo a favourite by POST, and no longer by DELETE."""
    values = {"favorite": request.method == "POST"}
    return _wrapped(photo_uid, "photos.like", lambda editing: apply(editing.photo, values, editing.shared_rows))


@photos.post("/photos/<photo_uid>/approve")
@require("photos.update")
@answers(WRAPPED, "The changed photo.", refuses=(404, 412))
def approve_photo(photo_uid: str) -> Response:
    """Take a photo out of review: it counts as edited, with a score that is good enough."""
    return _wrapped(photo_uid, "photos.approve", lambda editing: approve(editing.photo))


def _wrapped(photo_uid: str, action: str, change: EditingChange) -> Response:
    return json_text(b'{"photo":' + change_one(photo_uid, action, change)[0] + b"}")


def _parameters() -> list[dict[str, Any]]:
    return describe(log_parameters("changes", "ID"))


@photos.get("/photos/<photo_uid>/history")
@require("photos.history")
@takes_query(_parameters)
@answers(ChangeSchema, "The changes, the last one first.", many=True, refuses=(400, 404))
def read_history(photo_uid: str) -> Response:
    """List the changes of a photo with their authors and times; `Before` and `After` contain the values that differ.

    The values have the names of the photo's record. Callers who may not see private photos see the changes since the
    photo was last private. Administrators who may see them also see the history of a photo that was deleted; its
    deletion is the last change.
    """
    count, before = read_page_of_log()
    service, who = current_service(), principal()
    with service.reading() as connection:
        seen = files_of_photo(connection, photo_uid, sees_private=who.sees_private)
    with service.reading(orm=True) as session:
        may_read_deleted = who.role == ADMIN and who.sees_private and is_uid(photo_uid, PHOTO)
        known = seen or may_read_deleted
        changes = []
        if known:
            changes = changes_of(session, photo_uid, count=count, before=before, sees_private=who.sees_private)
        if not (seen or changes):
            raise NotFoundError("there is no such photo", field="uid")
        records = [_schema.dump(change) for change in changes]
    for entry in records:
        entry["Before"], entry["After"] = wire_values(entry["Before"]), wire_values(entry["After"])
        if not who.sees_private:
            entry["Before"].pop("Albums", None)  # after a removed photo came back, these include private albums
    return json_answer(records)


@photos.post("/photos/<photo_uid>/history/<number>/undo")
@require("photos.update")
@answers(WRAPPED, "The changed photo.", refuses=(404, 409, 412))
def undo_change(photo_uid: str, number: str) -> Response:
    """Undo a change: its values become what they were before. This is a change of its own, which can be undone.

    409 names the values that changed since then.
    """

    def change(editing: Editing) -> int:
        undone = find_change(editing.session, photo_uid, number, sees_private=principal().sees_private)
        stacks.undo_change(editing.shared_rows, editing.photo, undone, current_service().now())
        return undone.id

    return _wrapped(photo_uid, "photos.undo", change)


@photos.post("/photos/<photo_uid>/files/<file_uid>/primary")
@require("photos.update")
@answers(PhotoSchema, "The changed photo.", refuses=(404, 409, 412))
def choose_file(photo_uid: str, file_uid: str) -> Response:
    """Choose this file as the primary file of the photo, also after index runs."""

    def change(editing: Editing) -> None:
        photo = editing.photo
        chosen = _file(photo, file_uid)
        if chosen.error:
            raise ConflictError("the file cannot be shown")
        if not chosen.primary:
            for file in photo.files:
                file.primary_src = MANUAL if file is chosen else ""

    return answer_changed(photo_uid, "photos.primary", change)


@photos.put("/photos/<photo_uid>/files/<file_uid>/orientation")
@require("photos.update")
@takes(OrientationSchema)
@answers(PhotoSchema, "The changed photo.", refuses=(400, 404, 409, 412))
def turn_file(values: dict[str, Any], photo_uid: str, file_uid: str) -> Response:
    """Turn a file by this Exif orientation, also after index runs; null restores the orientation of the file.

    The original stays as it is: thumbnails, marked areas, width and height are turned.
    """

    def change(editing: Editing) -> None:
        file = _file(editing.photo, file_uid)
        if file.error or file.media_type == "video":
            raise ConflictError("only pictures can be turned")
        if values["orientation"] != file.orientation:
            choose_orientation(file, values["orientation"])

    return answer_changed(photo_uid, "photos.orientation", change)


@photos.post("/photos/<photo_uid>/files/<file_uid>/unstack")
@require("photos.update")
@answers(PhotoSchema, "The photo that the file left.", refuses=(404, 409, 412))
def unstack_file(photo_uid: str, file_uid: str) -> Response:
    """Take a file out of its stack: it becomes a photo of its own, which no index run stacks again.

    A photo that a person stacked gets all its files back, with what people entered about it. If the file is one of the
    photo that the stack begins with, the other photos leave.
    """

    def leave(session: Session, file: File) -> None:
        service = current_service()
        now, shared_rows = service.now(), SharedRows(session, service.settings.timezone)
        photo = stacks.unstack(session, shared_rows, file, now)
        names = sorted(one.name for one in photo.files if not one.missing)
        record(session, Change("photos.unstack", Author.of(principal())), now, {photo.uid: ({}, {FILES: names})})

    return _without(photo_uid, file_uid, "photos.unstack", leave)


@photos.delete("/photos/<photo_uid>/files/<file_uid>")
@require("photos.delete")
@answers(PhotoSchema, "The photo without the file.", refuses=(404, 409, 412, 413, 507))
def delete_file(photo_uid: str, file_uid: str) -> Response:
    """Delete a file of a photo: its original moves into the trash, from which it can be restored.

    Without `PHOTOSVC_DELETE_ORIGINALS` the original stays where it is.
    """
    with taking_originals() as deletion:
        now = current_service().now()
        leave = partial(trash_file, deletion=deletion, now=now)
        return _without(photo_uid, file_uid, "photos.delete", leave)


def _without(photo_uid: str, file_uid: str, action: str, leave: Callable[[Session, File], None]) -> Response:
    def change(editing: Editing) -> None:
        photo, session = editing.photo, editing.session
        leave(session, session.get_one(File, _leaving(photo, file_uid).id))
        session.flush()
        session.expire_all()

    return answer_changed(photo_uid, action, change)


def _leaving(photo: Photo, file_uid: str) -> File:
    """Return the file with this UID, or raise `ConflictError` if the photo has no other one."""
    file = _file(photo, file_uid)
    if not any(other is not file and not other.missing and not other.sidecar for other in photo.files):
        raise ConflictError("the file is the only one of its photo")
    return file


def _file(photo: Photo, uid: str) -> File:
    for file in photo.files:
        if file.uid == uid and not file.missing:
            return file
    raise NotFoundError("the photo has no such file", field="file_uid")
