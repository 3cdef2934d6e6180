"""The block in which photos are changed: loaded as plain objects, then described, journalled, written and projected.

An edit reads a photo with all that belongs to it and writes a few columns. The ORM takes many times as long for the
former as the database, and compares all of it for the latter.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.times import ZERO_TIME
from photosvc.index.catalog import Catalog, PlainCatalog
from photosvc.index.describe import describe, rate_again
from photosvc.index.photo_changes import mark_cameras
from photosvc.index.places import Gazetteer
from photosvc.index.sidecar_links import sidecars_of
from photosvc.library.journal import (
    Change,
    changes_of_batch,
    decided,
    difference,
    has_effects,
    record,
    restore,
    snapshot,
    values_of,
    wire_name,
)
from photosvc.models import File, Keyword, Marker, Photo, PhotoChange, photo_keywords
from photosvc.models.statements import (
    Prepared,
    Updates,
    among,
    among_parameter,
    as_parameter,
    changed_values,
    insert_plain,
    next_ids,
    plain,
    prepare_statement,
    run_many,
)
from photosvc.query.fold import fold
from photosvc.search.rows.render import load_whole
from photosvc.search.rows.write import renew

_INSERT_WORD: Final = insert(photo_keywords)
_DELETE_WORD: Final = delete(photo_keywords).where(
    photo_keywords.c.photo_id == bindparam("photo"), photo_keywords.c.keyword_id == bindparam("keyword")
)

_PHOTO: Final = tuple(column.key for column in Photo.__table__.columns)
_FILE: Final = tuple(column.key for column in File.__table__.columns)
_MARKER: Final = tuple(column.key for column in Marker.__table__.columns if column.key not in {"id", "file_id"})
_read_photo: Final[Callable[[Photo], tuple[Any, ...]]] = attrgetter(*_PHOTO)
_read_file: Final[Callable[[File], tuple[Any, ...]]] = attrgetter(*_FILE)
_MOST_KEYWORDS: Final = 256


class LoadedPhotos:
    """Photos with their files, markers, keywords, gear and place; others cannot change them until the transaction ends.

    They are plain objects: `store` writes the columns that were changed of them and of their files, and their keywords
    and markers. It neither adds nor removes files; call `reload` after doing so by other means.
    """

    def __init__(self, session: Session, key: str, values: Collection[int] | Collection[str]) -> None:
        session.flush()
        self._session = session
        self.photos = load_whole(session, key, values)
        """The photos by id."""
        self._stored = {photo.id: _Stored(photo) for photo in self.photos}

    def reload(self, photo: Photo) -> None:
        """Read a photo again: after the flushed session changed it, or to drop the changes made here."""
        (fresh,) = load_whole(self._session, "id", [photo.id])
        vars(photo).update(vars(fresh))
        for file in photo.files:
            file.photo = photo
        self._stored[photo.id] = _Stored(photo)

    def is_changed(self, photo: Photo) -> bool:
        """Return whether keywords or columns of the photo, except `checked_at`, differ from those stored."""
        stored = self._stored[photo.id]
        _refer(photo)
        columns = changed_values(_PHOTO, _read_photo(photo), stored.photo).keys() - {"checked_at"}
        return bool(columns) or set(_ids(photo.keywords)) != set(stored.keywords)

    def has_other_markers(self, photo: Photo) -> bool:
        """Return whether markers were added to the photo, or removed, since it was loaded."""
        return _marker_ids(photo) != self._stored[photo.id].markers

    def store(self, photos: Iterable[Photo]) -> None:
        """Write the differences of these photos."""
        updates = Updates()
        lost: list[dict[str, int]] = []
        gained: list[dict[str, int]] = []
        reworded: list[Photo] = []
        for photo in photos:
            stored = self._stored[photo.id]
            _refer(photo)
            updates.add(Photo, "id", photo.id, changed_values(_PHOTO, _read_photo(photo), stored.photo))
            for file in photo.files:
                updates.add(File, "id", file.id, changed_values(_FILE, _read_file(file), stored.files[file.id]))
                for marker in file.markers:
                    if marker.id in stored.names and marker.name != stored.names[marker.id]:
                        updates.add(Marker, "id", marker.id, {"name": marker.name})
            if (words := _ids(photo.keywords)) != stored.keywords:
                reworded.append(photo)
                lost += ({"photo": photo.id, "keyword": one} for one in stored.keywords if one not in words)
                gained += ({"photo_id": photo.id, "keyword_id": one} for one in words if one not in stored.keywords)
            if self.has_other_markers(photo):
                self._store_markers(photo, stored)
        connection = self._session.connection()
        updates.run(connection)
        run_many(connection, _DELETE_WORD, lost)
        run_many(connection, _INSERT_WORD, gained)
        if reworded:
            self._sort_keywords(reworded)

    def _store_markers(self, photo: Photo, stored: "_Stored") -> None:
        gone = stored.markers - _marker_ids(photo)
        if gone:
            table: Any = Marker.__table__
            self._session.connection().execute(delete(table).where(among(self._session, table.c.id, gone)))
        for file in photo.files:
            new = [marker for marker in file.markers if marker.id not in stored.names]
            known = [marker for marker in file.markers if marker.id in stored.names]
            drawn = next_ids(self._session, Marker, len(new)) if new else ()
            added = [
                plain(Marker, id=number, file_id=file.id, file=file, **{name: getattr(one, name) for name in _MARKER})
                for one, number in zip(new, drawn, strict=False)
            ]
            insert_plain(self._session, Marker, added)
            file.markers = [*known, *added]

    def _sort_keywords(self, photos: Sequence[Photo]) -> None:
        """Bring keywords into the order of the database, in which the projection expects them."""
        words = {keyword.id for photo in photos for keyword in photo.keywords}
        connection = self._session.connection()
        given = {"keyword_ids": as_parameter(connection.dialect.name, words)}
        ordered = _by_word(connection.dialect).run(connection, given) if words else ()
        rank = {keyword_id: rank for rank, (keyword_id,) in enumerate(ordered)}
        for photo in photos:
            photo.keywords = sorted(photo.keywords, key=lambda keyword: rank[keyword.id])


def load_photo(session: Session, photo_uid: str) -> LoadedPhotos:
    """Load the photo with this UID to be changed, in a write transaction; the result is empty when there is none."""
    return LoadedPhotos(session, "uid", [photo_uid])


def load_photos(session: Session, photo_ids: Collection[int]) -> LoadedPhotos:
    """Load photos to be changed, some hundreds at most, in a write transaction."""
    return LoadedPhotos(session, "id", photo_ids)


def load_with_catalog(session: Session, photo_ids: Collection[int], zone: str) -> tuple[PlainCatalog, LoadedPhotos]:
    """Load photos as `load_photos` does, with a catalog of the rows that they refer to."""
    catalog, loaded = PlainCatalog(session, Gazetteer.load(), zone), load_photos(session, photo_ids)
    catalog.remember(loaded.photos)
    return catalog, loaded


class _Stored:
    """The stored values of a photo."""

    __slots__ = ("files", "keywords", "markers", "names", "photo")

    def __init__(self, photo: Photo) -> None:
        self.photo = _read_photo(photo)
        self.files = {file.id: _read_file(file) for file in photo.files}
        self.keywords = _ids(photo.keywords)
        self.names = {marker.id: marker.name for file in photo.files for marker in file.markers}
        self.markers = frozenset(self.names)


def _refer(photo: Photo) -> None:
    """Write the ids of the rows that a photo refers to."""
    photo.camera_id, photo.lens_id, photo.place_id = photo.camera.id, photo.lens.id, photo.place.id


def _ids(keywords: Iterable[Keyword]) -> list[int]:
    return [keyword.id for keyword in keywords]


def _marker_ids(photo: Photo) -> frozenset[int]:
    return frozenset(marker.id for file in photo.files for marker in file.markers)


@lru_cache(maxsize=8)
def _by_word(dialect: Dialect) -> Prepared:
    query = select(Keyword.id).where(among_parameter(dialect.name, Keyword.id, "keyword_ids"))
    return prepare_statement(query.order_by(Keyword.word), dialect)


@dataclass(frozen=True, slots=True)
class Each:
    """Changes that start from the values of each photo."""

    add_keywords: Sequence[str] = ()
    remove_keywords: Sequence[str] = ()
    shift: int = 0
    """Seconds by which times are moved; unknown times stay unknown."""

    def values(self, photo: Photo, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values for this photo: the same for all photos, and those that depend on its own.

        Raises:
            InvalidValueError: the photo would have too many keywords, or a time that no calendar has.
        """
        found = dict(values)
        if self.add_keywords or self.remove_keywords:
            found["keywords"] = self._keywords(photo, values.get("keywords"))
        if self.shift and (local := values.get("taken_at_local") or photo.taken_at_local) != ZERO_TIME:
            try:
                found["taken_at_local"] = local + timedelta(seconds=self.shift)
            except OverflowError:
                msg = f"the time of {photo.uid} would be outside of the calendar"
                raise InvalidValueError(msg, field="shift") from None
        return found

    def _keywords(self, photo: Photo, given: Sequence[str] | None) -> list[str]:
        words = [keyword.word for keyword in photo.keywords] if given is None else given
        gone = {fold(word) for word in self.remove_keywords}
        kept = {fold(word): word for word in (*self.add_keywords, *words)}
        kept = {folded: word for folded, word in kept.items() if folded not in gone}
        if len(kept) > _MOST_KEYWORDS:
            raise InvalidValueError(f"{photo.uid} would have more than {_MOST_KEYWORDS} keywords", field="add_keywords")
        return list(kept.values())


@contextmanager
def changing(
    session: Session, catalog: PlainCatalog, loaded: LoadedPhotos, change: Change, now: datetime
) -> Iterator[list[Photo]]:
    """Describe, journal and project these photos after the block, as far as they differ.

    The list that the block gets contains the changed photos afterwards.
    """
    photos = loaded.photos
    before = {photo.id: snapshot(photo) for photo in photos}
    cameras = {photo.camera_id for photo in photos}
    touched: list[Photo] = []
    yield touched
    changes = {photo.id: difference(before[photo.id], snapshot(photo)) for photo in photos}
    touched += [photo for photo in photos if changes[photo.id][1]]
    if not touched:
        return
    wider = {photo.id for photo in touched if has_effects(changes[photo.id][1])}
    sidecars = sidecars_of(session, wider) if wider else {}
    for photo in touched:
        photo.edited_at = now
        if photo.id in wider:
            describe(photo, sidecars, catalog, now)
            photo.updated_at = now
        else:
            rate_again(photo, now)
    changes |= {photo.id: difference(before[photo.id], snapshot(photo)) for photo in touched if photo.id in wider}
    for photo in [photo for photo in touched if not changes[photo.id][1]]:  # the files say the same
        loaded.reload(photo)
        touched.remove(photo)
    if not touched:
        return
    store_and_project(session, loaded, touched)
    record(session, change, now, {photo.uid: changes[photo.id] for photo in touched})
    if wider:
        mark_cameras(session, cameras | {photo.camera_id for photo in touched})


def store_and_project(session: Session, loaded: LoadedPhotos, photos: Sequence[Photo]) -> None:
    """Write changes of photos that are no edits of a person, and the search rows of these photos.

    Args:
        photos: those of them that changed, or to whose search rows something else has changed.
    """
    loaded.store(photos)
    renew(session, [photo.id for photo in photos])


def undo_batch(
    session: Session, photo_ids: Sequence[int], first: PhotoChange, change: Change, now: datetime, zone: str
) -> tuple[int, int]:
    """Take an edit of many photos back.

    Args:
        photo_ids: of edited photos, some hundreds at most.
        first: the edit's first change in the journal, of which the others have the time and the actor.

    Returns:
        the number of photos that have their former values, and of those that changed since and stay as they are.
    """
    (catalog, loaded), left = load_with_catalog(session, photo_ids, zone), 0
    entries = changes_of_batch(session, [photo.uid for photo in loaded.photos], first)
    with changing(session, catalog, loaded, change, now) as touched:
        for photo in loaded.photos:
            if photo.uid in entries:
                try:
                    undo(catalog, photo, entries[photo.uid])
                except ConflictError:  # raised before anything is written
                    left += 1
    return len(touched), left


def undo(catalog: Catalog, photo: Photo, change: PhotoChange) -> None:
    """Write the values from before a change back, inside `changing`.

    Values that only followed from those that a person set, such as a title from the place, are found again.

    Raises:
        ConflictError: the values changed since, or the change is of a kind that cannot be undone; it names the fields.
    """
    before, after = values_of(change.before), values_of(change.after)
    names, present = list(decided(before, after)), snapshot(photo)
    if changed := [wire_name(name) for name in names if present[name] != after[name]]:
        raise ConflictError(f"changed since then: {', '.join(changed)}", field=changed[0])
    if not names:
        raise ConflictError("this change cannot be undone")
    restore(photo, {name: before[name] for name in names}, catalog)
