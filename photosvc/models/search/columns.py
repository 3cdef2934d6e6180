"""How search columns are declared, and the sort keys of the search orders (spec section 4.2) with their indexes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import FromClause
from sqlalchemy.orm import MappedColumn, mapped_column

from photosvc.models.content.photo import File, Photo

_INFO = "search_column"


@dataclass(frozen=True, slots=True)
class PhotoSource:
    """What the columns of a photo are computed from."""

    photo: Photo
    files: Sequence[File]
    """All files of the photo, the primary one first."""
    has_album: bool
    """Whether the photo is in an album that is not deleted."""
    position: tuple[float, float, float, float, float]
    """Latitude, longitude, and the same place as a point (x, y, z) of the unit sphere."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """What the columns of one file are computed from."""

    file: File
    photo: Photo
    rank: int
    """The place of the file among the files of its photo; 0 is the primary file."""


@dataclass(frozen=True, slots=True)
class SearchColumn:
    """The value of one column, and its uses."""

    value: str | Callable[[Any], object]
    """An attribute of the photo or file, or a function of the `PhotoSource` or `FileSource`."""
    convert: Callable[[Any], object] | None
    """Applied to the attribute."""
    per_file: bool
    """Whether files of one photo may differ in it."""
    filter_name: str
    """The name that rows of `query.filters` use for this column; empty: the column's own."""
    by_value: bool = False
    """Whether the rows of each value are indexed in the orders with `SortKeys.by_value`."""
    lookup: str = ""
    """The index, shared by columns that name the same one, that finds rows by this column; empty: none."""
    by_pattern: bool = False
    """Whether patterns are compared in an index, which is a tenth of the size of the rows."""
    scanned: bool = False
    """Whether the index of values has it, which is read from end to end: a fifth of the size of the rows."""


def of_photo(
    value: str | Callable[[PhotoSource], object],
    *arguments: Any,  # noqa: ANN401 - what mapped_column takes
    convert: Callable[[Any], object] | None = None,
    filter_name: str = "",
    by_value: bool = False,
    lookup: str = "",
    by_pattern: bool = False,
    scanned: bool = False,
    index: bool = False,
) -> MappedColumn[Any]:
    """A column that all files of a photo share. See `SearchColumn`; further arguments are those of `mapped_column`."""
    column = SearchColumn(value, convert, False, filter_name, by_value, lookup, by_pattern, scanned)
    return mapped_column(*arguments, info={_INFO: column}, index=index)


def of_file(
    value: str | Callable[[FileSource], object],
    *arguments: Any,  # noqa: ANN401 - what mapped_column takes
    convert: Callable[[Any], object] | None = None,
    filter_name: str = "",
    lookup: str = "",
    by_pattern: bool = False,
    scanned: bool = False,
    **options: Any,  # noqa: ANN401 - what mapped_column takes
) -> MappedColumn[Any]:
    """A column in which the files of a photo may differ; arguments as for `of_photo`."""
    column = SearchColumn(value, convert, True, filter_name, False, lookup, by_pattern, scanned)
    return mapped_column(*arguments, info={_INFO: column}, **options)


def search_columns(table: FromClause) -> dict[str, SearchColumn]:
    """The columns of a table that were declared by `of_photo` and `of_file`, by name."""
    return {column.key: column.info[_INFO] for column in table.columns}


#: Index columns of the most frequent orders: with them a page is read from the index alone.
_COVERING = ("private", "photo_id")


@dataclass(frozen=True, slots=True)
class SortKeys:
    """The columns that an order compares, and the indexes it has."""

    columns: tuple[str, ...]
    """All compared in the same direction; the last one is unique."""
    index: str
    """The end of the names of its indexes."""
    appended: tuple[str, ...] = ("private",)
    """Index columns behind the sort keys: a row that must be skipped is skipped without reading the row itself."""
    by_value: bool = False
    """Whether there is a further index for each column declared `by_value`, led by that column."""
    by_album: bool = False
    """Whether `SearchAlbum` has an index in this order."""


#: By the name of the order. Absent is `random`, whose key depends on the seed. `photo_size` is the order `size` of
#: merged results: there the largest file of a photo counts.
SORT_KEYS = {
    "added": SortKeys(("newest_key",), "added", _COVERING, by_value=True, by_album=True),
    "newest": SortKeys(("taken_at", "newest_key"), "taken", _COVERING, by_value=True, by_album=True),
    "oldest": SortKeys(("taken_at", "oldest_key"), "oldest", _COVERING, by_album=True),
    "updated": SortKeys(("updated_at", "newest_key"), "updated"),
    "edited": SortKeys(("edited_at", "newest_key"), "edited"),
    "relevance": SortKeys(("quality", "taken_at", "newest_key"), "relevance"),
    "duration": SortKeys(("duration", "newest_key"), "duration"),
    "size": SortKeys(("size", "newest_key"), "size"),
    "photo_size": SortKeys(("photo_size", "newest_key"), "photo_size"),
    "similar": SortKeys(("color", "cell_id", "photo_diff", "oldest_key"), "similar"),
    "name": SortKeys(("path", "name", "oldest_key"), "name"),
    "title": SortKeys(("title_key", "name", "oldest_key"), "title", ("private", "listed")),
}
