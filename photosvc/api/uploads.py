"""Uploads of the API, and the albums that they are for.

At /users/<uid>/upload/<token>, POST sends files and PUT adds them to the originals, as known clients do it.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from flask import Response
from sqlalchemy.orm import Session

from photosvc.auth.policy import decide
from photosvc.core import ids
from photosvc.core.errors import InvalidValueError, NotFoundError, PermissionDeniedError
from photosvc.core.message import counted
from photosvc.library.admission import ADDED, DAMAGED, DUPLICATE, NOT_SHOWN, REFUSED
from photosvc.library.albums import album_named, album_of_people, make_album, uids_by_title
from photosvc.library.staging import require_writable
from photosvc.library.trash.deletion import Deletion, deleting
from photosvc.library.trash.folder import Trash
from photosvc.query.fold import fold
from photosvc.records.albums import AdditionSchema
from photosvc.web.contract import FLAG, NUMBER, TEXT, answers, json_object, outcome, takes, takes_files, uses
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import is_own_account, principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import Service, current_service
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

#: The token in the address of an upload, which the client chooses.
UPLOAD_TOKEN: Final = re.compile(r"[\w.~-]{1,200}", re.ASCII)
_RECEIVED: Final = outcome(
    files={"type": "array", "items": json_object("name size hash", name=TEXT, size=NUMBER, hash=TEXT)},
)
_FILE: Final = json_object(
    "name status", name=TEXT, status={"type": "string", "enum": [ADDED, DAMAGED, NOT_SHOWN, DUPLICATE, REFUSED]},
    hash=TEXT, token=TEXT, code=TEXT, FileName=TEXT, PhotoUID=TEXT, FileUID=TEXT, reason=TEXT, indexed=FLAG,
)  # fmt: skip
_ADDED: Final = outcome(indexed=FLAG, files={"type": "array", "items": _FILE})


@contextmanager
def taking_originals() -> Iterator[Deletion | None]:
    """Yield the deletion that moves originals into the trash after a write transaction; None if originals stay.

    Raises:
        PermissionDeniedError: originals are to be deleted, but are read-only.
    """
    service = current_service()
    settings = service.settings
    if not settings.delete_originals:
        yield None
        return
    require_writable(settings)
    with deleting(Trash(settings.originals), service.now()) as deletion:
        yield deletion


def albums_by_name(service: Service, names: Sequence[str], now: datetime) -> list[str]:
    """Return the UIDs of the albums with these UIDs or titles; make an album for a title that none has.

    Raises:
        NotFoundError: there is no album with this UID.
        PermissionDeniedError: the principal may not change albums.
        ConflictError: photos cannot be added to this album.
    """
    if not names:
        return []
    who = principal()
    decide(who, "albums.update")
    with service.writing(library=True) as session:
        # Read once for all names, because the transaction keeps others from writing.
        titles = uids_by_title(session) if any(not ids.is_uid(name, ids.ALBUM) for name in names) else {}
        return [_album(session, name, titles, now) for name in dict.fromkeys(names)]


def _album(session: Session, name: str, titles: dict[str, list[str]], now: datetime) -> str:
    who = principal()
    if ids.is_uid(name, ids.ALBUM):
        return album_of_people(session, name, sees_private=who.sees_private).uid
    try:
        album = album_named(session, name, titles)
    except NotFoundError:
        decide(who, "albums.create")
        made = make_album(session, {"title": name}, now, who.owner_uid)
        titles[fold(name)] = [made.uid]
        return made.uid
    return album_of_people(session, album.uid, sees_private=who.sees_private).uid


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
def add_files(given: dict[str, Any], user_uid: str, token: str) -> Response:
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
        albums = albums_by_name(service, given["albums"] or (), now)
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
