"""/users/<uid>/upload/<token>: files are sent by POST and added to the originals by PUT, as known clients do it."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from flask import Blueprint, Response
from werkzeug.sansio.multipart import Data, File

from photosvc.api.library.adding import add_uploads, albums_by_name, record_of_outcome, wait_for_index
from photosvc.core.errors import InvalidValueError, PermissionDeniedError
from photosvc.core.texts.counted import counted
from photosvc.library.staging import Part, Staging
from photosvc.library.uploads.admit import ADDED, DUPLICATE, REFUSED
from photosvc.library.uploads.waiting import (
    LIFETIME,
    QuotaExceededError,
    TooManyFilesError,
    add_waiting,
    bytes_left,
    waiting_in,
)
from photosvc.models import Upload
from photosvc.pictures.names import safe_name
from photosvc.records.upload import AdditionSchema
from photosvc.settings import Settings
from photosvc.web.actions import uses
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import FLAG, NUMBER, TEXT, answers, json_object, refuses, takes, takes_files
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.requests.json_body import InvalidBodyError
from photosvc.web.transfers.multipart import form_events
from photosvc.web.transfers.receiving import receiving, sender

#: The token in the address of an upload, which the client chooses.
UPLOAD_TOKEN: Final = re.compile(r"[\w.~-]{1,200}", re.ASCII)
_MIB: Final = 1 << 20
#: Bytes of a form around its files.
_ROOM: Final = 1 << 20

_RECEIVED: Final = json_object(
    "code message files",
    code=NUMBER,
    message=TEXT,
    files={"type": "array", "items": json_object("name size hash", name=TEXT, size=NUMBER, hash=TEXT)},
)
_FILE: Final = json_object(
    "name status",
    name=TEXT,
    status={"type": "string", "enum": [ADDED, DUPLICATE, REFUSED]},
    hash=TEXT,
    code=TEXT,
    FileName=TEXT,
    PhotoUID=TEXT,
    FileUID=TEXT,
    reason=TEXT,
)
_ADDED: Final = json_object(
    "code message indexed files",
    code=NUMBER,
    message=TEXT,
    indexed=FLAG,
    files={"type": "array", "items": _FILE},
)


def add_routes(api: Blueprint) -> None:
    """Add the uploads to the API."""
    path = "/users/<user_uid>/upload/<token>"
    api.add_url_rule(path, view_func=send_files, methods=["POST"])
    api.add_url_rule(path, view_func=add_files, methods=["PUT"])


@require("files.upload")
@takes_files("Pictures, videos and their sidecars.")
@answers(_RECEIVED, "What was received.")
@refuses(400, 413, 429, 503, 507)
def send_files(user_uid: str, token: str) -> Response:
    """Send files in a form (`multipart/form-data`), at first into a waiting room: PUT adds them to the originals.

    Several requests may send files to one address; they wait for three days.
    """
    _check_address(user_uid, token)
    service, who = current_service(), sender()
    with service.loading() as session:
        left = bytes_left(session, service.settings, who.user_id)
    service.end_reading()
    if left is not None and left <= 0:
        raise QuotaExceededError
    with receiving():
        received = _receive(who.staging, service.settings, left)
    now = service.now()
    uploads = [
        Upload(
            token=part.token,
            user_id=who.user_id,
            bundle=token,
            name=name,
            size=part.size,
            hash=part.sha1,
            created_at=now,
            expires_at=now + LIFETIME,
        )
        for part, name in received
    ]
    try:
        with service.writing() as session:
            add_waiting(session, service.settings, uploads)
    except BaseException:
        _discard(who.staging, received)
        raise
    files = [{"name": name, "size": part.size, "hash": part.sha1} for part, name in received]
    return json_answer({"code": 200, "message": f"{counted(len(files), 'file')} received", "files": files})


@require("files.upload")
@uses("albums.update", "albums.create")
@takes(AdditionSchema, any_type=True)
@answers(_ADDED, "What became of each file.")
@refuses(400, 404, 409, 429, 503, 507)
def add_files(given: dict[str, Any], user_uid: str, token: str) -> Response:
    """Add the files that were sent to this address to the originals, and their photos to albums.

    A file that the library has already is a `duplicate` and is not stored again. When `indexed` is false, another index
    run is going on: the photos and their places in albums follow as soon as it ends.
    """
    _check_address(user_uid, token)
    service, who = current_service(), sender()
    now = service.now()
    with service.loading() as session:
        waiting = waiting_in(session, who.user_id, token, service.settings.upload_files)
        session.expunge_all()
    service.end_reading()
    with receiving():
        albums = albums_by_name(service, given["albums"] or (), now)
        outcomes = add_uploads(who, waiting, now, albums=albums)
        indexed = wait_for_index(service, outcomes)
    count = sum(outcome.status == ADDED for outcome in outcomes)
    files = [record_of_outcome(service, outcome) for outcome in outcomes]
    return json_answer({"code": 200, "message": f"{counted(count, 'file')} added", "indexed": indexed, "files": files})


def _check_address(user_uid: str, token: str) -> None:
    if user_uid != principal().user_uid:
        raise PermissionDeniedError
    if not UPLOAD_TOKEN.fullmatch(token):
        msg = "the token of an upload has 1 to 200 letters, digits, dots, dashes, tildes and low lines"
        raise InvalidValueError(msg, field="token")


def _receive(staging: Staging, settings: Settings, left: int | None) -> list[tuple[Part, str]]:
    """The files of the request's form, each a kept part with its name; an error deletes them all."""
    most = settings.max_file_size * _MIB
    total = most * settings.upload_files if left is None else left
    received: list[tuple[Part, str]] = []
    with ExitStack() as undo:
        undo.callback(_discard, staging, received)
        with ExitStack() as open_part:
            part: Part | None = None
            for event in form_events(max_files=settings.upload_files, max_bytes=total + _ROOM):
                if isinstance(event, File):
                    if len(received) >= settings.upload_files:
                        raise TooManyFilesError
                    part = open_part.enter_context(staging.receive(most_bytes=most, keep=True))
                    received.append((part, safe_name(event.filename.replace("\\", "/").rpartition("/")[2])))
                elif isinstance(event, Data) and part is not None:
                    part.write(event.data)
                    if not event.more_data:
                        open_part.close()
                        part = None
        if not received:
            msg = "send at least one file, in a part named files"
            raise InvalidBodyError(msg)
        undo.pop_all()
    return received


def _discard(staging: Staging, received: Sequence[tuple[Part, str]]) -> None:
    for part, _ in received:
        staging.delete(part.token)
