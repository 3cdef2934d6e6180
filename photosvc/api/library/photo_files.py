"""/photos/<uid>/files/<file uid>: which file shows a photo, and files that leave it."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response
from sqlalchemy.orm import Session

from photosvc.api.library.edits import Editing, change_one
from photosvc.api.library.taking import taking_originals
from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.core.values.sources import MANUAL
from photosvc.index.describing.file_columns import choose_orientation
from photosvc.index.places import Gazetteer
from photosvc.index.stacking.unstack import unstack
from photosvc.index.storing.catalog import Catalog
from photosvc.library.edits.journal import Actor, Change, record
from photosvc.library.edits.values import FILES
from photosvc.library.files.removal import remove_file
from photosvc.library.trash import originals
from photosvc.models import File, Photo
from photosvc.records.edits.edit import OrientationSchema
from photosvc.records.photos.entity import PhotoSchema
from photosvc.web.answers.answer import json_text
from photosvc.web.contract import answers, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require


def add_routes(api: Blueprint) -> None:
    """Add the files of photos to the API."""
    path = "/photos/<photo_uid>/files/<file_uid>"
    api.add_url_rule(f"{path}/primary", view_func=choose_file, methods=["POST"])
    api.add_url_rule(f"{path}/unstack", view_func=unstack_file, methods=["POST"])
    api.add_url_rule(f"{path}/orientation", view_func=turn_file, methods=["PUT"])
    api.add_url_rule(path, view_func=delete_file, methods=["DELETE"])


@require("photos.update")
@answers(PhotoSchema, "The photo as it is now.")
@refuses(404, 409, 412)
def choose_file(photo_uid: str, file_uid: str) -> Response:
    """Let this file show the photo, also after index runs."""

    def change(editing: Editing) -> None:
        photo = editing.photo
        chosen = _file(photo, file_uid)
        if chosen.error:
            msg = "the file cannot be shown"
            raise ConflictError(msg)
        if not chosen.primary:
            for file in photo.files:
                file.primary_src = MANUAL if file is chosen else ""

    return json_text(change_one(photo_uid, "photos.primary", change)[0])


@require("photos.update")
@takes(OrientationSchema)
@answers(PhotoSchema, "The photo as it is now.")
@refuses(400, 404, 409, 412)
def turn_file(given: dict[str, Any], photo_uid: str, file_uid: str) -> Response:
    """Show the file as this Exif orientation says, also after index runs; null shows it as the file says.

    The original stays as it is: thumbnails, marked areas, width and height are turned.
    """

    def change(editing: Editing) -> None:
        file = _file(editing.photo, file_uid)
        if file.error or file.media_type == "video":
            msg = "only pictures can be turned"
            raise ConflictError(msg)
        if given["orientation"] != file.orientation:
            choose_orientation(file, given["orientation"])

    return json_text(change_one(photo_uid, "photos.orientation", change)[0])


@require("photos.update")
@answers(PhotoSchema, "The photo that the file left.")
@refuses(404, 409, 412)
def unstack_file(photo_uid: str, file_uid: str) -> Response:
    """Make a photo of its own of this file; no index run stacks it again."""

    def leave(session: Session, file: File) -> None:
        now = current_service().now()
        photo = unstack(session, Catalog(session, Gazetteer.load()), file, now)
        record(session, Change("photos.unstack", Actor.of(principal())), now, {photo.uid: ({}, {FILES: [file.name]})})

    return _without(photo_uid, file_uid, "photos.unstack", leave)


@require("photos.delete")
@answers(PhotoSchema, "The photo without the file.")
@refuses(404, 409, 412, 507)
def delete_file(photo_uid: str, file_uid: str) -> Response:
    """Remove a file from its photo.

    The original stays, and only `svc index --force` adds it again; with `PHOTOSVC_DELETE_ORIGINALS` it moves into the
    trash, from which `svc trash restore` brings it back.
    """
    with taking_originals() as deletion:

        def leave(session: Session, file: File) -> None:
            now = current_service().now()
            if deletion is None:
                remove_file(session, file, now)
            else:
                originals.delete_file(session, file, deletion, now)

        return _without(photo_uid, file_uid, "photos.delete", leave)


def _without(photo_uid: str, file_uid: str, action: str, leave: Callable[[Session, File], None]) -> Response:
    def change(editing: Editing) -> None:
        photo, session = editing.photo, editing.session
        file = _file(photo, file_uid)
        if not any(other is not file and not other.missing and not other.sidecar for other in photo.files):
            msg = "the file is the only one of its photo"
            raise ConflictError(msg)
        leave(session, session.get_one(File, file.id))
        session.flush()
        editing.loaded.reload(photo)

    return json_text(change_one(photo_uid, action, change)[0])


def _file(photo: Photo, uid: str) -> File:
    for file in photo.files:
        if file.uid == uid and not file.missing:
            return file
    msg = "the photo has no such file"
    raise NotFoundError(msg, field="file_uid")
