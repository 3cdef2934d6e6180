"""Uploads that wait: files to be added, within the limits of their accounts, and photos to be put into albums.

A job puts the photos of files into the albums that they were sent to, as soon as the files are indexed. It has the
content of some files and the albums of all of them. It is due when one of its files is indexed, or refused for good,
and when its time is over; files that are neither wait on in it. A file may have another name by then, or come back from
the trash: its content decides.
"""

import secrets
from collections.abc import Collection, Generator, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Exists,
    Text,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, NeverPermittedError, NotFoundError, PhotosvcError
from photosvc.core.words import in_portions
from photosvc.index import jobs
from photosvc.index.jobs import ALBUMS, IS_OPEN, State, Waiting
from photosvc.index.lease import Lease
from photosvc.library.album_photos import add_photos
from photosvc.library.albums import album_to_change
from photosvc.library.staging import Staging
from photosvc.models import ORIGINALS_ROOT, File, Job, RejectedFile, SearchRow, Upload, UploadedFile, User
from photosvc.models.engine import write_session
from photosvc.models.statements import UNLOADED, insert_into
from photosvc.search.reading.compile import visible
from photosvc.settings import Settings

#: The time for which a file waits to be completed or added.
LIFETIME: Final = timedelta(days=3)
#: Resumable uploads of one account that may be incomplete.
MOST_INCOMPLETE: Final = 1000
#: Files of one account that may wait, in all of its uploads, unless one upload may have more: each takes an inode and a
#: row, however small it is.
MOST_WAITING: Final = 10_000
_MIB: Final = 1 << 20
_PORTION: Final = 500
#: Files of one job, which one transaction adds to their albums.
MOST_FILES: Final = 200
_INDEXED: Final = (File.root == ORIGINALS_ROOT, File.missing.is_(False))
#: The claims of files that the index refused for good, or that a person removed from the library.
REFUSED: Final = (
    RejectedFile.root == ORIGINALS_ROOT,
    RejectedFile.name == UploadedFile.name,
    RejectedFile.retry_at.is_(None),
)


#: The argument `contributed_by` of a job, see `wish_albums`; NULL for None.
_SENDER: Final = Job.arguments["contributed_by"].as_string()
#: The claims of files that count for a job.
_CLAIMED_BY_JOB: Final = case(
    (_SENDER.is_(None), not_(UploadedFile.apart)),
    else_=and_(UploadedFile.apart, UploadedFile.user_id == Job.user_id, UploadedFile.link_uid == _SENDER),
)


class QuotaExceededError(PhotosvcError):
    """The account may not upload so much; an administrator can raise PHOTOSVC_UPLOAD_QUOTA."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


class AccountDeletedError(NeverPermittedError):
    """The account was deleted while its files arrived."""


class TooManyFilesError(PhotosvcError):
    """There are too many files in this upload."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def bytes_left(session: Session, settings: Settings, user_id: int) -> int | None:
    """Return the bytes that the account may still upload; None without a quota.

    Files on their way count with their announced size, added ones until they leave the originals.
    """
    if not settings.upload_quota:
        return None
    waiting = select(func.coalesce(func.sum(Upload.size), 0))
    waiting = waiting.where(Upload.user_id == user_id, not_(Upload.finished))
    added = select(func.coalesce(func.sum(UploadedFile.size), 0)).where(UploadedFile.user_id == user_id)
    return settings.upload_quota * _MIB - int(session.scalar(waiting) or 0) - int(session.scalar(added) or 0)


def count_stored(
    session: Session, settings: Settings, user_id: int, stored: Sequence[tuple[str, str, int]], now: datetime
) -> None:
    """Count files that an account stored in another way in its quota, by their names, hashes and sizes.

    Raises:
        QuotaExceededError: the account may not store so much.
        AccountDeletedError: there is no such account any more.
    """
    # They replace originals that are counted in no quota any more.
    gone = delete(UploadedFile).where(UploadedFile.name.in_([name for name, _, _ in stored]))
    session.execute(gone, execution_options=UNLOADED)
    left = bytes_left(session, settings, user_id)
    if left is None:
        return
    require_account(session, user_id)
    if sum(size for _, _, size in stored) > left:
        raise QuotaExceededError
    for name, content, size in stored:
        row = {"user_id": user_id, "name": name, "size": size, "original_name": "", "created_at": now}
        claim = insert_into(UploadedFile, session).values({**row, "hash": content}).on_conflict_do_nothing()
        if session.scalar(claim.returning(UploadedFile.id)) is None:  # another file claims the content
            session.execute(insert(UploadedFile).values({**row, "hash": None}))


def add_waiting(session: Session, settings: Settings, uploads: Sequence[Upload]) -> None:
    """Store files on their way, in a write transaction: all of one account and one bundle.

    Raises:
        QuotaExceededError: the account may not upload so much.
        TooManyFilesError: as many files of the upload, or of the account, wait as are allowed.
        AccountDeletedError: there is no such account any more.
    """
    user_id, bundle = uploads[0].user_id, uploads[0].bundle
    lock_account(session, user_id)
    require_account(session, user_id)
    session.add_all(uploads)
    session.flush()
    left = bytes_left(session, settings, user_id)
    if left is not None and left < 0:
        raise QuotaExceededError
    count = select(func.count()).select_from(Upload).where(Upload.user_id == user_id, not_(Upload.finished))
    most = max(MOST_WAITING, settings.upload_files)
    if (session.scalar(count) or 0) > most:
        raise TooManyFilesError(f"{most:,} files of yours wait already: add them, or wait until they expire")
    most = settings.upload_files if bundle else MOST_INCOMPLETE
    if (session.scalar(count.where(Upload.bundle == bundle)) or 0) > most:
        raise TooManyFilesError


def require_account(session: Session, user_id: int) -> None:
    """Make sure, until the write transaction ends, that an account exists: it may be deleted while its files arrive.

    Raises:
        AccountDeletedError: it does not.
    """
    query = select(User.id).where(User.id == user_id).with_for_update(read=True, key_share=True)
    if session.scalar(query) is None:
        raise AccountDeletedError


def lock_account(session: Session, user_id: int) -> None:
    """Make uploads of one account wait for each other on PostgreSQL, so that its limits hold; SQLite has one writer."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("photosvc_uploads"), user_id)))


def find_upload(session: Session, user_id: int, token: str) -> Upload | None:
    """Return the account's upload with this token, also an expired one."""
    return session.scalar(select(Upload).where(Upload.token == token, Upload.user_id == user_id))


def waiting_in(session: Session, user_id: int, bundle: str, limit: int) -> Sequence[Upload]:
    """Return the files of a bundle that are complete, in the order in which they came."""
    query = select(Upload).where(Upload.user_id == user_id, Upload.bundle == bundle, Upload.hash != "")
    return session.scalars(query.where(not_(Upload.finished)).order_by(Upload.id).limit(limit)).all()


def known_tokens(session: Session, tokens: Sequence[str]) -> set[str]:
    """Return the tokens among these, of kept parts, that an upload has."""
    found: set[str] = set()
    for some in in_portions(tokens):
        found.update(session.scalars(select(Upload.token).where(Upload.token.in_(some))))
    return found


def sweep(session: Session, staging: Staging, now: datetime) -> int:
    """Delete some expired uploads with their parts, in a write transaction, and return their number."""
    query = select(Upload.id, Upload.token).where(Upload.expires_at <= now).order_by(Upload.expires_at).limit(_PORTION)
    expired = session.execute(query).all()
    for _, token in expired:
        staging.delete(token)
    ids = [row.id for row in expired]
    session.execute(delete(Upload).where(Upload.id.in_(ids)), execution_options=UNLOADED)
    return len(expired)


class NotInAlbumsError(NotFoundError):
    """The albums of uploaded files were deleted, or some files were refused or deleted before they were indexed."""


def wish_albums(
    session: Session,
    subject: str,
    files: Sequence[str],
    albums: Sequence[str],
    now: datetime,
    user_id: int | None,
    *,
    contributed_by: str | None = None,
) -> str:
    """Ask for the photos of some files to be put into albums, and return the subject of the job.

    Args:
        subject: the result of this function for other files of the same albums: they share a job while it waits and has
            space. Empty for the first ones.
        files: the SHA-1 of the content of files that belong together, which share a job.
        albums: UIDs.
        user_id: of the account that asks.
        contributed_by: only files count that the account sent as a contributor (an empty text), or visitors of the link
            with this UID, and photos are left out that are private, archived or hidden when the job runs. None for all
            other files.

    Raises:
        TooManyJobsError: as many jobs of the account wait as are allowed.
    """
    jobs.lock_jobs(session)
    waits = (Job.kind == ALBUMS.name, Job.subject == subject, Job.state == State.WAITING.value)
    shared = select(Job.id, Job.arguments).where(*waits)
    row = session.execute(shared).first() if subject else None
    wanted = list(dict.fromkeys([*(row.arguments["files"] if row else ()), *files]))
    if row is not None and len(wanted) <= MOST_FILES:
        arguments = {**row.arguments, "files": wanted}
        session.execute(update(Job).where(Job.id == row.id).values(arguments=arguments), execution_options=UNLOADED)
        return subject
    subject = secrets.token_hex(8)
    arguments = {"albums": list(albums), "files": list(dict.fromkeys(files))}
    if contributed_by is not None:
        arguments["contributed_by"] = contributed_by
    jobs.add(session, ALBUMS, subject, now, arguments, user_id=user_id, not_before=now + LIFETIME)
    return subject


def can_go_on(session: Session) -> ColumnElement[bool]:
    """Return the condition of jobs one of whose files is indexed, or refused for good."""
    content = _contents(session)
    refused = exists().where(UploadedFile.hash == content.c.value, *REFUSED, _CLAIMED_BY_JOB)
    return exists(select(content.c.value).where(or_(_is_indexed(content.c.value), refused)).correlate(Job))


def will_follow(session: Session, files: Collection[str]) -> bool:
    """Return whether a waiting or running job may put some of these files, which are indexed, into albums now."""
    content = _contents(session)
    own = select(content.c.value).where(content.c.value.in_(files), _is_indexed(content.c.value))
    has_one = exists(own.correlate(Job))
    query = select(Job.id).where(Job.kind == ALBUMS.name, IS_OPEN, has_one).limit(1)
    return session.execute(query).first() is not None


def put_into_albums(lease: Lease, _settings: Settings, job: Waiting) -> Generator[bool, None, None]:
    """Put the photos of a job's indexed files into their albums, as a `library.job_runner.Handler`."""
    files, albums = job.arguments["files"], job.arguments["albums"]
    with write_session(lease.engine, library=True) as session:
        lease.check(session)
        now = lease.clock()
        sender = job.arguments.get("contributed_by")
        claims = (
            (UploadedFile.apart, UploadedFile.user_id == job.user_id, UploadedFile.link_uid == sender)
            if sender is not None
            else (not_(UploadedFile.apart),)
        )
        indexed = select(File.hash, File.photo_id).where(File.hash.in_(files), *_INDEXED)
        indexed = indexed.where(File.contributed.is_(sender is not None))
        if sender is not None:
            indexed = indexed.where(exists().where(UploadedFile.name == File.name, *claims))
        photos = {row.hash: row.photo_id for row in session.execute(indexed)}
        chosen = list(dict.fromkeys(photos.values()))
        if sender is not None:
            chosen = _shown(session, chosen)
        present = _add(session, albums, chosen, now) if photos else len(albums)
        refused = set(session.scalars(select(UploadedFile.hash).where(UploadedFile.hash.in_(files), *claims, *REFUSED)))
        is_over = now >= job.created_at + LIFETIME
        left = [] if is_over else [one for one in files if one not in photos and one not in refused]
        added = job.arguments.get("added", 0) + (len(photos) if present else 0)
        lost = job.arguments.get("lost", 0) + len(files) - len(left) - (len(photos) if present else 0)
        lease.report = lambda: {"added": added, "lost": lost}
        if left:
            arguments = {**job.arguments, "files": left, "added": added, "lost": lost}
            lease.put_off(session, job.created_at + LIFETIME, arguments)
        elif not lost:
            lease.finish(session)
    if lost and not left:
        raise NotInAlbumsError
    yield from ()  # all of it was one portion


def _add(session: Session, albums: Sequence[str], photo_ids: Sequence[int], now: datetime) -> int:
    """Add photos to the albums among these that people may still add to, and return the number of these albums."""
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
    """Return the ids of the photos among these that anybody may see: not private, archived or hidden."""
    query = select(SearchRow.photo_id).where(SearchRow.photo_id.in_(photo_ids), visible(sees_private=False))
    shown = set(session.scalars(query))
    return [photo_id for photo_id in photo_ids if photo_id in shown]


def _is_indexed(content: ColumnElement[str]) -> Exists:
    is_own = or_(not_(File.contributed), exists().where(UploadedFile.name == File.name, _CLAIMED_BY_JOB))
    return exists().where(File.hash == content, *_INDEXED, File.contributed == _SENDER.is_not(None), is_own)


def _contents(session: Session) -> Any:  # noqa: ANN401 - a table of one column
    """Return the SHA-1 of the files of a job, as rows."""
    if session.get_bind().dialect.name == "postgresql":
        return func.json_array_elements_text(Job.arguments["files"]).table_valued("value").render_derived()
    return func.json_each(type_coerce(Job.arguments, Text), "$.files").table_valued("value")
