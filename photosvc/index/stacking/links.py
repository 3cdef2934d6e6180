"""Which files a changed file may share a photo with: found by keys in the database, within bounds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from photosvc.index.describing.compose import split_name
from photosvc.index.stacking.groups import MAX_FILES, Member
from photosvc.index.stacking.keys import name_key
from photosvc.models import File, Photo, StackKey

Item = TypeVar("Item")

#: Most files that one batch compares. Only chains of files that share different keys pairwise are longer; what lies
#: beyond keeps its photos.
MAX_COMPARED: Final = 20 * MAX_FILES
_CHUNK: Final = 300


class Row(NamedTuple):
    """What stacking needs of a file in the database."""

    id: int
    name: str
    media_type: str
    duration_ns: int
    missing: bool
    unstacked: bool
    primary: bool
    photo_id: int
    quality: int
    """Of its photo."""
    stack: int
    """Of its photo; -1 when a person took that out of stacks."""


_COLUMNS: Final = (
    File.id, File.name, File.media_type, File.duration_ns, File.missing, File.unstacked, File.primary, File.photo_id,
    Photo.quality, Photo.stack,
)  # fmt: skip


def write_keys(session: Session, keys: Mapping[int, frozenset[int]]) -> set[int]:
    """Store the keys of these files; gives their keys, the former ones included."""
    former: dict[int, set[int]] = defaultdict(set)
    for chunk in _chunks(keys):
        for key, file_id in session.execute(select(*_KEY).where(StackKey.file_id.in_(chunk))):
            former[file_id].add(key)
    for file_id, old in former.items():
        if old - keys[file_id]:
            session.execute(delete(StackKey).where(StackKey.file_id == file_id, StackKey.key.in_(old - keys[file_id])))
    rows = [{"key": key, "file_id": file_id} for file_id, new in keys.items() for key in new - former[file_id]]
    if rows:
        session.execute(insert(StackKey), rows)
    return {key for found in (*keys.values(), *former.values()) for key in found}


_KEY: Final = (StackKey.key, StackKey.file_id)


def linked_rows(
    session: Session, file_ids: Iterable[int], keys: set[int]
) -> tuple[dict[int, Row], dict[int, set[int]]]:
    """The files that these ones may share a photo with, themselves included, and the keys that link them.

    Args:
        session: to read by.
        file_ids: the changed files; their keys are stored.
        keys: the keys of these files, the former ones included.

    """
    rows: dict[int, Row] = {}
    links: dict[int, set[int]] = defaultdict(set)
    changed = len(found := set(file_ids))
    seen: set[int] = set()
    while (found or keys) and len(rows) <= MAX_COMPARED:
        few, freed = _members(session, keys, changed)
        seen |= keys
        found |= freed
        for key, members in few.items():
            found.update(members)
            for file_id in members:
                links[file_id].add(key)
        fresh = _rows_with_mates(session, found, rows)
        rows |= fresh
        keys = _keys_of(session, fresh) - seen
        found = set()
    return rows, links


def members_of(rows: Iterable[Row], links: Mapping[int, set[int]]) -> Iterator[Member]:
    """These files as `groups.divide` compares them."""
    for row in rows:
        folder, base, _ = split_name(row.name)
        video = row.media_type == "video"
        own, keys = name_key(row.name, video=video), links.get(row.id, set())
        yield Member(
            id=row.id,
            folder=folder,
            base=base,
            video=video,
            duration_ns=row.duration_ns,
            named=own in keys,
            keys=frozenset(keys - {own}),
            closed=row.photo_id if row.stack < 0 else 0,
            unstacked=row.unstacked,
        )


def _members(session: Session, keys: Iterable[int], changed: int) -> tuple[dict[int, list[int]], set[int]]:
    """The files of each key that links; and the files of keys that stopped to link with this batch.

    A key stops to link when more than `MAX_FILES` files have it: those that it linked become photos of their own.
    """
    few: dict[int, list[int]] = {}
    freed: set[int] = set()
    for chunk in _chunks(keys):
        for key, members in _bounded(session, chunk, MAX_FILES + changed):
            if len(members) <= MAX_FILES:
                few[key] = members
            elif len(members) <= MAX_FILES + changed:
                freed.update(members)
    return few, freed


def _bounded(session: Session, keys: Sequence[int], most: int) -> Iterator[tuple[int, list[int]]]:
    """Each key with its files, or with `most` + 1 of them when there are more; a key without files may be left out."""
    limit = 1 + (most if len(keys) == 1 else most + 4 * len(keys))
    members: dict[int, list[int]] = defaultdict(list)
    rows = session.execute(select(*_KEY).where(StackKey.key.in_(keys)).limit(limit)).all()
    if len(rows) == limit and len(keys) > 1:  # many files have one of the keys: find out which
        yield from _bounded(session, keys[: len(keys) // 2], most)
        yield from _bounded(session, keys[len(keys) // 2 :], most)
        return
    for key, file_id in rows:
        members[key].append(file_id)
    yield from members.items()


def _rows_with_mates(session: Session, file_ids: Iterable[int], known: Mapping[int, Row]) -> dict[int, Row]:
    """The rows of these files and of the other files of their photos, without those known."""
    rows = {}
    for chunk in _chunks(file_id for file_id in file_ids if file_id not in known):
        photos = select(File.photo_id).where(File.id.in_(chunk))
        query = select(*_COLUMNS).join(Photo, Photo.id == File.photo_id)
        for row in session.execute(query.where(File.photo_id.in_(photos), File.sidecar.is_(False))):
            rows[row.id] = Row._make(row)
    return {file_id: row for file_id, row in rows.items() if file_id not in known}


def _keys_of(session: Session, file_ids: Iterable[int]) -> set[int]:
    return {
        key
        for chunk in _chunks(file_ids)
        for key in session.scalars(select(StackKey.key).where(StackKey.file_id.in_(chunk)))
    }


def _chunks(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    """Lists short enough for the parameters of a statement."""
    left: Any = iter(items)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk
