"""What persons decided about photos, handed on when their files become one photo or another."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from photosvc.core.values.sources import AUTO, MANUAL, PRIORITY
from photosvc.models import AlbumPhoto, File, Photo, PhotoChange, photo_keywords

#: Source column -> the values that it is the source of.
_VALUES: Final = {
    "type_src": ("type",),
    "taken_src": ("taken_at", "taken_at_local", "time_zone", "year", "month", "day"),
    "title_src": ("title",),
    "description_src": ("description",),
    "camera_src": ("camera", "camera_serial", "lens", "scan"),
    "place_src": ("lat", "lng", "altitude", "cell_id", "place", "country"),
}


def inherit(session: Session, target: Photo, source: Photo) -> None:
    """Give a photo what persons decided about another one whose files it takes over.

    Values of persons replace those of files. Its own decisions stay. Private photos stay private; a photo is archived
    only when all were.
    """
    if source.checked_at is None:  # made for a new file in this batch
        return
    for src, names in _VALUES.items():
        priority = PRIORITY.get(getattr(source, src), 0)
        if priority >= PRIORITY[MANUAL] and priority > PRIORITY.get(getattr(target, src), 0):
            for name in (*names, src):
                setattr(target, name, getattr(source, name))
    _inherit_manual(target, source)
    if source.favorite and not target.favorite:
        target.favorite, target.favorite_src = True, source.favorite_src
    target.private |= source.private
    target.stack = min(target.stack, source.stack) if source.stack < 0 else target.stack
    target.edited_at = max(filter(None, (target.edited_at, source.edited_at)), default=None)
    if target.checked_at is None:
        target.archived_at, target.archived_src = source.archived_at, source.archived_src
        target.created_at = min(target.created_at, source.created_at)
        target.checked_at = source.checked_at
    elif source.archived_at is None:
        target.archived_at, target.archived_src = None, AUTO
    _join_albums(session, target, source)


def _inherit_manual(target: Photo, source: Photo) -> None:
    """Hand on the values without a source column that persons set, but for those that they also set on the target."""
    own, given = set(target.manual.split()), set(source.manual.split())
    for name in given - own:
        if hasattr(target, name):  # `approved` has no value
            setattr(target, name, list(source.keywords) if name == "keywords" else getattr(source, name))
    target.manual = " ".join(sorted(own | given))


def _join_albums(session: Session, target: Photo, source: Photo) -> None:
    own = set(session.scalars(select(AlbumPhoto.album_id).where(AlbumPhoto.photo_id == target.id)))
    for entry in session.scalars(select(AlbumPhoto).where(AlbumPhoto.photo_id == source.id)).all():
        if entry.album_id not in own:
            copied = {name: getattr(entry, name) for name in ("album_id", "position", "hidden", "created_at")}
            session.add(AlbumPhoto(photo_id=target.id, **copied))


def remove_empty(session: Session, photos: list[Photo], heirs: Mapping[int, int]) -> set[int]:
    """Delete those of these photos that have no file; gives their ids.

    Args:
        session: in a write transaction.
        photos: loaded in the session.
        heirs: id of a photo -> id of the photo that took over its first file, and takes over its journal.

    """
    session.flush()
    uids = {photo.id: photo.uid for photo in photos}
    gone = uids.keys() - set(session.scalars(select(File.photo_id).where(File.photo_id.in_(uids))))
    for one in sorted(gone & heirs.keys()):
        heir = select(Photo.uid).where(Photo.id == heirs[one]).scalar_subquery()
        journal = update(PhotoChange).where(PhotoChange.photo_uid == uids[one]).values(photo_uid=heir)
        session.execute(journal, execution_options={"synchronize_session": False})
    for table, photo_id in (
        (AlbumPhoto, AlbumPhoto.photo_id),
        (photo_keywords, photo_keywords.c.photo_id),
        (Photo, Photo.id),
    ):
        session.execute(delete(table).where(photo_id.in_(gone)))
    for photo in photos:
        if photo.id in gone:
            session.expunge(photo)
    return gone
