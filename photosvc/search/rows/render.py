"""The content of the search tables for a photo: its rows, its words, and its records as JSON text.

Photos are loaded as plain objects with their files, markers, keywords, cameras, lenses and places. The columns follow
the declarations of `SearchRow`; `reading.pages` completes the records to results.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models import (
    SEARCH_COLUMNS,
    UNKNOWN_ID,
    UNKNOWN_PLACE,
    Camera,
    File,
    Keyword,
    Lens,
    Marker,
    Photo,
    Place,
    photo_keywords,
)
from photosvc.models.search_values import LONGEST_WORDS, FileSource, gear_name, photo_source, word_text
from photosvc.models.statements import (
    Prepared,
    among_parameter,
    as_parameter,
    plain_class,
    prepare_statement,
    select_plain,
)
from photosvc.query.fold import fold
from photosvc.records.fields import compile_schema
from photosvc.records.photo import FileSchema, PhotoResultSchema, without_empty

Row = TypeVar("Row", Camera, Lens, Place)
_WORD: Final = tuple(column.key for column in Keyword.__table__.columns if not column.primary_key)
_dump_head = compile_schema(PhotoResultSchema(exclude=("Merged", "Files")))
_dump_file = compile_schema(FileSchema())


def load(session: Session, photo_ids: Sequence[int]) -> list[Photo]:
    """Return the photos with these ids that have search rows, by id, without changes that are not flushed."""
    photos = select_plain(session, Photo, "id", photo_ids)
    _add_files(session, photos)
    shown = [photo for photo in photos if not is_missing(photo)]
    _add_others(session, shown)
    return shown


def is_missing(photo: Photo) -> bool:
    """Return whether none of the photo's files is on disk."""
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


def search_rows(photo: Photo, *, has_album: bool) -> Iterator[tuple[File, dict[str, Any]]]:
    """Yield each file of the photo that is not missing, primary first, with the columns of its `SearchRow`."""
    source = photo_source(photo, has_album=has_album)
    shared = _photo_columns(photo, source)
    for rank, file in enumerate(source.files):
        if file.missing:
            continue
        yield file, shared | _file_columns(file, FileSource(file, photo, rank))


def _compile(*, per_file: bool) -> Callable[[object, object], dict[str, Any]]:
    """Return a function that computes the columns of a photo, or of a file, from the object and its source."""
    columns = {name: column for name, column in SEARCH_COLUMNS.items() if column.per_file is per_file}
    attributes = {name: column.value for name, column in columns.items() if isinstance(column.value, str)}
    converted = [(name, column.convert) for name, column in columns.items() if column.convert]
    computed = [(name, column.value) for name, column in columns.items() if not isinstance(column.value, str)]
    names, read = tuple(attributes), attrgetter(*attributes.values())

    def compute(thing: object, source: object) -> dict[str, Any]:
        row = dict(zip(names, read(thing), strict=True))
        for name, convert in converted:
            row[name] = convert(row[name])
        for name, value in computed:
            row[name] = value(source)
        return row

    return compute


_photo_columns, _file_columns = _compile(per_file=False), _compile(per_file=True)


def search_text(photo: Photo) -> dict[str, object]:
    """Return the columns of the photo's `SearchText`."""
    keywords = [keyword.word for keyword in photo.keywords]
    people = sorted({marker.name for file in photo.files if not file.missing for marker in file.markers})
    files = (file.name for file in photo.files if not file.missing)  # with extensions, as people type `IMG_3615.JPG`
    others = (*_place(photo), *_gear(photo.camera), *_gear(photo.lens), photo.notes)
    sections = (photo.title, photo.description, *keywords, *people, *files, photo.path, photo.original_name, *others)
    return {
        "photo_id": photo.id,
        "words": word_text(sections, LONGEST_WORDS),
        "title": word_text((photo.title,)),
        "keywords": word_text(keywords),
        "people": word_text(people),
        "description": word_text((photo.description,)),
        "place": word_text(_place(photo)),
        "description_key": fold(photo.description),
    }


def _place(photo: Photo) -> tuple[str, ...]:
    place = photo.place
    return () if place.id == UNKNOWN_PLACE else (place.label, place.city, place.state)


def _gear(gear: Camera | Lens) -> tuple[str, ...]:
    return () if gear.id == UNKNOWN_ID else (gear_name(gear.make, gear.model),)


@dataclass(frozen=True, slots=True)
class Result:
    """A photo and one of its files, as `PhotoResultSchema` dumps them without `Merged` and `Files`."""

    photo: Photo
    file: File

    @property
    def id(self) -> str:
        """Return `<photo_id>-<file_id>`, which is unique for each row."""
        return f"{self.photo.id}-{self.file.id}"


def render_head(photo: Photo, file: File) -> str:
    """Return the photo search result of one file as JSON without `Merged`, `Files` and the closing brace."""
    record = without_empty(_dump_head(Result(photo, file)))
    return orjson.dumps(record).decode().removesuffix("}")


def render_file(file: File) -> str:
    """Return the file record as JSON."""
    return orjson.dumps(_dump_file(file)).decode()
