"""Put the files of the library into photos by the rules of `groups`, when files changed or the rules did."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.core import ids
from photosvc.index.estimates.due import Sighting, sighting
from photosvc.index.stacking.groups import divide
from photosvc.index.stacking.links import Row, linked_rows, members_of, write_keys
from photosvc.index.stacking.merge import inherit, remove_empty
from photosvc.models import File, Photo

#: What moving files and describing their photos reads.
_NEEDED: Final = (
    joinedload(Photo.camera),
    joinedload(Photo.lens),
    joinedload(Photo.place),
    selectinload(Photo.keywords),
    selectinload(Photo.files).selectinload(File.markers),
)


@dataclass(frozen=True, slots=True)
class Restacked:
    """What became of photos."""

    changed: list[Photo] = field(default_factory=list)
    """Photos that gained or lost files."""
    gone: set[int] = field(default_factory=set)
    """Ids of photos that were deleted because other photos took over their files."""
    sightings: dict[int, Sighting | None] = field(default_factory=dict)
    """What all these photos said about their cameras before."""


def restack(
    session: Session,
    keys: Mapping[int, frozenset[int]],
    kinds: Collection[str],
    now: datetime,
    new_ids: Iterator[int],
) -> Restacked:
    """Put these files, and those that they share keys with, into photos.

    A photo stays with the files that show it. Where several photos become one, that of the best quality stays, of
    equals the oldest. Files that are missing stay in their photos until they return.

    Args:
        session: inside a write transaction; flushed.
        keys: of each changed file, see `keys.keys_of`.
        kinds: the kinds of stacks that are on.
        now: the time of new photos.
        new_ids: their ids, as far as there are any; the database gives others.

    """
    rows, links = linked_rows(session, keys, write_keys(session, keys))
    parts = [[rows[one] for one in part] for part in divide(members_of(rows.values(), links), kinds)]
    present = [part for part in parts if not all(row.missing for row in part)]
    moves = [
        (owner, part)
        for owner, part in zip(_owners(present), present, strict=True)
        if any(row.photo_id != owner for row in part)
    ]
    return _move(session, moves, now, new_ids) if moves else Restacked()


def _owners(parts: Sequence[Sequence[Row]]) -> list[int | None]:
    """The id of the photo that stays with each part; None for a part that needs a new one."""
    claims: dict[int, list[tuple[bool, bool, int, int]]] = defaultdict(list)
    for number, part in enumerate(parts):
        for row in part:
            claims[row.photo_id].append((row.missing, not row.primary, row.id, number))
    quality = {row.photo_id: row.quality for part in parts for row in part}
    owners: list[int | None] = [None] * len(parts)
    for photo_id in sorted(claims, key=lambda one: (quality[one], -one)):  # the last one stays
        owners[min(claims[photo_id])[-1]] = photo_id
    return owners


def _move(
    session: Session, moves: Sequence[tuple[int | None, Sequence[Row]]], now: datetime, new_ids: Iterator[int]
) -> Restacked:
    rows = [row for _, part in moves for row in part]
    photo_ids = {row.photo_id for row in rows} | {owner for owner, _ in moves if owner}
    query = select(Photo).where(Photo.id.in_(photo_ids)).options(*_NEEDED)
    photos = {photo.id: photo for photo in session.scalars(query)}
    files = {file.id: file for photo in photos.values() for file in photo.files}
    sightings = {photo.id: sighting(photo) for photo in photos.values() if photo.checked_at is not None}
    changed = dict(photos)
    heirs: dict[int, int] = {}
    for owner, part in moves:
        first = photos[part[0].photo_id]
        target = photos[owner] if owner else new_photo(session, first.path, first.name, now, next(new_ids, None))
        session.flush()
        changed[target.id] = target
        sources = {row.photo_id: row.quality for row in part if row.photo_id != owner}
        for photo_id in sorted(sources, key=lambda one: (-sources[one], one)):
            inherit(session, target, photos[photo_id])
            heirs.setdefault(photo_id, target.id)
        for row in part:
            files[row.id].photo = target
    gone = remove_empty(session, list(photos.values()), heirs)
    return Restacked([photo for photo_id, photo in changed.items() if photo_id not in gone], gone, sightings)


def new_photo(session: Session, path: str, name: str, now: datetime, photo_id: int | None = None) -> Photo:
    """A photo without files, with the next id unless one is given."""
    uid = ids.new_uid(ids.PHOTO, now)
    photo = Photo(id=photo_id, uid=uid, path=path, name=name, keywords=[], created_at=now, updated_at=now)
    session.add(photo)
    return photo
