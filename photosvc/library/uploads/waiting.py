"""Files that wait to be added: whose they are, how many may wait, and what an account may still send."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from sqlalchemy import delete, func, not_, select
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.library.staging import Staging
from photosvc.models import Upload, UploadedFile
from photosvc.models.database.inserts import insert_into
from photosvc.settings import Settings

#: How long a file waits to be completed or added.
LIFETIME: Final = timedelta(days=3)
#: Resumable uploads of one account that may be incomplete.
MOST_INCOMPLETE: Final = 1000
_MIB: Final = 1 << 20
_PORTION: Final = 500


class QuotaExceededError(PhotosvcError):
    """The account may not upload so much; an administrator can raise PHOTOSVC_UPLOAD_QUOTA."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


class TooManyFilesError(PhotosvcError):
    """There are too many files in this upload."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def bytes_left(session: Session, settings: Settings, user_id: int) -> int | None:
    """What the account may still upload; None without a quota.

    Files on their way count with their announced size, added ones until they leave the originals.
    """
    if not settings.upload_quota:
        return None
    return settings.upload_quota * _MIB - _used(session, user_id)


def _used(session: Session, user_id: int) -> int:
    waiting = select(func.coalesce(func.sum(Upload.size), 0))
    waiting = waiting.where(Upload.user_id == user_id, not_(Upload.finished))
    added = select(func.coalesce(func.sum(UploadedFile.size), 0)).where(UploadedFile.user_id == user_id)
    return int(session.scalar(waiting) or 0) + int(session.scalar(added) or 0)


def count_stored(
    session: Session, settings: Settings, user_id: int, stored: tuple[str, str, int], now: datetime
) -> None:
    """Count a file that an account stored in another way in its quota, by its name, SHA-1 and size.

    Raises:
        QuotaExceededError: the account may not store so much.

    """
    name, content, size = stored
    uncount(session, name)
    left = bytes_left(session, settings, user_id)
    if left is None:
        return
    if size > left:
        raise QuotaExceededError
    row = {"user_id": user_id, "name": name, "size": size, "original_name": "", "created_at": now}
    for key in (content, name):  # one file claims its content; the others count under their names
        claim = insert_into(UploadedFile, session).values({**row, "hash": key}).on_conflict_do_nothing()
        if session.scalar(claim.returning(UploadedFile.hash)) is not None:
            return


def uncount(session: Session, name: str) -> None:
    """Forget whose quota an original of this name counts in: it has left the originals, or has another content."""
    gone = delete(UploadedFile).where(UploadedFile.name == name)
    session.execute(gone, execution_options={"synchronize_session": False})


def add_waiting(session: Session, settings: Settings, uploads: Sequence[Upload]) -> None:
    """Store files on their way, in a write transaction: all of one account and one bundle.

    Raises:
        QuotaExceededError: the account may not upload so much.
        TooManyFilesError: as many files wait as may.

    """
    user_id, bundle = uploads[0].user_id, uploads[0].bundle
    lock_account(session, user_id)
    session.add_all(uploads)
    session.flush()
    left = bytes_left(session, settings, user_id)
    if left is not None and left < 0:
        raise QuotaExceededError
    count = select(func.count()).select_from(Upload).where(Upload.user_id == user_id, Upload.bundle == bundle)
    most = settings.upload_files if bundle else MOST_INCOMPLETE
    if (session.scalar(count.where(not_(Upload.finished))) or 0) > most:
        raise TooManyFilesError


def lock_account(session: Session, user_id: int) -> None:
    """PostgreSQL: uploads of one account wait for each other, so that its limits hold. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("photosvc_uploads"), user_id)))


def find_upload(session: Session, user_id: int, token: str) -> Upload | None:
    """The account's upload with this token, also an expired one."""
    return session.scalar(select(Upload).where(Upload.token == token, Upload.user_id == user_id))


def waiting_in(session: Session, user_id: int, bundle: str, limit: int) -> Sequence[Upload]:
    """The files of a bundle that are complete, in the order in which they came."""
    query = select(Upload).where(Upload.user_id == user_id, Upload.bundle == bundle, Upload.hash != "")
    return session.scalars(query.where(not_(Upload.finished)).order_by(Upload.id).limit(limit)).all()


def known_tokens(session: Session, tokens: Sequence[str]) -> set[str]:
    """Those of the tokens of kept parts that an upload has."""
    found: set[str] = set()
    for start in range(0, len(tokens), _PORTION):
        found.update(session.scalars(select(Upload.token).where(Upload.token.in_(tokens[start : start + _PORTION]))))
    return found


def sweep(session: Session, staging: Staging, now: datetime) -> int:
    """Delete some expired uploads with their parts, in a write transaction; gives their number."""
    query = select(Upload.id, Upload.token).where(Upload.expires_at <= now).order_by(Upload.expires_at).limit(_PORTION)
    expired = session.execute(query).all()
    for _, token in expired:
        staging.delete(token)
    ids = [row.id for row in expired]
    session.execute(delete(Upload).where(Upload.id.in_(ids)), execution_options={"synchronize_session": False})
    return len(expired)
