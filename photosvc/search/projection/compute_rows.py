"""The search rows of a photo, computed from the declarations of `SearchRow`."""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from photosvc.models import SEARCH_COLUMNS, File, Photo
from photosvc.models.search.columns import FileSource
from photosvc.models.search.values import photo_source


def search_rows(photo: Photo, *, has_album: bool) -> Iterator[tuple[File, dict[str, Any]]]:
    """Every file of the photo, the primary one first, with the columns of its `SearchRow`."""
    source = photo_source(photo, has_album=has_album)
    shared = _photo_columns(photo, source)
    for rank, file in enumerate(source.files):
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
