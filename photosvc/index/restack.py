"""Stacking: putting the files of the library into photos by `stack_rules`, when files or the rules changed.

Keys in the database link a changed file with the files that may share its photo. When all files of a photo join another
one, that one inherits people's decisions. Files that a person stacked stay one photo; a file that a person took out of
its photo is never stacked again.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, Final, TypeAlias

from sqlalchemy import delete, func, insert, literal_column, select, update
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.core.problems import Reason
from photosvc.core.vocabulary import AUTO, MANUAL, PRIORITY
from photosvc.index.agreement import Facts
from photosvc.index.file_columns import load_metadata
from photosvc.index.name_groups import is_moving_part, is_preview
from photosvc.index.photo_changes import mark_cameras
from photosvc.index.stack_rules import MAX_FILES, Member, divide, name_key
from photosvc.media.formats import split_name
from photosvc.models import ORIGINALS_ROOT, AlbumPhoto, DistinctPhoto, File, Photo, PhotoChange, RejectedFile, StackKey
from photosvc.models.photo import PLAIN_VALUES, load_whole
from photosvc.models.schema import delete_cascading
from photosvc.models.statements import UNLOADED, among, unindexed

#: The most files that one batch compares. Only chains of files that share different keys pairwise are longer; the files
#: beyond keep their photos.
MAX_COMPARED: Final = 20 * MAX_FILES
_COLUMNS: Final = (
    File.id, File.name, File.media_type, File.duration_ns, File.missing, File.unstacked, File.stacked_from,
    File.primary, File.photo_id, Photo.quality, Photo.stack, File.hash, File.details, File.colors, File.luminance,
    File.look_1, File.look_2, File.look_3, File.look_4,
)  # fmt: skip
_KEY: Final = (StackKey.key, StackKey.file_id)
#: Source column -> the values that it is the source of.
_VALUES: Final = {
    "type_src": ("type",),
    "taken_src": ("taken_at", "taken_at_local", "time_zone", "year", "month", "day"),
    "title_src": ("title",),
    "description_src": ("description",),
    "camera_src": ("camera", "camera_serial", "lens", "scan"),
    "place_src": ("lat", "lng", "altitude", "cell_id", "place", "country"),
    **{f"{name}_src": (name,) for name in PLAIN_VALUES},
}
#: A row of `_COLUMNS`: a file with the quality of its photo, and `stack`, which is -1 when a person took that out of
#: stacks.
Row: TypeAlias = Any


def write_keys(session: Session, keys: Mapping[int, frozenset[int]]) -> dict[int, set[int]]:
    """Store the keys of these files; return the new and the former keys by the id of the file."""
    former: dict[int, set[int]] = defaultdict(set)
    for key, file_id in session.execute(select(*_KEY).where(among(session, StackKey.file_id, keys))):
        former[file_id].add(key)
    for file_id, old in former.items():
        if old - keys[file_id]:
            session.execute(delete(StackKey).where(StackKey.file_id == file_id, StackKey.key.in_(old - keys[file_id])))
    rows = [{"key": key, "file_id": file_id} for file_id, new in keys.items() for key in new - former[file_id]]
    if rows:
        session.execute(insert(StackKey), rows)
    return {file_id: {*new, *former[file_id]} for file_id, new in keys.items()}


def stored_keys(session: Session, keys: Collection[int]) -> set[int]:
    """Return the keys that files of the library have."""
    return set(session.scalars(select(StackKey.key).where(among(session, StackKey.key, keys))))


def linked_rows(
    session: Session, file_ids: Iterable[int], keys: set[int]
) -> tuple[dict[int, Row], dict[int, set[int]]]:
    """Return the changed files and all files that may share their photos, and the keys that link each.

    Args:
        file_ids: the changed files; their keys are stored.
        keys: the keys of these files, the former ones included.
    """
    rows: dict[int, Row] = {}
    links: dict[int, set[int]] = defaultdict(set)
    to_load = set(file_ids)
    changed = len(to_load)
    seen: set[int] = set()
    while (to_load or keys) and len(rows) <= MAX_COMPARED:
        linking, freed = _members(session, keys, changed)
        seen |= keys
        to_load |= freed
        for key, members in linking.items():
            to_load.update(members)
            for file_id in members:
                links[file_id].add(key)
        new = _rows_with_mates(session, to_load, rows)
        rows |= new
        keys = set(session.scalars(select(StackKey.key).where(among(session, StackKey.file_id, new)))) - seen
        to_load = set()
    return rows, links


def copies_of(session: Session, names: Collection[str]) -> dict[str, list[str]]:
    """Return the names of the duplicates of these files, by the name of the file."""
    copies: dict[str, list[str]] = defaultdict(list)
    is_duplicate = RejectedFile.reason == literal_column(f"'{Reason.DUPLICATE.value}'")  # as the index says
    query = select(RejectedFile.detail, RejectedFile.name).where(
        unindexed(RejectedFile.root) == ORIGINALS_ROOT, is_duplicate, among(session, RejectedFile.detail, names)
    )
    for name, copy in session.execute(query):
        copies[name].append(copy)
    return copies


def members_of(
    rows: Iterable[Row], links: Mapping[int, set[int]], copies: Mapping[str, Sequence[str]]
) -> Iterator[Member]:
    """Yield the present files as `stack_rules.divide` compares them."""
    facts = [(row, Facts.of(row, load_metadata(row.details))) for row in rows]
    missing: dict[int, list[Facts]] = defaultdict(list)
    for row, own_facts in facts:
        if row.missing:
            missing[row.photo_id].append(own_facts)
    for row, own_facts in facts:
        if row.missing:
            continue
        folder, base, _ = split_name(row.name)
        video = row.media_type == "video"
        own, keys = name_key(row.name, video=video), links.get(row.id, set())
        places = {name_key(copy, video=video): split_name(copy)[:2] for copy in copies.get(row.name, ())}
        yield Member(
            id=row.id,
            folder=folder,
            base=base,
            video=video,
            duration_ns=row.duration_ns,
            moving=video and is_moving_part(row.name),
            preview=is_preview(row.name),
            content=row.hash,
            copies=tuple(place for key, place in places.items() if key in keys),
            facts=own_facts,
            missing=tuple(missing[row.photo_id]),
            named=own in keys,
            keys=frozenset(keys - {own} - places.keys()),
            closed=row.photo_id if row.stack < 0 else 0,
            stacked=row.photo_id if row.stacked_from else 0,
            unstacked=row.unstacked and not row.stacked_from,
        )


def _members(session: Session, keys: Collection[int], changed: int) -> tuple[dict[int, list[int]], set[int]]:
    """Return the files of each key that links, and the files of keys that stopped linking with this batch.

    A key stops linking when more than `MAX_FILES` files have it: the files that it linked become photos of their own.
    """
    linking: dict[int, list[int]] = defaultdict(list)
    freed: set[int] = set()
    files = func.count().label("files")
    counted = select(StackKey.key, files).where(among(session, StackKey.key, keys)).group_by(StackKey.key)
    rows = session.execute(counted.having(files <= MAX_FILES + changed))
    numbers = {key: number for key, number in rows}  # noqa: C416 - rows, not pairs
    for key, file_id in session.execute(select(*_KEY).where(among(session, StackKey.key, numbers))):
        if numbers[key] <= MAX_FILES:
            linking[key].append(file_id)
        else:
            freed.add(file_id)
    return linking, freed


def _rows_with_mates(session: Session, file_ids: Iterable[int], known: Mapping[int, Row]) -> dict[int, Row]:
    """Return the rows of these files and of the other files of their photos, except known rows."""
    unknown = [file_id for file_id in file_ids if file_id not in known]
    photos = select(File.photo_id).where(among(session, File.id, unknown))
    rows = session.execute(select(*_COLUMNS).join(Photo, Photo.id == File.photo_id).where(File.photo_id.in_(photos)))
    return {row.id: row for row in rows if row.id not in known}


def inherit(session: Session, target: Photo, source: Photo) -> None:
    """Give a photo people's decisions about another photo whose files it takes over.

    Values of people replace values of files. Decisions about the target itself stay. Private photos stay private; the
    target is archived only if both were.
    """
    target.private |= source.private
    if source.checked_at is None:  # made for a new file in this batch
        return
    for src, names in _VALUES.items():
        priority = PRIORITY.get(getattr(source, src), 0)
        if priority >= PRIORITY[MANUAL] and priority > PRIORITY.get(getattr(target, src), 0):
            for name in (*names, src):
                setattr(target, name, getattr(source, name))
    if source.keywords_src == MANUAL != target.keywords_src:
        target.keywords, target.keywords_src = list(source.keywords), MANUAL
    if source.favorite and not target.favorite:
        target.favorite, target.favorite_src = True, source.favorite_src
    target.approved |= source.approved
    target.stack = min(target.stack, source.stack) if source.stack < 0 else target.stack
    target.edited_at = max(filter(None, (target.edited_at, source.edited_at)), default=None)
    if target.checked_at is None:
        target.archived_at, target.archived_src = source.archived_at, source.archived_src
        target.created_at = min(target.created_at, source.created_at)
        target.checked_at = source.checked_at
    elif source.archived_at is None:
        target.archived_at, target.archived_src = None, AUTO
    _join_albums(session, target, source)


def _join_albums(session: Session, target: Photo, source: Photo) -> None:
    own = set(session.scalars(select(AlbumPhoto.album_id).where(AlbumPhoto.photo_id == target.id)))
    for entry in session.scalars(select(AlbumPhoto).where(AlbumPhoto.photo_id == source.id)).all():
        if entry.album_id not in own:
            copied = {name: getattr(entry, name) for name in ("album_id", "position", "hidden", "created_at")}
            session.add(AlbumPhoto(photo_id=target.id, **copied))


def remove_empty(session: Session, photos: list[Photo], heirs: Mapping[int, int]) -> set[int]:
    """Delete the photos without files among these, and return their ids.

    Args:
        heirs: id of a photo -> id of the photo that took over its first file, and takes over its journal and
            the decisions about its look-alikes.
    """
    session.flush()
    uids = {photo.id: photo.uid for photo in photos}
    gone = uids.keys() - set(session.scalars(select(File.photo_id).where(File.photo_id.in_(uids))))
    for photo_id in sorted(gone & heirs.keys()):
        heir = select(Photo.uid).where(Photo.id == heirs[photo_id]).scalar_subquery()
        journal = update(PhotoChange).where(PhotoChange.photo_uid == uids[photo_id]).values(photo_uid=heir)
        session.execute(journal, execution_options=UNLOADED)
        decided = select(DistinctPhoto.number).where(DistinctPhoto.photo_id == heirs[photo_id])
        own = update(DistinctPhoto).where(DistinctPhoto.photo_id == photo_id, DistinctPhoto.number.not_in(decided))
        session.execute(own.values(photo_id=heirs[photo_id]), execution_options=UNLOADED)
    if gone:
        delete_cascading(session, Photo.__table__, gone)
    for photo in photos:
        if photo.id in gone:
            session.expunge(photo)
    return gone


@dataclass(frozen=True, slots=True)
class Restacked:
    """The result of stacking files."""

    changed: list[Photo] = field(default_factory=list)
    """Photos that gained or lost files."""
    gone: set[int] = field(default_factory=set)
    """Ids of photos that were deleted because other photos took over their files."""


def restack(
    session: Session,
    keys: Mapping[int, Collection[int]],
    kinds: Collection[str],
    now: datetime,
    is_outdated: Callable[[str], bool] = lambda _: False,
) -> Restacked:
    """Put these files, and the files with which they share keys, into photos.

    A photo stays with the files that show it. If several photos become one, the one of the best quality stays, or else
    the oldest. Missing files join and divide nothing: they stay in their photos until they return, and these photos
    take in no file that contradicts them.

    Args:
        keys: of each changed file, stored by `write_keys`, which returns them.
        kinds: the kinds of stacks that are on.
        is_outdated: returns whether the file of a name is yet to be read, so that its row may get another name. Such a
            file stays in its photo, which joins no other photo, until the file is stored and stacked itself.
    """
    rows, links = linked_rows(session, keys, set(chain.from_iterable(keys.values())))
    waiting = {row.id for row in rows.values() if row.id not in keys and is_outdated(row.name)}
    apart = {rows[file_id].photo_id for file_id in waiting}
    current = [row for row in rows.values() if row.id not in waiting]
    copies = copies_of(session, {row.name for row in current})
    parts = [[rows[file_id] for file_id in part] for part in divide(members_of(current, links, copies), kinds)]
    moves = [
        (owner, part)
        for owner, part in zip(_owners(parts), parts, strict=True)
        if any(row.photo_id != owner for row in part) and apart.isdisjoint(row.photo_id for row in part)
    ]
    return _move(session, moves, now) if moves else Restacked()


def _owners(parts: Sequence[Sequence[Row]]) -> list[int | None]:
    """Return the id of the photo that stays with each part; None for a part that needs a new one."""
    claims: dict[int, list[tuple[bool, int, int]]] = defaultdict(list)
    for number, part in enumerate(parts):
        for row in part:
            claims[row.photo_id].append((not row.primary, row.id, number))
    quality = {row.photo_id: row.quality for part in parts for row in part}
    owners: list[int | None] = [None] * len(parts)
    for photo_id in sorted(claims, key=lambda photo_id: (quality[photo_id], -photo_id)):  # the last one stays
        owners[min(claims[photo_id])[-1]] = photo_id
    return owners


def _move(session: Session, moves: Sequence[tuple[int | None, Sequence[Row]]], now: datetime) -> Restacked:
    rows = [row for _, part in moves for row in part]
    photo_ids = {row.photo_id for row in rows} | {owner for owner, _ in moves if owner}
    photos = {photo.id: photo for photo in load_whole(session, photo_ids)}
    files = {file.id: file for photo in photos.values() for file in photo.files}
    mark_cameras(session, {photo.camera_id for photo in photos.values() if photo.camera_id})
    changed = dict(photos)
    heirs: dict[int, int] = {}
    for owner, part in moves:
        first = photos[part[0].photo_id]
        target = photos[owner] if owner else new_photo(first.path, first.name, now)
        session.add(target)
        session.flush()
        changed[target.id] = target
        sources = {row.photo_id: row.quality for row in part if row.photo_id != owner}
        for photo_id in sorted(sources, key=lambda source: (-sources[source], source)):
            inherit(session, target, photos[photo_id])
            heirs.setdefault(photo_id, target.id)
        for row in part:
            files[row.id].photo = target
    gone = remove_empty(session, list(photos.values()), heirs)
    return Restacked([photo for photo_id, photo in changed.items() if photo_id not in gone], gone)


def new_photo(path: str, name: str, now: datetime) -> Photo:
    """Make a photo without files, which is not in a session yet."""
    uid = ids.new_uid(ids.PHOTO, now)
    values = {"uid": uid, "path": path, "name": name, "created_at": now, "updated_at": now}
    return Photo.with_defaults(values, keywords=[])
