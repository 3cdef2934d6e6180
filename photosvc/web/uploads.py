"""Files that a request uploads: received, while they wait, then added to the originals and indexed.

The API and the pages receive them through these functions, so that one door leads into the originals. Each request that
sends files occupies a thread until its last byte, so only some are read at the same time.
"""

import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from flask import g
from sqlalchemy import Connection, delete, select, update
from sqlalchemy.orm import Session
from werkzeug.sansio.multipart import Data
from werkzeug.sansio.multipart import File as FilePart

from photosvc.core.errors import PermissionDeniedError, PhotosvcError
from photosvc.core.message import counted
from photosvc.core.problems import Problem, Reason
from photosvc.jobs.queue import is_running
from photosvc.library.admission import (
    ADDED,
    DAMAGED,
    DUPLICATE,
    NOT_SHOWN,
    REFUSED,
    Admission,
    Admitted,
    stored_status,
)
from photosvc.library.album_jobs import will_follow
from photosvc.library.content import ReceivedFile, check_disk
from photosvc.library.links import bytes_of_today, count_files, require_uploads
from photosvc.library.shares import require_contributor, user_id_of
from photosvc.library.staging import Part, Staging, add_original
from photosvc.library.storage_errors import NameTakenError, PartMissingError, ReadOnlyError
from photosvc.library.upload_queue import (
    LIFETIME,
    QuotaExceededError,
    TooManyFilesError,
    add_waiting,
    bytes_left,
    waiting_in,
)
from photosvc.models import ORIGINALS_ROOT, VISIT, File, RejectedFile, Sidecar, Upload
from photosvc.models.statements import in_portions
from photosvc.pictures.download_names import safe_name
from photosvc.search.reading.files import files_with_hash
from photosvc.settings import Settings
from photosvc.web.admission_gate import Cost
from photosvc.web.auditing import operating
from photosvc.web.contract import InvalidBodyError
from photosvc.web.forms import form_events
from photosvc.web.indexer import Indexer, wake_indexer
from photosvc.web.protector import principal
from photosvc.web.service import Service, current_service
from photosvc.web.visits import count_upload

#: Seconds from the beginning of a request for which it waits for an idle indexer to index its files: a sync worker of
#: gunicorn that answers nothing is killed after 30.
_WAIT: Final = 20.0
#: Seconds to wait for an indexer that is busy with another run.
_SHORT_WAIT: Final = 3.0
_PAUSE: Final = 0.1
_MOST: Final = 1 << 62
_PORTION: Final = 500
_MIB: Final = 1 << 20
#: Most bytes of a form in addition to its files.
_ROOM: Final = 1 << 20


class Sender(NamedTuple):
    """The account that sends files, or whose link a visitor sends files by: they count in its quota."""

    user_id: int
    staging: Staging
    link_uid: str = ""
    """The UID of the link of a visitor; empty for accounts."""


def sender() -> Sender:
    """Return the account that sends files in this request.

    Raises:
        ReadOnlyError: the service accepts no files.
        PermissionDeniedError: the credential belongs to no account, or to a link that takes no files.
        StorageFailedError: the disk of the originals is missing.
    """
    service = current_service()
    settings = service.settings
    if settings.readonly:
        raise ReadOnlyError
    who = principal()
    link = who.shared if who.kind == VISIT else None
    user_id = who.user_id if link is None else link.uploads_for
    if user_id is None:
        raise PermissionDeniedError
    with service.reading(orm=True) as session:
        check_disk(session, settings)
    return Sender(user_id, Staging(settings.originals), "" if link is None else link.link_uid)


def receiving(patience: float = 0) -> AbstractContextManager[None]:
    """Hold a place for requests that send files, for which this one waits at most `patience` seconds.

    Raises:
        NotAdmittedError: there is no place.
    """
    return current_service().gate.holding(Cost.RECEIVE, principal().owner_uid, patience=patience)


def receive_form(who: Sender, bundle: str, most_bytes: int | None = None) -> list[Upload]:
    """Receive the files of a form of at most `most_bytes`; they wait in the upload with the token `bundle`.

    Call it within `receiving`; if the files are added by the same request, within the same block.

    Raises:
        PhotosvcError: the form is invalid, too large, beyond the quota or cut off; all its files are deleted.
    """
    service = current_service()
    with service.reading(orm=True) as session:
        left = bytes_left(session, service.settings, who.user_id)
    service.end_reading()
    if left is not None and left <= 0:
        raise QuotaExceededError
    if most_bytes is not None:
        left = most_bytes if left is None else min(left, most_bytes)
    received = _receive(who.staging, service.settings, left)
    now = service.now()
    uploads = [
        Upload(
            token=part.token,
            user_id=who.user_id,
            bundle=bundle,
            name=name,
            size=part.size,
            hash=part.hash,
            created_at=now,
            expires_at=now + LIFETIME,
        )
        for part, name in received
    ]
    try:
        with service.writing() as session:
            add_waiting(session, service.settings, uploads)
            session.flush()
            session.expunge_all()
    except BaseException:
        _discard(who.staging, received)
        raise
    return uploads


def waiting_files(who: Sender, bundle: str) -> Sequence[Upload]:
    """Return the complete files of an upload, without a session."""
    service = current_service()
    with service.reading(orm=True) as session:
        waiting = waiting_in(session, who.user_id, bundle, service.settings.upload_files)
        session.expunge_all()
    service.end_reading()
    return waiting


def add_uploads(
    who: Sender,
    uploads: Sequence[Upload],
    now: datetime,
    *,
    albums: Sequence[str] = (),
    keep: bool = False,
    is_stranger: bool = False,
    require: Callable[[Session], object] | None = None,
) -> list[Admitted]:
    """Add complete files to the originals, and request that they are indexed.

    Args:
        uploads: loaded, without a session.
        albums: the UIDs of albums for the photos.
        keep: keep the rows, marked as finished; that of a missing file stays as it is.
        is_stranger, require: see `Admission`.

    Raises:
        PhotosvcError: a file cannot be stored. Files before it are added; all of them wait for another try.
    """
    service, staging = current_service(), who.staging
    tokens = {staging.path_of(upload.token): upload.token for upload in uploads}
    files = [ReceivedFile(staging.path_of(upload.token), upload.name, upload.size, upload.hash) for upload in uploads]

    def place(file: ReceivedFile, name: str, undo: ExitStack) -> None:
        try:
            with staging.resume(tokens[file.path], most_bytes=_MOST, expected_length=file.size) as part:
                add_original(service.settings, part, name, undo)
        except PartMissingError:
            raise NameTakenError from None  # a server that was killed placed it: perhaps under this name

    admission = Admission(
        service.settings,
        service.writing,
        place,
        now,
        who.user_id,
        albums,
        link_uid=who.link_uid,
        require=require,
        is_stranger=is_stranger,
    )
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


def contribute(album_uid: str) -> list[Admitted]:
    """Receive the files of the request's form for an album that is shared with the principal, and add them.

    The principal is an account, or the visitor of a link that takes files. The answer does not wait until the files are
    indexed, and so does not show whether the library has them already.

    Raises:
        NotFoundError: the album is not shared with the principal.
        ThrottledError: the visitors of the link, of its address or of the links of its account sent too much.
        PhotosvcError: the principal may not add to it, or `receive_form` or `add_uploads` fails.
    """
    service, who = current_service(), sender()
    most = None
    with service.reading() as connection:  # before the files arrive, which may take long
        _require_contributor(connection, album_uid)
        if who.link_uid:
            most = bytes_of_today(connection, who.link_uid, service.now())
    service.end_reading()
    if who.link_uid:
        count_upload(who.link_uid, who.user_id)
    with receiving():
        received = receive_form(who, secrets.token_hex(16), most)
        try:
            if who.link_uid:
                with operating() as operation:
                    count_files(operation, who.link_uid, album_uid, len(received), sum(file.size for file in received))
            outcomes = add_uploads(
                who,
                received,
                service.now(),
                albums=[album_uid],
                is_stranger=True,
                # Meanwhile, the share or the link may have ended.
                require=lambda session: _require_contributor(session.connection(), album_uid),
            )
        except PhotosvcError:
            _forget(who, received)
            raise
    wake_indexer(service)
    return outcomes


def _require_contributor(connection: Connection, album_uid: str) -> None:
    who = principal()
    if who.kind == VISIT:
        require_uploads(connection, who, album_uid, current_service().now())
    else:
        require_contributor(connection, user_id_of(who), album_uid)


def _forget(who: Sender, uploads: Sequence[Upload]) -> None:
    """Delete files that wait in vain: they would count in the quota until they expire."""
    for upload in uploads:
        who.staging.delete(upload.token)
    with current_service().writing() as session:
        gone = delete(Upload).where(Upload.id.in_([upload.id for upload in uploads]))
        session.execute(gone, execution_options={"synchronize_session": False})


def has_vanished(outcome: Admitted) -> bool:
    """Return whether a file is missing where it waited, and is no original that the library knows."""
    return outcome.problem is not None and outcome.problem.reason is Reason.VANISHED


def wait_for_index(service: Service, outcomes: Sequence[Admitted]) -> bool:
    """Wait until an indexer has seen the added files, for a short time if it is busy; return whether it has.

    Photos that it has seen are in their albums. Call it outside of `receiving`: others could not send files meanwhile.
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
    now = service.clock.monotonic()
    end = min(now + (_SHORT_WAIT if busy else _WAIT), g.get("photosvc_began", now) + _WAIT)
    while not (seen := _are_done(service, names, files)) and service.clock.monotonic() < end:
        service.clock.sleep(_PAUSE)
    return seen


def _are_done(service: Service, names: Sequence[str], files: Sequence[str]) -> bool:
    """Return whether an index run has stored or rejected these files, and added their photos to their albums."""
    with service.reading(orm=True) as session:
        left = set(names)
        for table in (File, Sidecar, RejectedFile):
            for portion in in_portions(sorted(left), _PORTION):
                query = select(table.name).where(table.root == ORIGINALS_ROOT, table.name.in_(portion))
                left -= set(session.scalars(query))
        is_done = not left and not any(will_follow(session, portion) for portion in in_portions(files, _PORTION))
    service.end_reading()
    return is_done


def message_of(statuses: Sequence[str]) -> str:
    """Return the sentence that counts files by their status: `2 files added, 1 file stored but damaged`."""
    parts = [f"{counted(statuses.count(ADDED), 'file')} added"]
    for status, words in ((DAMAGED, "stored but damaged"), (NOT_SHOWN, "stored but not shown")):
        if count := statuses.count(status):
            parts.append(f"{counted(count, 'file')} {words}")
    return ", ".join(parts)


def record_of_file(outcome: Admitted) -> dict[str, Any]:
    """Return the record for the client of a file that it sent, without anything of the library."""
    record = {"name": outcome.file.name, "status": outcome.status, "hash": outcome.file.hash}
    if outcome.problem is None:
        return record
    return {**record, "code": outcome.problem.reason.value, "reason": current_service().say(outcome.problem.sentence)}


def record_of_outcome(service: Service, outcome: Admitted) -> dict[str, Any]:
    """Return the record for the client of a file that it sent; `token` ends the address of its resumable upload."""
    is_indexed = True
    with service.reading() as connection:
        if outcome.problem is None:
            outcome, is_indexed = _seen_by_index(connection, outcome)
        same = files_with_hash(connection, outcome.file.hash, sees_private=principal().sees_private)
        stored = next((file for file in same if file.name == outcome.placed), same[0] if same else None)
    record = {**record_of_file(outcome), "token": outcome.file.path.name.partition(".")[0]}
    if not is_indexed:
        record["indexed"] = False
    if outcome.status == REFUSED:
        return record
    is_other = stored is not None and outcome.problem is not None and not stored.primary
    if stored is None or is_other:  # not indexed yet, or not for this principal
        return record if outcome.status == DUPLICATE else {**record, "FileName": outcome.placed}
    return {**record, "FileName": stored.name, "PhotoUID": stored.photo_uid, "FileUID": stored.uid}


def _seen_by_index(connection: Connection, outcome: Admitted) -> tuple[Admitted, bool]:
    """Return the outcome of a stored file as the index knows it, and whether the index has read the file."""
    at_name = {table: (table.root == ORIGINALS_ROOT, table.name == outcome.placed) for table in (RejectedFile, File)}
    rejected = select(RejectedFile.reason, RejectedFile.detail).where(*at_name[RejectedFile])
    stored = select(File.error, File.error_detail).where(*at_name[File])
    row = connection.execute(rejected).first() or connection.execute(stored).first()
    if row is None:
        is_sidecar = select(Sidecar.id).where(Sidecar.root == ORIGINALS_ROOT, Sidecar.name == outcome.placed)
        return outcome, connection.scalar(is_sidecar) is not None
    problem = Problem.from_columns(*row)
    if problem is None:
        return outcome, True
    if problem.reason is Reason.DUPLICATE:
        return replace(outcome, status=DUPLICATE), True
    status = stored_status(problem) if outcome.status == ADDED else outcome.status
    return replace(outcome, status=status, problem=problem), not problem.reason.may_pass


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
            raise InvalidBodyError("send at least one file, in a part named files")
        undo.pop_all()
    return received


def _discard(staging: Staging, received: Sequence[tuple[Part, str]]) -> None:
    for part, _ in received:
        staging.delete(part.token)
