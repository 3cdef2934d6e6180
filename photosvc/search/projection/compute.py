"""What the search tables store for a photo: its rows, its words, and its records as JSON text.

The columns follow the declarations of `SearchRow`; `reading.documents` completes the records to results.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import orjson

from photosvc.models import SEARCH_COLUMNS, UNKNOWN_ID, UNKNOWN_PLACE, Camera, File, Lens, Photo
from photosvc.models.search.columns import FileSource
from photosvc.models.search.values import photo_source
from photosvc.query.fold import fold
from photosvc.records.fields import compile_schema
from photosvc.records.photos.photo import FileSchema, PhotoResultSchema, without_empty
from photosvc.search.word_text import LONGEST_WORDS, gear_name, word_text

_dump_head = compile_schema(PhotoResultSchema(exclude=("Merged", "Files")))
_dump_file = compile_schema(FileSchema())


def search_rows(photo: Photo, *, has_album: bool) -> Iterator[tuple[File, dict[str, Any]]]:
    """Every file of the photo that is not missing, the primary one first, with the columns of its `SearchRow`."""
    source = photo_source(photo, has_album=has_album)
    shared = _photo_columns(photo, source)
    for rank, file in enumerate(source.files):
        if file.missing:
            continue
        yield file, shared | _file_columns(file, FileSource(file, photo, rank))


def _compile(*, per_file: bool) -> Callable[[object, object], dict[str, Any]]:
    """A function that computes the columns of a photo, or of a file, from the object itself and its source."""
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
    """The columns of the photo's `SearchText`."""
    keywords = [keyword.word for keyword in photo.keywords]
    people = sorted({marker.name for file in photo.files if not file.missing for marker in file.markers})
    sections = chain(
        (photo.title, photo.description), keywords, people, _file_names(photo.files), (photo.path, photo.original_name)
    )
    sections = chain(sections, _place(photo), _gear(photo.camera), _gear(photo.lens), (photo.notes,))
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


def _file_names(files: Iterable[File]) -> Iterator[str]:
    """With their extensions, which people type with the name: `IMG_3615.JPG`."""
    return (file.name for file in files if not file.missing)


def _place(photo: Photo) -> tuple[str, ...]:
    place = photo.place
    return () if place.id == UNKNOWN_PLACE else (place.label, place.city, place.state)


def _gear(gear: Camera | Lens) -> tuple[str, ...]:
    return () if gear.id == UNKNOWN_ID else (gear_name(gear.make, gear.model),)


@dataclass(frozen=True, slots=True)
class Result:
    """What `PhotoResultSchema` dumps, apart from `Merged` and `Files`."""

    photo: Photo
    file: File

    @property
    def id(self) -> str:
        """`<photo_id>-<file_id>`, unique for each row."""
        return f"{self.photo.id}-{self.file.id}"

    @property
    def faces(self) -> int:
        """Number of faces marked on the file."""
        return sum(marker.type == "face" for marker in self.file.markers)


def render_head(photo: Photo, file: File) -> str:
    """The photo search result of one file (spec section 2.2) without `Merged`, `Files` and the closing brace."""
    record = without_empty(_dump_head(Result(photo, file)))
    return orjson.dumps(record).decode().removesuffix("}")


def render_file(file: File) -> str:
    """The file record (spec section 2.3)."""
    return orjson.dumps(_dump_file(file)).decode()
