"""Look-alikes: groups of photos that are copies in other sizes, formats and qualities.

An indexer searches for them on request, because that takes seconds in a large library. People decide on the groups.
"""

import secrets
from array import array
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import combinations, groupby, islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, func, insert, not_, select
from sqlalchemy.orm import Session, aliased

from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import LOOK_ALIKES, QueuedJob, State
from photosvc.models import UNKNOWN_ID, Camera, DistinctPhoto, File, Job, LookAlike, Photo, SearchRow
from photosvc.models.engine import open_reader, write_session
from photosvc.models.search_values import camera_or_lens_name
from photosvc.models.statements import UNLOADED, in_portions, unindexed
from photosvc.search.reading.compile import visible
from photosvc.search.reading.look_alikes import PARTS, number, shows
from photosvc.settings import Settings

#: Bits in which copies differ at most.
MOST_BITS: Final = 4
#: First bit and length of six parts of a hash: if at most four bits differ, at least two parts are equal.
_SIXTHS: Final = ((0, 11), (11, 11), (22, 11), (33, 11), (44, 10), (54, 10))
#: Hashes with two equal parts that one hash is compared with; more occur only in files made on purpose.
_MOST_COMPARED: Final = 2000
_NONE: Final = frozenset[int]()
#: Hash -> the other hashes of pictures that look alike.
_Neighbours = dict[int, set[int]]
#: Most photos of a group on a page.
MOST_SHOWN: Final = 12
#: Most photos of one decision.
MOST_DECIDED: Final = 100
#: Most photos of a stored group, the best ones: after decisions on them, the next search finds the others.
MOST_KEPT: Final = 100
_PORTION: Final = 1000


@dataclass(frozen=True, slots=True)
class Copy:
    """A photo of a group."""

    photo_id: int
    uid: str
    name: str
    """Path of the file that shows it."""
    width: int
    height: int
    size: int
    """Bytes."""
    distance: int
    """Hamming distance of its hash to the one of the first photo of the group."""


def find_duplicates(connection: Connection, distance: int = MOST_BITS) -> list[list[Copy]]:
    """Return groups of listed photos, the best of each first: by pixels, then bytes, then id.

    A photo belongs to the best photo from which it differs in at most `distance` bits, unless a person said that the
    two are not the same. Memory: about 300 bytes for each photo of the library.

    Args:
        distance: bits, 0 to 4.
    """
    looks, ids = _looks(connection)
    neighbours: _Neighbours = {}
    same: dict[int, list[int]] = {}
    for first, last in _runs(looks):
        if last - first > 1:
            same[looks[first]] = list(ids[first:last])
    for own_hash, other in _pairs(array("Q", (looks[first] for first, _ in _runs(looks))), distance):
        neighbours.setdefault(own_hash, set()).add(other)
        neighbours.setdefault(other, set()).add(own_hash)
    wanted = neighbours.keys() | same.keys()
    photos = {look: [photo] for look, photo in zip(looks, ids, strict=True) if look in wanted} | same
    return _grouped(connection, photos, neighbours)


def _looks(connection: Connection) -> tuple["array[int]", "array[int]"]:
    """Return the hashes of all listed photos, sorted, and the ids of the files that show them."""
    query = select(File.id, *PARTS).join(SearchRow, SearchRow.file_id == File.id)
    # The option is for this statement alone: PostgreSQL cannot stream the other statements of the connection.
    # The database sorts them: sorting a million in Python lets no other thread run for seconds.
    query = query.where(shows(), visible(sees_private=True)).order_by(*map(unindexed, PARTS), File.id)
    looks, ids = array("Q"), array("q")
    for file_id, *parts in connection.execute(query, execution_options={"yield_per": 10_000}):
        looks.append(number(parts))
        ids.append(file_id)
    return looks, ids


def _runs(values: "array[int]") -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of equal values."""
    first = 0
    for at in range(1, len(values) + 1):
        if at == len(values) or values[at] != values[first]:
            yield first, at
            first = at


def _pairs(looks: "array[int]", distance: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of hashes that differ in 1 to `distance` bits; a pair may come more than once."""
    for parts in combinations(_SIXTHS, 2):
        equal = sum((1 << bits) - 1 << first for first, bits in parts)
        buckets: defaultdict[int, list[int]] = defaultdict(list)
        for look in looks:
            buckets[look & equal].append(look)
        for bucket in buckets.values():
            for at, first_hash in enumerate(bucket, 1):
                for other in bucket[at : at + _MOST_COMPARED]:
                    if (first_hash ^ other).bit_count() <= distance:
                        yield first_hash, other


def _grouped(connection: Connection, files: dict[int, list[int]], neighbours: _Neighbours) -> list[list[Copy]]:
    """Return groups of files around the best ones, each from the best to the worst."""
    look_of = {file_id: look for look, ids in files.items() for file_id in ids}
    rows, sets = _read(connection, list(look_of)), sets_of_photos(connection)
    free = {look: dict.fromkeys(ids) for look, ids in files.items()}
    groups = []
    ranked = sorted(
        rows, key=lambda candidate: (-rows[candidate].width * rows[candidate].height, -rows[candidate].size, candidate)
    )
    rank = {file_id: at for at, file_id in enumerate(ranked)}
    for best in ranked:
        look, own = look_of[best], sets.get(rows[best].photo_id, _NONE)
        if best not in free[look]:
            continue
        members = [
            (file_id, (look ^ near).bit_count())
            for near in (look, *neighbours.get(look, ()))
            for file_id in free[near]
            if file_id != best and file_id in rows and own.isdisjoint(sets.get(rows[file_id].photo_id, _NONE))
        ]
        members.sort(key=lambda member: rank[member[0]])
        for file_id in (best, *(file_id for file_id, _ in members)):
            free[look_of[file_id]].pop(file_id)
        if members:
            groups.append([_copy(rows[best], 0), *(_copy(rows[file_id], bits) for file_id, bits in members)])
    return groups


def _read(connection: Connection, ids: list[int]) -> Mapping[int, Any]:
    """Return id -> values of these files that groups show."""
    query = select(File.id, SearchRow.photo_id, SearchRow.photo_uid, File.name, File.width, File.height, File.size)
    query = query.join(SearchRow, SearchRow.file_id == File.id)
    rows: dict[int, Any] = {}
    for portion in in_portions(ids):
        rows |= {row.id: row for row in connection.execute(query.where(File.id.in_(portion)))}
    return rows


def sets_of_photos(connection: Connection) -> Mapping[int, AbstractSet[int]]:
    """Return photo id -> numbers of the sets whose photos are not the same, as people said."""
    sets: dict[int, set[int]] = {}
    for photo_id, number_of_set in connection.execute(select(DistinctPhoto.photo_id, DistinctPhoto.number)):
        sets.setdefault(photo_id, set()).add(number_of_set)
    return sets


def _copy(row: Row[Any], distance: int) -> Copy:
    return Copy(row.photo_id, row.photo_uid, row.name, row.width, row.height, row.size, distance)


@dataclass(frozen=True, slots=True)
class LookAlikePhoto:
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
class LookAlikeGroup:
    """Photos that look alike, the best first."""

    number: int
    members: Sequence[LookAlikePhoto]
    more: int
    """The number of further photos."""


@dataclass(frozen=True, slots=True)
class LookAlikePage:
    """A page of groups, in their order."""

    groups: Sequence[LookAlikeGroup]
    after: int | None
    """The number of the last group if others follow."""


def read_look_alikes(connection: Connection, *, after: int, count: int) -> LookAlikePage:
    """Return a page of groups that wait for a decision.

    Args:
        after: the number of the group before the page.
    """
    waiting = select(LookAlike.number).where(_waits(), LookAlike.number > after).group_by(LookAlike.number)
    waiting = waiting.having(func.count() > 1).order_by(LookAlike.number).limit(count + 1)
    numbers = connection.scalars(waiting).all()
    rows = connection.execute(_members(numbers[:count])) if numbers else ()
    groups = []
    for key, group_rows in groupby(rows, key=lambda row: row.number):
        members = [_member(row) for row in group_rows]
        groups.append(LookAlikeGroup(key, members[:MOST_SHOWN], max(0, len(members) - MOST_SHOWN)))
    return LookAlikePage(groups, numbers[count - 1] if len(numbers) > count else None)


def count_look_alikes(connection: Connection) -> int:
    """Return the number of groups that wait for a decision: with two or more listed photos not set apart."""
    waiting = select(LookAlike.number).where(_waits()).group_by(LookAlike.number).having(func.count() > 1)
    return connection.scalar(select(func.count()).select_from(waiting.subquery())) or 0


def set_apart(session: Session, photo_ids: Sequence[int]) -> int:
    """Record in a write transaction that no two of these photos are the same; return the number of their set."""
    number = secrets.randbits(62)
    session.execute(insert(DistinctPhoto), [{"number": number, "photo_id": photo_id} for photo_id in photo_ids])
    return number


def take_back(session: Session, number: int) -> None:
    """Delete a set that `set_apart` recorded, in a write transaction."""
    session.execute(delete(DistinctPhoto).where(DistinctPhoto.number == number), execution_options=UNLOADED)


def _waits() -> ColumnElement[bool]:
    """Return the condition of listed photos that are not set apart from the best listed photo of their group."""
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
        Photo.private, Photo.camera_id, Camera.make, Camera.model, File.hash.label("content_hash"), File.name,
        File.file_type, File.width, File.height, File.size,
    )  # fmt: skip
    query = query.join(Photo, Photo.id == LookAlike.photo_id).join(Camera, Camera.id == Photo.camera_id)
    query = query.join(File, and_(File.photo_id == Photo.id, File.primary, not_(File.missing)))
    return query.where(LookAlike.number.in_(numbers), _waits()).order_by(LookAlike.number, LookAlike.place)


def _member(row: Any) -> LookAlikePhoto:  # noqa: ANN401
    camera = camera_or_lens_name(row.make, row.model) if row.camera_id != UNKNOWN_ID else ""
    names = (field.name for field in fields(LookAlikePhoto) if field.name != "camera")
    return LookAlikePhoto(camera=camera, **{name: getattr(row, name) for name in names})


def request_search(session: Session, now: datetime) -> None:
    """Request a search for look-alikes, in a write transaction."""
    queue.add(session, LOOK_ALIKES, "", now, {}, large=True)


def is_search_requested(session: Session) -> bool:
    """Return whether a search was requested and has not ended."""
    return bool(queue.requested(session, LOOK_ALIKES))


def last_search_at(session: Session) -> datetime | None:
    """Return the time at which the last search began; None before the first."""
    done = and_(Job.kind == LOOK_ALIKES.name, Job.outcome == State.DONE.value)
    return session.scalar(select(func.max(Job.started_at)).where(done))


def search_look_alikes(lease: Lease, _settings: Settings, _job: QueuedJob) -> Generator[bool, None, None]:
    """Search for look-alikes and store their groups, as a `library.job_runner.Handler`."""
    with closing(open_reader(lease.engine)) as connection:
        groups = find_duplicates(connection)
    yield True
    count = len(groups)
    rows = (
        {"number": at, "place": place, "photo_id": copy.photo_id, "distance": copy.distance}
        for at, group in enumerate(groups, 1)
        for place, copy in enumerate(group[:MOST_KEPT])
    )
    # Until the last portion the page shows that the search goes on. Photos may be deleted between two portions.
    portion: list[dict[str, int]] | None = None
    while portion is None or portion:
        with write_session(lease.engine) as session:
            lease.check(session)
            if portion is None:
                session.execute(delete(LookAlike), execution_options=UNLOADED)
            else:
                there = set(session.scalars(select(Photo.id).where(Photo.id.in_([row["photo_id"] for row in portion]))))
                if kept := [row for row in portion if row["photo_id"] in there]:
                    session.execute(insert(LookAlike), kept)
        yield True
        portion = list(islice(rows, _PORTION))
    with write_session(lease.engine) as session:
        lease.report = lambda: {"groups": count}
        lease.finish(session)
