"""Photos loaded to be changed, as plain objects, and written back where they changed.

An edit reads a photo with all that belongs to it and writes a few columns. The ORM takes many times as long for the
former as the database, and compares all of it for the latter.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models import File, Keyword, Marker, Photo, photo_keywords
from photosvc.models.plain import insert_plain, next_ids, plain
from photosvc.models.statements import (
    Prepared,
    Updates,
    among,
    among_parameter,
    as_parameter,
    changed_values,
    prepare_statement,
    run_many,
)
from photosvc.search.rows.render import load_whole

_INSERT_WORD: Final = insert(photo_keywords)
_DELETE_WORD: Final = delete(photo_keywords).where(
    photo_keywords.c.photo_id == bindparam("photo"), photo_keywords.c.keyword_id == bindparam("keyword")
)


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
            added = [_plain_marker(file, marker, number) for marker, number in zip(new, drawn, strict=False)]
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


class _Stored:
    """The stored values of a photo."""

    __slots__ = ("files", "keywords", "markers", "names", "photo")

    def __init__(self, photo: Photo) -> None:
        self.photo = _read_photo(photo)
        self.files = {file.id: _read_file(file) for file in photo.files}
        self.keywords = _ids(photo.keywords)
        self.names = {marker.id: marker.name for file in photo.files for marker in file.markers}
        self.markers = frozenset(self.names)


_PHOTO: Final = tuple(column.key for column in Photo.__table__.columns)
_FILE: Final = tuple(column.key for column in File.__table__.columns)
_MARKER: Final = tuple(column.key for column in Marker.__table__.columns if column.key not in {"id", "file_id"})
_read_photo: Final[Callable[[Photo], tuple[Any, ...]]] = attrgetter(*_PHOTO)
_read_file: Final[Callable[[File], tuple[Any, ...]]] = attrgetter(*_FILE)


def _refer(photo: Photo) -> None:
    """Write the ids of the rows that a photo refers to."""
    photo.camera_id, photo.lens_id, photo.place_id = photo.camera.id, photo.lens.id, photo.place.id


def _plain_marker(file: File, marker: Marker, number: int) -> Marker:
    """Make a new marker as a plain object, to be inserted with this id."""
    values = {name: getattr(marker, name) for name in _MARKER}
    return plain(Marker, id=number, file_id=file.id, file=file, **values)


def _ids(keywords: Iterable[Keyword]) -> list[int]:
    return [keyword.id for keyword in keywords]


def _marker_ids(photo: Photo) -> frozenset[int]:
    return frozenset(marker.id for file in photo.files for marker in file.markers)


@lru_cache(maxsize=8)
def _by_word(dialect: Dialect) -> Prepared:
    query = select(Keyword.id).where(among_parameter(dialect.name, Keyword.id, "keyword_ids"))
    return prepare_statement(query.order_by(Keyword.word), dialect)
