"""Uploads that wait to be completed or added, within the limits of their accounts."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from sqlalchemy import delete, func, insert, not_, select
from sqlalchemy.orm import Session

from photosvc.core.errors import NeverPermittedError, PhotosvcError
from photosvc.library.staging import Staging
from photosvc.models import Upload, UploadedFile, User
from photosvc.models.statements import UNLOADED, in_portions, insert_into
from photosvc.settings import Settings

#: The token in the address of an upload, which the client chooses.
UPLOAD_TOKEN: Final = re.compile(r"[\w.~-]{1,200}", re.ASCII)
#: Time after which a waiting file is deleted.
LIFETIME: Final = timedelta(days=3)
#: Resumable uploads of one account that may be incomplete.
MOST_INCOMPLETE: Final = 1000
#: Files of one account that may wait in all uploads, unless `PHOTOSVC_UPLOAD_FILES` is larger. Each takes an
#: inode and a row, even if it is small.
MOST_WAITING: Final = 10_000
_MIB: Final = 1 << 20
_PORTION: Final = 500


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

    Waiting files count with their announced size, and added files as long as they are originals.
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
    """Count files in the quota of an account that stored them without an upload.

    Args:
        stored: their names, SHA-1 and sizes in bytes.

    Raises:
        QuotaExceededError: the quota of the account is used up.
        AccountDeletedError: the account was deleted.
    """
    # Replaced originals of these names leave the quotas of their accounts.
    replaced = delete(UploadedFile).where(UploadedFile.name.in_([name for name, _, _ in stored]))
    session.execute(replaced, execution_options=UNLOADED)
    left = bytes_left(session, settings, user_id)
    if left is None:
        return
    require_account(session, user_id)
    if sum(size for _, _, size in stored) > left:
        raise QuotaExceededError
    for name, content, size in stored:
        row = {"user_id": user_id, "name": name, "size": size, "original_name": "", "created_at": now}
        claim = insert_into(UploadedFile, session).values({**row, "hash": content}).on_conflict_do_nothing()
        if session.scalar(claim.returning(UploadedFile.id)) is None:  # another file has claimed the content
            session.execute(insert(UploadedFile).values({**row, "hash": None}))


def add_waiting(session: Session, settings: Settings, uploads: Sequence[Upload]) -> None:
    """Add uploads of one account and one bundle, in a write transaction.

    Raises:
        QuotaExceededError: the quota of the account is used up.
        TooManyFilesError: the upload, or the account, has too many waiting files.
        AccountDeletedError: the account was deleted.
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
    """Prevent the deletion of an account until the write transaction ends.

    Raises:
        AccountDeletedError: it was deleted before, while its files arrived.
    """
    query = select(User.id).where(User.id == user_id).with_for_update(read=True, key_share=True)
    if session.scalar(query) is None:
        raise AccountDeletedError


def lock_account(session: Session, user_id: int) -> None:
    """Serialize the uploads of one account on PostgreSQL, so that its limits hold; SQLite has one writer."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("photosvc_uploads"), user_id)))


def find_upload(session: Session, user_id: int, token: str) -> Upload | None:
    """Return the account's upload with this token, even if it has expired."""
    return session.scalar(select(Upload).where(Upload.token == token, Upload.user_id == user_id))


def waiting_in(session: Session, user_id: int, bundle: str, limit: int) -> Sequence[Upload]:
    """Return the complete files of a bundle in the order of their arrival."""
    query = select(Upload).where(Upload.user_id == user_id, Upload.bundle == bundle, Upload.hash != "")
    return session.scalars(query.where(not_(Upload.finished)).order_by(Upload.id).limit(limit)).all()


def known_tokens(session: Session, tokens: Sequence[str]) -> set[str]:
    """Return the tokens of resumable parts that still belong to an upload."""
    known: set[str] = set()
    for portion in in_portions(tokens):
        known.update(session.scalars(select(Upload.token).where(Upload.token.in_(portion))))
    return known


def delete_expired(session: Session, staging: Staging, now: datetime) -> int:
    """Delete some expired uploads with their parts, in a write transaction, and return their number."""
    query = select(Upload.id, Upload.token).where(Upload.expires_at <= now).order_by(Upload.expires_at).limit(_PORTION)
    expired = session.execute(query).all()
    for _, token in expired:
        staging.delete(token)
    ids = [row.id for row in expired]
    session.execute(delete(Upload).where(Upload.id.in_(ids)), execution_options=UNLOADED)
    return len(expired)
