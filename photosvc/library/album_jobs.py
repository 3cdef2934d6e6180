"""Jobs that put the photos of received files into albums as soon as the files are indexed.

A job lists the SHA-1 of some files, and the albums for all of them. It is due when one of its files is indexed or
permanently rejected, and when its time is over; the other files stay in it. Names do not matter: a file may be renamed
meanwhile, or come back from the trash.
"""

import secrets
from collections.abc import Collection, Generator, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Exists, Text, and_, case, exists, func, not_, or_, select, type_coerce, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import ALBUMS, IS_OPEN, QueuedJob, State
from photosvc.library.album_photos import add_photos
from photosvc.library.albums import album_to_change
from photosvc.library.upload_queue import LIFETIME
from photosvc.models import ORIGINALS_ROOT, File, Job, RejectedFile, SearchRow, UploadedFile
from photosvc.models.engine import write_session
from photosvc.models.statements import UNLOADED
from photosvc.search.reading.compile import visible
from photosvc.settings import Settings

#: Files of one job: one transaction adds them to their albums.
MOST_FILES: Final = 200
_INDEXED: Final = (File.root == ORIGINALS_ROOT, File.missing.is_(False))
#: The condition of claims whose files the index rejected permanently, or a person removed from the library.
REFUSED_CLAIMS: Final = (
    RejectedFile.root == ORIGINALS_ROOT,
    RejectedFile.name == UploadedFile.name,
    RejectedFile.retry_at.is_(None),
)


#: The argument `contributed_by` of a job, see `queue_albums`; NULL for None.
_SENDER: Final = Job.arguments["contributed_by"].as_string()
#: The condition of the claims that count for a job.
_CLAIMED_BY_JOB: Final = case(
    (_SENDER.is_(None), not_(UploadedFile.contributed)),
    else_=and_(UploadedFile.contributed, UploadedFile.user_id == Job.user_id, UploadedFile.link_uid == _SENDER),
)


class NotInAlbumsError(NotFoundError):
    """The albums of uploaded files were deleted, or some files were refused or deleted before they were indexed."""


def queue_albums(
    session: Session,
    subject: str,
    files: Sequence[str],
    albums: Sequence[str],
    now: datetime,
    user_id: int | None,
    *,
    contributed_by: str | None = None,
) -> str:
    """Queue a job that puts the photos of some files into albums, and return its subject.

    Args:
        subject: the result of this function for other files of the same albums, whose job these files join while it
            waits and has space; empty for the first files.
        files: the SHA-1 of files that belong together, and therefore share a job.
        albums: UIDs.
        user_id: the account that sent the files.
        contributed_by: None for files of the account itself. Otherwise only files count that it sent as a contributor
            (an empty text), or that visitors of the link with this UID sent. Private, archived and hidden photos are
            then left out.

    Raises:
        TooManyJobsError: as many jobs of the account wait as are allowed.
    """
    queue.lock_jobs(session)
    waits = (Job.kind == ALBUMS.name, Job.subject == subject, Job.state == State.WAITING.value)
    shared = select(Job.id, Job.arguments).where(*waits)
    row = session.execute(shared).first() if subject else None
    all_files = list(dict.fromkeys([*(row.arguments["files"] if row else ()), *files]))
    if row is not None and len(all_files) <= MOST_FILES:
        arguments = {**row.arguments, "files": all_files}
        session.execute(update(Job).where(Job.id == row.id).values(arguments=arguments), execution_options=UNLOADED)
        return subject
    subject = secrets.token_hex(8)
    arguments = {"albums": list(albums), "files": list(dict.fromkeys(files))}
    if contributed_by is not None:
        arguments["contributed_by"] = contributed_by
    queue.add(session, ALBUMS, subject, now, arguments, user_id=user_id, not_before=now + LIFETIME)
    return subject


def can_go_on(session: Session) -> ColumnElement[bool]:
    """Return the condition of jobs with a file that is indexed or permanently rejected."""
    content = _contents(session)
    refused = exists().where(UploadedFile.hash == content.c.value, *REFUSED_CLAIMS, _CLAIMED_BY_JOB)
    return exists(select(content.c.value).where(or_(_is_indexed(content.c.value), refused)).correlate(Job))


def will_follow(session: Session, files: Collection[str]) -> bool:
    """Return whether a waiting or running job puts an indexed one of these files into albums."""
    content = _contents(session)
    indexed = select(content.c.value).where(content.c.value.in_(files), _is_indexed(content.c.value))
    has_one = exists(indexed.correlate(Job))
    query = select(Job.id).where(Job.kind == ALBUMS.name, IS_OPEN, has_one).limit(1)
    return session.execute(query).first() is not None


def put_into_albums(lease: Lease, _settings: Settings, job: QueuedJob) -> Generator[bool, None, None]:
    """Put the photos of a job's indexed files into their albums, as a `library.job_runner.Handler`."""
    files, albums = job.arguments["files"], job.arguments["albums"]
    with write_session(lease.engine, library=True) as session:
        lease.check(session)
        now = lease.clock()
        sender = job.arguments.get("contributed_by")
        claims = (
            (UploadedFile.contributed, UploadedFile.user_id == job.user_id, UploadedFile.link_uid == sender)
            if sender is not None
            else (not_(UploadedFile.contributed),)
        )
        indexed = select(File.hash, File.photo_id).where(File.hash.in_(files), *_INDEXED)
        indexed = indexed.where(File.contributed.is_(sender is not None))
        if sender is not None:
            indexed = indexed.where(exists().where(UploadedFile.name == File.name, *claims))
        photos = {row.hash: row.photo_id for row in session.execute(indexed)}
        photo_ids = list(dict.fromkeys(photos.values()))
        if sender is not None:
            photo_ids = _shown(session, photo_ids)
        present = _add_to_albums(session, albums, photo_ids, now) if photos else len(albums)
        refused = set(
            session.scalars(select(UploadedFile.hash).where(UploadedFile.hash.in_(files), *claims, *REFUSED_CLAIMS))
        )
        is_over = now >= job.created_at + LIFETIME
        waiting = (
            []
            if is_over
            else [file_hash for file_hash in files if file_hash not in photos and file_hash not in refused]
        )
        added = job.arguments.get("added", 0) + (len(photos) if present else 0)
        lost = job.arguments.get("lost", 0) + len(files) - len(waiting) - (len(photos) if present else 0)
        lease.report = lambda: {"added": added, "lost": lost}
        if waiting:
            arguments = {**job.arguments, "files": waiting, "added": added, "lost": lost}
            lease.put_off(session, job.created_at + LIFETIME, arguments)
        elif not lost:
            lease.finish(session)
    if lost and not waiting:
        raise NotInAlbumsError
    yield from ()  # the whole job was one portion


def _add_to_albums(session: Session, albums: Sequence[str], photo_ids: Sequence[int], now: datetime) -> int:
    """Add photos to the albums that still take photos, and return the number of these albums."""
    present = 0
    for uid in sorted(albums):
        try:
            album = album_to_change(session, uid, sees_private=True)
        except (NotFoundError, ConflictError):
            continue
        add_photos(session, album, photo_ids, now)
        present += 1
    return present


def _shown(session: Session, photo_ids: Sequence[int]) -> list[int]:
    """Return the ids of the photos that are neither private, archived nor hidden."""
    query = select(SearchRow.photo_id).where(SearchRow.photo_id.in_(photo_ids), visible(sees_private=False))
    visible_ids = set(session.scalars(query))
    return [photo_id for photo_id in photo_ids if photo_id in visible_ids]


def _is_indexed(content: ColumnElement[str]) -> Exists:
    is_own = or_(not_(File.contributed), exists().where(UploadedFile.name == File.name, _CLAIMED_BY_JOB))
    return exists().where(File.hash == content, *_INDEXED, File.contributed == _SENDER.is_not(None), is_own)


def _contents(session: Session) -> Any:  # noqa: ANN401 - a table of one column
    """Return the SHA-1 of the files of a job, as rows."""
    if session.get_bind().dialect.name == "postgresql":
        return func.json_array_elements_text(Job.arguments["files"]).table_valued("value").render_derived()
    return func.json_each(type_coerce(Job.arguments, Text), "$.files").table_valued("value")
