"""Look-alikes: the search for them, their groups that wait for a decision, a page at a time, and the decisions.

People ask for the search, and an indexer does it, because it takes seconds in a large library.
"""

import secrets
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, not_, select
from sqlalchemy.orm import Session, aliased

from photosvc.index import jobs
from photosvc.index.jobs import LOOK_ALIKES, State, Waiting
from photosvc.index.lease import Lease
from photosvc.library.duplicates import Copy, find_duplicates
from photosvc.models import UNKNOWN_ID, Camera, DistinctPhoto, File, Job, LookAlike, Photo, SearchRow
from photosvc.models.engine import open_reader, write_session
from photosvc.models.search_values import gear_name
from photosvc.models.statements import UNLOADED
from photosvc.settings import Settings

#: Most photos of a group that are shown at a time.
MOST_SHOWN: Final = 12
#: Most photos that one decision may be about.
MOST_DECIDED: Final = 100
#: Most photos of a group that are kept, the best ones: the others follow when these are decided on.
MOST_KEPT: Final = 100
_PORTION: Final = 1000


@dataclass(frozen=True, slots=True)
class Member:
    """A photo of a group, by the file that shows it."""

    uid: str
    title: str
    content_hash: str
    name: str
    """Relative to the originals."""
    file_type: str
    width: int
    height: int
    size: int
    """Bytes."""
    taken_at_local: datetime
    camera: str
    favorite: bool
    private: bool
    distance: int
    """Hamming distance of the 64-bit hashes of this file and the best one of its group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Photos that look alike, the best first."""

    number: int
    members: Sequence[Member]
    more: int
    """Further photos, which are not shown yet."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of groups, in their order."""

    groups: Sequence[Group]
    after: int | None
    """The number of the last group when others follow."""


def read_groups(connection: Connection, *, after: int, count: int) -> Page:
    """Return a page of groups with two or more photos that are listed and were not said to be different.

    Args:
        after: the number of the group before the first one.
        count: groups at most.
    """
    waiting = select(LookAlike.number).where(_waits(), LookAlike.number > after).group_by(LookAlike.number)
    waiting = waiting.having(func.count() > 1).order_by(LookAlike.number).limit(count + 1)
    numbers = connection.scalars(waiting).all()
    rows = connection.execute(_members(numbers[:count])) if numbers else ()
    groups = []
    for number, found in groupby(rows, key=lambda row: row.number):
        members = [_member(row) for row in found]
        groups.append(Group(number, members[:MOST_SHOWN], max(0, len(members) - MOST_SHOWN)))
    return Page(groups, numbers[count - 1] if len(numbers) > count else None)


def count_groups(connection: Connection) -> int:
    """Return the number of groups that wait for a decision."""
    waiting = select(LookAlike.number).where(_waits()).group_by(LookAlike.number).having(func.count() > 1)
    return connection.scalar(select(func.count()).select_from(waiting.subquery())) or 0


def set_apart(session: Session, photo_ids: Sequence[int]) -> int:
    """Record that no two of these photos are the same, in a write transaction, and return the number of their set."""
    number = secrets.randbits(62)
    session.execute(insert(DistinctPhoto), [{"number": number, "photo_id": photo_id} for photo_id in photo_ids])
    return number


def take_back(session: Session, number: int) -> None:
    """Forget the set of photos that `set_apart` recorded, in a write transaction."""
    session.execute(delete(DistinctPhoto).where(DistinctPhoto.number == number), execution_options=UNLOADED)


def _waits() -> ColumnElement[bool]:
    """Return the condition of photos that are listed, and not set apart from the best listed one of their group."""
    best, first, one, other = aliased(LookAlike), aliased(LookAlike), aliased(DistinctPhoto), aliased(DistinctPhoto)
    place = select(func.min(first.place)).where(first.number == LookAlike.number, _is_listed(first))
    apart = exists().where(
        one.photo_id == LookAlike.photo_id,
        other.number == one.number,
        best.photo_id == other.photo_id,
        best.number == LookAlike.number,
        best.place < LookAlike.place,
        best.place == place.correlate(LookAlike).scalar_subquery(),
    )
    return and_(_is_listed(LookAlike), not_(apart))


def _is_listed(photo: Any) -> ColumnElement[bool]:  # noqa: ANN401 - the table or an alias of it
    return exists().where(SearchRow.photo_id == photo.photo_id, SearchRow.listed)


def _members(numbers: Sequence[int]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    query = select(
        LookAlike.number, LookAlike.distance, Photo.uid, Photo.title, Photo.taken_at_local, Photo.favorite,
        Photo.private, Photo.camera_id, Camera.make, Camera.model, File.hash, File.name, File.file_type,
        File.width, File.height, File.size,
    )  # fmt: skip
    query = query.join(Photo, Photo.id == LookAlike.photo_id).join(Camera, Camera.id == Photo.camera_id)
    query = query.join(File, and_(File.photo_id == Photo.id, File.primary, not_(File.missing)))
    return query.where(LookAlike.number.in_(numbers), _waits()).order_by(LookAlike.number, LookAlike.place)


def _member(row: Any) -> Member:  # noqa: ANN401
    return Member(
        uid=row.uid,
        title=row.title,
        content_hash=row.hash,
        name=row.name,
        file_type=row.file_type,
        width=row.width,
        height=row.height,
        size=row.size,
        taken_at_local=row.taken_at_local,
        camera=gear_name(row.make, row.model) if row.camera_id != UNKNOWN_ID else "",
        favorite=row.favorite,
        private=row.private,
        distance=row.distance,
    )


def wish_look(session: Session, now: datetime) -> None:
    """Ask an indexer to look for look-alikes, in a write transaction."""
    jobs.add(session, LOOK_ALIKES, "", now, {}, large=True)


def is_look_wished(session: Session) -> bool:
    """Return whether a look was requested that has not ended."""
    return bool(jobs.requested(session, LOOK_ALIKES))


def looked_at(session: Session) -> datetime | None:
    """Return the time at which the last look began; None before the first."""
    done = and_(Job.kind == LOOK_ALIKES.name, Job.outcome == State.DONE.value)
    return session.scalar(select(func.max(Job.started_at)).where(done))


def look(lease: Lease, _settings: Settings, _job: Waiting) -> Generator[bool, None, None]:
    """Look for look-alikes and keep their groups, as a `library.jobs.Handler`."""
    with closing(open_reader(lease.engine)) as connection:
        groups = find_duplicates(connection)
    yield True
    with write_session(lease.engine) as session:
        session.execute(delete(LookAlike), execution_options=UNLOADED)
        portion: list[dict[str, Any]] = []
        for row in _rows(groups):
            portion.append(row)
            if len(portion) == _PORTION:
                session.execute(insert(LookAlike), portion)
                portion.clear()
        if portion:
            session.execute(insert(LookAlike), portion)
        lease.report = lambda: {"groups": len(groups)}
        lease.finish(session)


def _rows(groups: list[list[Copy]]) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(groups, 1):
        for place, copy in enumerate(group[:MOST_KEPT]):
            yield {"number": number, "place": place, "photo_id": copy.photo_id, "distance": copy.distance}
