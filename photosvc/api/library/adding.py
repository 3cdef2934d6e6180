"""Adding the files of an account that wait, the albums they go to, and waiting a moment until they are indexed."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from photosvc.auth.policy import decide
from photosvc.core import ids
from photosvc.core.errors import NotFoundError
from photosvc.core.portions import in_portions
from photosvc.index.running.run_lock import is_running
from photosvc.library.albums import album_named, album_of_people, make_album
from photosvc.library.staging.errors import NameTakenError, PartMissingError
from photosvc.library.uploads.admit import ADDED, Admission, Admitted
from photosvc.library.uploads.inspect import ReceivedFile
from photosvc.library.uploads.waiting_albums import fill_albums
from photosvc.models import ORIGINALS_ROOT, File, RejectedFile, Sidecar, Upload
from photosvc.search.reading.lookup import file_with_hash
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal
from photosvc.web.service.indexer import Indexer, wake_indexer
from photosvc.web.transfers.receiving import Sender

#: Seconds in which an indexer that has nothing else to do indexes some files, and those given to another run.
_WAIT: Final = 20.0
_SHORT_WAIT: Final = 3.0
_PAUSE: Final = 0.1
_MOST: Final = 1 << 62
_PORTION: Final = 500


def add_uploads(
    who: Sender, uploads: Sequence[Upload], now: datetime, *, albums: Sequence[str] = (), keep: bool = False
) -> list[Admitted]:
    """Add complete files to the originals and leave wishes to index them.

    Args:
        who: whose files they are.
        uploads: loaded, without a session.
        now: the present.
        albums: UIDs.
        keep: keep the rows, marked as finished.

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
    ids = [upload.id for upload in uploads]
    change = update(Upload).values(finished=True) if keep else delete(Upload)
    for token in tokens.values():
        staging.delete(token)
    with service.writing() as session:
        session.execute(change.where(Upload.id.in_(ids)), execution_options={"synchronize_session": False})
    return outcomes


def wait_for_index(service: Service, outcomes: Sequence[Admitted]) -> bool:
    """Wait until an indexer has seen the added files, not long while it is busy; whether it has."""
    names = [outcome.placed for outcome in outcomes if outcome.placed]
    if not names:
        return True
    with service.loading() as session:
        busy = is_running(session, service.now())
    service.end_reading()
    if wake_indexer(service) is Indexer.NONE:
        return False
    end = time.monotonic() + (_SHORT_WAIT if busy else _WAIT)
    while not (seen := _are_seen(service, names)) and time.monotonic() < end:
        time.sleep(_PAUSE)
    if seen:
        with service.changing() as session:
            fill_albums(session, service.now())
    return seen


def _are_seen(service: Service, names: Sequence[str]) -> bool:
    """Whether the index has stored or rejected each of these files."""
    with service.loading() as session:
        left = set(names)
        for table in (File, Sidecar, RejectedFile):
            for portion in in_portions(sorted(left), _PORTION):
                query = select(table.name).where(table.root == ORIGINALS_ROOT, table.name.in_(portion))
                left -= set(session.scalars(query))
    service.end_reading()
    return not left


def record_of_outcome(service: Service, outcome: Admitted) -> dict[str, Any]:
    """What clients learn of a file that they sent."""
    record = {"name": outcome.file.name, "status": outcome.status, "hash": outcome.file.hash}
    if outcome.problem is not None:
        return {**record, "code": outcome.problem.reason.value, "reason": outcome.problem.sentence}
    with service.reading() as connection:
        found = file_with_hash(connection, outcome.file.hash, sees_private=principal().sees_private)
    if found is None:  # not indexed yet, or not for this principal
        return {**record, "FileName": outcome.placed} if outcome.status == ADDED else record
    return {**record, "FileName": found.name, "PhotoUID": found.photo_uid, "FileUID": found.uid}


def albums_by_name(service: Service, names: Sequence[str], now: datetime) -> list[str]:
    """The UIDs of albums that the principal may change, by UID or title; of a title that none has, one is made.

    Raises:
        NotFoundError: there is no album with this UID.
        PermissionDeniedError: the principal may not change albums.
        ConflictError: photos cannot be added to this album.

    """
    if not names:
        return []
    who = principal()
    decide(who, "albums.update")
    with service.changing() as session:
        return [_album(session, name, now) for name in dict.fromkeys(names)]


def _album(session: Session, name: str, now: datetime) -> str:
    who = principal()
    if ids.is_uid(name, ids.ALBUM):
        return album_of_people(session, name, sees_private=who.sees_private).uid
    try:
        album = album_named(session, name)
    except NotFoundError:
        decide(who, "albums.create")
        return make_album(session, {"title": name}, now).uid
    return album_of_people(session, album.uid, sees_private=who.sees_private).uid
