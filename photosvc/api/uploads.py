"""Uploads of files at /users/<uid>/upload/<token>, as known clients send them.

POST sends files, and PUT adds them to the originals.
"""

from typing import Any, Final

from flask import Response

from photosvc.core.errors import InvalidValueError, PermissionDeniedError
from photosvc.core.message import counted
from photosvc.library.admission import ADDED, DAMAGED, DUPLICATE, NOT_SHOWN, REFUSED
from photosvc.library.albums import albums_by_name
from photosvc.library.upload_queue import UPLOAD_TOKEN
from photosvc.records.albums import AdditionSchema
from photosvc.web.contract import FLAG, NUMBER, TEXT, answers, json_object, outcome, takes, takes_files, uses
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import is_own_account, principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service
from photosvc.web.uploads import (
    add_uploads,
    message_of,
    receive_form,
    receiving,
    record_of_outcome,
    sender,
    wait_for_index,
    waiting_files,
)

uploads = OwnBlueprint("uploads", __name__)

_RECEIVED: Final = outcome(
    files={"type": "array", "items": json_object("name size hash", name=TEXT, size=NUMBER, hash=TEXT)},
)
_FILE: Final = json_object(
    "name status", name=TEXT, status={"type": "string", "enum": [ADDED, DAMAGED, NOT_SHOWN, DUPLICATE, REFUSED]},
    hash=TEXT, token=TEXT, code=TEXT, FileName=TEXT, PhotoUID=TEXT, FileUID=TEXT, reason=TEXT, indexed=FLAG,
)  # fmt: skip
_ADDED: Final = outcome(indexed=FLAG, files={"type": "array", "items": _FILE})


@uploads.post("/users/<user_uid>/upload/<token>")
@require("files.upload")
@takes_files("Pictures, videos and their sidecars.")
@answers(_RECEIVED, "The received files.", refuses=(400, 413, 429, 503, 507))
def send_files(user_uid: str, token: str) -> Response:
    """Send files in a form (`multipart/form-data`); they wait until PUT adds them to the originals.

    Several requests may send files to one address; they wait for three days.
    """
    _check_address(user_uid, token)
    who = sender()
    with receiving():
        uploads = receive_form(who, token)
    files = [{"name": upload.name, "size": upload.size, "hash": upload.hash} for upload in uploads]
    return json_answer({"code": 200, "message": f"{counted(len(files), 'file')} received", "files": files})


@uploads.put("/users/<user_uid>/upload/<token>")
@require("files.upload")
@uses("albums.update", "albums.create")
@takes(AdditionSchema, any_type=True)
@answers(_ADDED, "The result of each file.", refuses=(400, 404, 409, 429, 503, 507))
def add_files(body: dict[str, Any], user_uid: str, token: str) -> Response:
    """Add the files that were sent to this address to the originals, and their photos to albums.

    A file that the library has already is a `duplicate` and is not stored again. If `indexed` is false, another index
    run is going on: the photos appear, also in the albums, after it has ended. A file that is stored although it is
    `damaged`, or `not_shown` by this installation, has the `reason`.
    """
    _check_address(user_uid, token)
    service, who = current_service(), sender()
    now = service.now()
    waiting = waiting_files(who, token)
    with receiving():
        albums = albums_by_name(service.writing, body["albums"] or (), principal(), now)
        outcomes = add_uploads(who, waiting, now, albums=albums)
    indexed = wait_for_index(service, outcomes)
    files = [record_of_outcome(service, outcome) for outcome in outcomes]
    message = message_of([file["status"] for file in files])
    return json_answer({"code": 200, "message": message, "indexed": indexed, "files": files})


def _check_address(user_uid: str, token: str) -> None:
    if not is_own_account(user_uid):
        raise PermissionDeniedError
    if not UPLOAD_TOKEN.fullmatch(token):
        msg = "the token of an upload has 1 to 200 letters, digits, dots, hyphens, tildes and underscores"
        raise InvalidValueError(msg, field="token")
