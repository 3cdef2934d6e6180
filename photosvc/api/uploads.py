"""Uploads of the API, and their way into the originals, the albums and the index.

At /users/<uid>/upload/<token>, POST sends files and PUT adds them to the originals, as known clients do it.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, Final

from flask import Response
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from werkzeug.sansio.multipart import Data
from werkzeug.sansio.multipart import File as FilePart

from photosvc.auth.policy import decide
from photosvc.core import ids
from photosvc.core.errors import InvalidValueError, NotFoundError, PermissionDeniedError
from photosvc.core.problems import Reason
from photosvc.core.words import counted, in_portions
from photosvc.index.jobs import is_running
from photosvc.library.albums import album_named, album_of_people, make_album, uids_by_title
from photosvc.library.staging import Staging
from photosvc.library.staging_part import NameTakenError, Part, PartMissingError, ReadOnlyError
from photosvc.library.trash_deletion import Deletion, deleting
from photosvc.library.trash_folder import Trash
from photosvc.library.upload_albums import (
    LIFETIME,
    QuotaExceededError,
    TooManyFilesError,
    add_waiting,
    bytes_left,
    waiting_in,
    will_follow,
)
from photosvc.library.upload_checks import ReceivedFile
from photosvc.library.uploads import ADDED, DUPLICATE, REFUSED, Admission, Admitted
from photosvc.models import ORIGINALS_ROOT, File, RejectedFile, Sidecar, Upload
from photosvc.pictures.originals import safe_name
from photosvc.query.fold import fold
from photosvc.records.albums import AdditionSchema
from photosvc.search.reading.files import file_with_hash
from photosvc.settings import Settings
from photosvc.web.actions import OwnBlueprint, uses
from photosvc.web.answers import json_answer
from photosvc.web.contract import (
    FLAG,
    NUMBER,
    TEXT,
    InvalidBodyError,
    answers,
    json_object,
    refuses,
    takes,
    takes_files,
)
from photosvc.web.current import Service, current_service
from photosvc.web.indexer import Indexer, wake_indexer
from photosvc.web.protector import principal, require
from photosvc.web.receiving import Sender, form_events, receiving, sender

uploads = OwnBlueprint("uploads", __name__)

#: Seconds to wait for an idle indexer to index some files, and for one that is busy with another run.
_WAIT: Final = 20.0
_SHORT_WAIT: Final = 3.0
_PAUSE: Final = 0.1
_MOST: Final = 1 << 62
_PORTION: Final = 500
#: The token in the address of an upload, which the client chooses.
UPLOAD_TOKEN: Final = re.compile(r"[\w.~-]{1,200}", re.ASCII)
_MIB: Final = 1 << 20
#: Most bytes of a form in addition to its files.
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


@contextmanager
def taking_originals() -> Iterator[Deletion | None]:
    """Yield the deletion that moves originals into the trash after a write transaction; None if originals stay.

    Raises:
        ReadOnlyError: originals are to be deleted, but are read-only.
    """
    service = current_service()
    if not service.settings.delete_originals:
        yield None
        return
    if service.settings.readonly:
        raise ReadOnlyError
    with deleting(Trash(service.settings.originals), service.now()) as deletion:
        yield deletion


def add_uploads(
    who: Sender, uploads: Sequence[Upload], now: datetime, *, albums: Sequence[str] = (), keep: bool = False
) -> list[Admitted]:
    """Add complete files to the originals, and request that they are indexed.

    Args:
        who: the account that sent the files.
        uploads: loaded, without a session.
        albums: the UIDs of albums for the photos.
        keep: keep the rows, marked as finished; that of a missing file stays as it is.

    Raises:
        PhotosvcError: a file cannot be stored; those before it are added, and all wait for another try.
    """
    service, staging = current_service(), who.staging
    tokens = {staging.path_of(upload.token): upload.token for upload in uploads}
    files = [ReceivedFile(staging.path_of(upload.token), upload.name, upload.size, upload.hash) for upload in uploads]

    def place(file: ReceivedFile, name: str) -> None:
        try:
            with staging.resume(tokens[file.path], most_bytes=_MOST, expected_length=file.size) as part:
                part.place(name, replace=False)
        except PartMissingError:
            raise NameTakenError from None  # a server that was killed placed it: perhaps under this name

    admission = Admission(service.settings, service.writing, place, now, who.user_id, albums)
    outcomes = admission.admit(files) if files else []
    away = {outcome.file.path for outcome in outcomes if keep and has_vanished(outcome)}
    ids = [upload.id for upload in uploads if staging.path_of(upload.token) not in away]
    change = update(Upload).values(finished=True) if keep else delete(Upload)
    for path, token in tokens.items():
        if path not in away:  # another request may be adding it, and may have to put it back
            staging.delete(token)
    with service.writing() as session:
        session.execute(change.where(Upload.id.in_(ids)), execution_options={"synchronize_session": False})
    return outcomes


def has_vanished(outcome: Admitted) -> bool:
    """Return whether a file is missing where it waited, and is no original that the library knows."""
    return outcome.problem is not None and outcome.problem.reason is Reason.VANISHED


def wait_for_index(service: Service, outcomes: Sequence[Admitted]) -> bool:
    """Wait until an indexer has seen the added files, for a short time if it is busy; return whether it has.

    Photos that it has seen are in their albums.
    """
    names = [outcome.placed for outcome in outcomes if outcome.placed]
    if not names:
        return True
    files = [outcome.file.hash for outcome in outcomes if outcome.placed]
    with service.reading(orm=True) as session:
        busy = is_running(session, service.now())
    service.end_reading()
    if wake_indexer(service) is Indexer.NONE:
        return False
    end = time.monotonic() + (_SHORT_WAIT if busy else _WAIT)
    while not (seen := _are_done(service, names, files)) and time.monotonic() < end:
        time.sleep(_PAUSE)
    return seen


def _are_done(service: Service, names: Sequence[str], files: Sequence[str]) -> bool:
    """Return whether an index run has stored or rejected these files, and put their photos into their albums."""
    with service.reading(orm=True) as session:
        left = set(names)
        for table in (File, Sidecar, RejectedFile):
            for portion in in_portions(sorted(left), _PORTION):
                query = select(table.name).where(table.root == ORIGINALS_ROOT, table.name.in_(portion))
                left -= set(session.scalars(query))
        is_done = not left and not any(will_follow(session, portion) for portion in in_portions(files, _PORTION))
    service.end_reading()
    return is_done


def record_of_outcome(service: Service, outcome: Admitted) -> dict[str, Any]:
    """Return the record for the client of a file that it sent."""
    record = {"name": outcome.file.name, "status": outcome.status, "hash": outcome.file.hash}
    if outcome.problem is not None:
        return {**record, "code": outcome.problem.reason.value, "reason": outcome.problem.sentence}
    with service.reading() as connection:
        found = file_with_hash(connection, outcome.file.hash, sees_private=principal().sees_private)
    if found is None:  # not indexed yet, or not for this principal
        return {**record, "FileName": outcome.placed} if outcome.status == ADDED else record
    return {**record, "FileName": found.name, "PhotoUID": found.photo_uid, "FileUID": found.uid}


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
        made = make_album(session, {"title": name}, now)
        titles[fold(name)] = [made.uid]
        return made.uid
    return album_of_people(session, album.uid, sees_private=who.sees_private).uid


@uploads.post("/users/<user_uid>/upload/<token>")
@require("files.upload")
@takes_files("Pictures, videos and their sidecars.")
@answers(_RECEIVED, "The received files.")
@refuses(400, 413, 429, 503, 507)
def send_files(user_uid: str, token: str) -> Response:
    """Send files in a form (`multipart/form-data`); they wait until PUT adds them to the originals.

    Several requests may send files to one address; they wait for three days.
    """
    _check_address(user_uid, token)
    service, who = current_service(), sender()
    with service.reading(orm=True) as session:
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


@uploads.put("/users/<user_uid>/upload/<token>")
@require("files.upload")
@uses("albums.update", "albums.create")
@takes(AdditionSchema, any_type=True)
@answers(_ADDED, "The result of each file.")
@refuses(400, 404, 409, 429, 503, 507)
def add_files(given: dict[str, Any], user_uid: str, token: str) -> Response:
    """Add the files that were sent to this address to the originals, and their photos to albums.

    A file that the library has already is a `duplicate` and is not stored again. If `indexed` is false, another index
    run is going on: the photos appear, also in the albums, after it has ended.
    """
    _check_address(user_uid, token)
    service, who = current_service(), sender()
    now = service.now()
    with service.reading(orm=True) as session:
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
        msg = "the token of an upload has 1 to 200 letters, digits, dots, hyphens, tildes and underscores"
        raise InvalidValueError(msg, field="token")


def _receive(staging: Staging, settings: Settings, left: int | None) -> list[tuple[Part, str]]:
    """Receive the files of the request's form; return their parts and names. An error deletes all of them."""
    most = settings.max_file_size * _MIB
    total = most * settings.upload_files if left is None else left
    received: list[tuple[Part, str]] = []
    with ExitStack() as undo:
        undo.callback(_discard, staging, received)
        with ExitStack() as open_part:
            part: Part | None = None
            for event in form_events(max_files=settings.upload_files, max_bytes=total + _ROOM):
                if isinstance(event, FilePart):
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
