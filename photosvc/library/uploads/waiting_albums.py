"""Adding the photos of uploaded files to the albums that they were sent to, once they are indexed."""

from datetime import datetime
from typing import Final

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.library.album_photos import add_photos
from photosvc.library.albums import album_to_change
from photosvc.library.uploads.waiting import LIFETIME
from photosvc.models import ORIGINALS_ROOT, File, UploadedFile

#: Files in one transaction.
_PORTION: Final = 200


def _due(now: datetime) -> Select[str, str, int]:
    """Files whose photo is there, and those whose time is over, without a photo."""
    query = select(UploadedFile.hash, UploadedFile.albums, func.coalesce(File.photo_id, 0))
    present = (File.hash == UploadedFile.hash) & (File.root == ORIGINALS_ROOT) & File.missing.is_(False)
    over = UploadedFile.created_at < now - LIFETIME
    return query.outerjoin(File, present).where(UploadedFile.albums != "", File.id.is_not(None) | over).limit(_PORTION)


def has_due_albums(session: Session, now: datetime) -> bool:
    """Whether `fill_albums` has something to do."""
    return session.execute(_due(now).limit(1)).first() is not None


def fill_albums(session: Session, now: datetime) -> int:
    """Add the photos of some indexed files to their albums, in a write transaction; gives the number of files.

    Albums that were deleted meanwhile are left out, and so are files that were not indexed for days.
    """
    done: list[str] = []
    wanted: dict[str, list[int]] = {}
    for content, albums, photo_id in session.execute(_due(now)):
        done.append(content)
        if photo_id:
            for uid in albums.split():
                wanted.setdefault(uid, []).append(photo_id)
    for uid, photo_ids in sorted(wanted.items()):
        try:
            album = album_to_change(session, uid, sees_private=True)
        except (NotFoundError, ConflictError):
            continue
        add_photos(session, album, list(dict.fromkeys(photo_ids)), now)
    if done:
        cleared = update(UploadedFile).where(UploadedFile.hash.in_(done)).values(albums="")
        session.execute(cleared, execution_options={"synchronize_session": False})
    return len(done)
