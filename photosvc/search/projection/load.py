"""Photos as the projection reads them: with their files, markers, keywords, gear and places, as plain objects."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from sqlalchemy import select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models import Camera, File, Keyword, Lens, Marker, Photo, Place, photo_keywords
from photosvc.models.database.among import among_parameter, as_parameter
from photosvc.models.database.plain import plain_class, select_plain
from photosvc.models.database.prepared import Prepared, prepare_statement

Row = TypeVar("Row", Camera, Lens, Place)
_WORD: Final = tuple(column.key for column in Keyword.__table__.columns if not column.primary_key)


def load(session: Session, photo_ids: Sequence[int]) -> list[Photo]:
    """Those of these photos that have search rows, by id, as the database has them; pending changes are not seen."""
    photos = select_plain(session, Photo, "id", photo_ids)
    _add_files(session, photos)
    shown = [photo for photo in photos if not is_missing(photo)]
    _add_others(session, shown)
    return shown


def load_whole(session: Session, key: str, values: Collection[int] | Collection[str]) -> list[Photo]:
    """The photos whose column `key` has one of these values, by id, also those without search rows; to be changed.

    On PostgreSQL, their rows are locked against changes until the transaction ends.
    """
    photos = select_plain(session, Photo, key, values, locked=True)
    _add_files(session, photos)
    _add_others(session, photos)
    return photos


def is_missing(photo: Photo) -> bool:
    """Whether none of its files is on disk."""
    return all(file.missing for file in photo.files)


def _add_files(session: Session, photos: Collection[Photo]) -> None:
    by_id = {photo.id: photo for photo in photos}
    for photo in photos:
        photo.files = []
    files = {file.id: file for file in select_plain(session, File, "photo_id", by_id.keys())}
    for file in files.values():
        file.photo, file.markers = by_id[file.photo_id], []
        file.photo.files.append(file)
    for marker in select_plain(session, Marker, "file_id", files.keys()):
        marker.file = files[marker.file_id]
        marker.file.markers.append(marker)


def _add_others(session: Session, photos: Collection[Photo]) -> None:
    words = _keywords(session, [photo.id for photo in photos])
    cameras = _by_id(session, Camera, {photo.camera_id for photo in photos})
    lenses = _by_id(session, Lens, {photo.lens_id for photo in photos})
    places = _by_id(session, Place, {photo.place_id for photo in photos})
    for photo in photos:
        photo.keywords = words[photo.id]
        photo.camera, photo.lens = cameras[photo.camera_id], lenses[photo.lens_id]
        photo.place = places[photo.place_id]


def _by_id(session: Session, mapped: type[Row], ids: Collection[Any]) -> dict[Any, Row]:
    return {one.id: one for one in select_plain(session, mapped, "id", ids)}


def _keywords(session: Session, photo_ids: Collection[int]) -> defaultdict[int, list[Keyword]]:
    words: defaultdict[int, list[Keyword]] = defaultdict(list)
    if not photo_ids:
        return words
    known: dict[int, Keyword] = {}
    keyword_class = plain_class(Keyword)
    connection = session.connection()
    given = {"photo_ids": as_parameter(connection.dialect.name, photo_ids)}
    for photo_id, keyword_id, *values in _prepared(connection.dialect).run(connection, given):
        if keyword_id not in known:
            known[keyword_id] = one = keyword_class()
            one.id = keyword_id
            vars(one).update(zip(_WORD, values, strict=True))
        words[photo_id].append(known[keyword_id])
    return words


@lru_cache(maxsize=8)
def _prepared(dialect: Dialect) -> Prepared:
    query = (
        select(photo_keywords.c.photo_id, Keyword.id, *(getattr(Keyword, name) for name in _WORD))
        .join(Keyword, Keyword.id == photo_keywords.c.keyword_id)
        .where(among_parameter(dialect.name, photo_keywords.c.photo_id, "photo_ids"))
        .order_by(photo_keywords.c.photo_id, Keyword.word)
    )
    return prepare_statement(query, dialect)
