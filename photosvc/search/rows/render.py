"""The content of the search tables for a photo: its rows, its words, and its records as JSON text.

The columns follow the declarations of `SearchRow`; `reading.pages` completes the records to results.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.data.subjects import subjects
from photosvc.models import (
    SEARCH_COLUMNS,
    UNKNOWN_ID,
    UNKNOWN_PLACE,
    Camera,
    File,
    Lens,
    Photo,
)
from photosvc.models.photo import WITH_ALL
from photosvc.models.search_values import LONGEST_WORDS, FileSource, camera_or_lens_name, photo_source, word_text
from photosvc.models.statements import among
from photosvc.query.fold import fold
from photosvc.records.fields import compile_schema
from photosvc.records.photos import OPTIONAL_OF_FILES, FileSchema, PhotoResultSchema, without_empty

_dump_head = compile_schema(PhotoResultSchema(exclude=("Merged", "Files")))
_dump_file = compile_schema(FileSchema())


def load(session: Session, photo_ids: Sequence[int]) -> list[Photo]:
    """Return the photos with these ids that have search rows, by id, as the database has them."""
    query = select(Photo).where(among(session, Photo.id, photo_ids)).order_by(Photo.id)
    photos = session.scalars(query.options(*WITH_ALL), execution_options={"populate_existing": True})
    return [photo for photo in photos if not is_missing(photo)]


def is_missing(photo: Photo) -> bool:
    """Return whether none of the photo's files is on disk."""
    return all(file.missing for file in photo.files)


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
        "seen": word_text(word for label in photo.seen for word in subjects()[label.key].words),
        "description_key": fold(photo.description),
    }


def _place(photo: Photo) -> tuple[str, ...]:
    place = photo.place
    return () if place.id == UNKNOWN_PLACE else (place.label, place.city, place.state)


def _gear(gear: Camera | Lens) -> tuple[str, ...]:
    return () if gear.id == UNKNOWN_ID else (camera_or_lens_name(gear.make, gear.model),)


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
    return orjson.dumps(without_empty(_dump_file(file), OPTIONAL_OF_FILES)).decode()
