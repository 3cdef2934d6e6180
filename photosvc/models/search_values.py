"""Search columns: their declaration and the computation of their values, word texts, and sort keys of search orders.

A word text is a text of folded words with a blank on both sides. ` , ` separates its sections, so that no phrase
reaches from one section into the next: ` at the lake , summer `. Only this module knows the form.
"""

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import FromClause
from sqlalchemy.orm import MappedColumn, mapped_column

from photosvc.core.geo import unit_vector
from photosvc.core.vocabulary import UNKNOWN_PLACE
from photosvc.models.photo import File, Photo
from photosvc.query.fold import MOST_WORDS, fold, word_line
from photosvc.query.nodes import Phrase, Word

Term: TypeAlias = Word | Phrase

_BREAK: Final = " , "

#: The full-text index has each word of a section once more, after this character. No word contains one.
MARKS: Final = {
    "title": "\ue001", "keywords": "\ue002", "people": "\ue003", "description": "\ue004", "place": "\ue005",
    "seen": "\ue006",
}  # fmt: skip


#: The most characters of all words of a photo, and of one section: PostgreSQL indexes a megabyte of UTF-8 together.
LONGEST_WORDS: Final = 110_000
LONGEST_SECTION: Final = 25_000
_INFO = "search_column"
#: Columns in the indexes of the most frequent orders, from which a page is read without the rows.
_COVERING = ("private", "listed")
#: Positions of photos are counted in the index of an order, which therefore has this flag of one row for each photo.
_ONE_EACH = "is_first"
#: The columns that the timeline, the map and the numbers of its towns read, in their indexes. Without a query, or with
#: filters on these columns only, they read no rows; otherwise SQLite would sort whole rows to group them.
SHOWN: Final = ("listed", "private", _ONE_EACH, "aspect_ratio", "color", "photo_type")
#: Columns that are compared in the index of the order `added`, and in that of `newest`, which has further indexes.
#: Year and month serve words that also mean such a value: `2019`, `december`. The index of values has no `portrait`.
_IN_ADDED = ("photo_id", "color", "photo_type", "camera_id", "country", "year", "month", "portrait")
_IN_NEWEST = ("photo_id", "color", "photo_type", "year", "month", "portrait", "taken_day")
#: Latitude and longitude of an unknown position: inside no box.
NOWHERE = 999.0
#: Most bytes of a title's sort key: folding can turn one character into 18, and cursors contain the whole key.
_TITLE_BYTES = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
RANK_BITS = 16
#: The highest rank, and the lowest bits of the descending form of the key of a primary file.
LAST_RANK = (1 << RANK_BITS) - 1
_MICROSECOND = timedelta(microseconds=1)
#: More microseconds than between the years 1 and 9999.
_BEYOND: Final = 4 * 10**17
#: The most microseconds between the time of a photo in UTC and the beginning of its local day.
_FROM_DAY: Final = timedelta(days=2) // _MICROSECOND


def word_text(sections: Iterable[str], longest: int = LONGEST_SECTION) -> str:
    """Return the word text of these texts without empty and repeated ones.

    Keep at most `MOST_WORDS` words and `longest` characters.
    """
    folded = dict.fromkeys(map(word_line, sections))
    folded.pop("", None)
    text = _BREAK.join(folded)
    if text.count(" ") >= MOST_WORDS - 1:
        text = " ".join(text.split(" ", MOST_WORDS - 1)[:-1])
    text = f" {text} " if text else ""
    return text if len(text) <= longest else text[: text.rindex(" ", 0, longest) + 1]


def needles(term: Term) -> tuple[str, ...]:
    """Return texts such that the term matches a word text if and only if the word text contains one of them."""
    text = term.text if isinstance(term, Word) else " ".join(term.words)
    forms = term.forms if isinstance(term, Word) else ()
    return (f" {text}" if term.prefix else f" {text} ", *(f" {form} " for form in forms))


def in_section(term: Term, section: str) -> Term:
    """Return the term as the full-text index stores it for one section."""
    mark = MARKS[section]
    if isinstance(term, Word):
        return replace(term, text=mark + term.text, forms=tuple(mark + form for form in term.forms))
    return replace(term, words=tuple(mark + word for word in term.words))


def camera_or_lens_name(make: str, model: str) -> str:
    """Return the name of a camera or lens whose words the filters `camera` and `lens` compare."""
    return f"{make} {model}".strip()


@dataclass(frozen=True, slots=True)
class PhotoSource:
    """The data from which the columns of a photo are computed."""

    photo: Photo
    files: Sequence[File]
    """All files of the photo, the primary one first."""
    has_album: bool
    """True if the photo is in an album that is not deleted."""
    position: tuple[float, float, float, float, float]
    """Latitude, longitude, and the same place as a point (x, y, z) of the unit sphere."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """The data from which the columns of a file are computed."""

    file: File
    photo: Photo
    rank: int
    """The place of the file among the files of its photo; 0 is the primary file."""


#: An attribute of the photo or file, or a function of the `PhotoSource` or `FileSource`.
Value: TypeAlias = str | Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class SearchColumn:
    """The declaration of a column: its value and its uses."""

    value: Value
    per_file: bool
    """True if the files of a photo may differ in it."""
    convert: Callable[[Any], object] | None = None
    """A function that is applied to the attribute."""
    filter_name: str = ""
    """The name of this column in the rows of `query.filters`; empty for the column's own name."""
    by_value: bool = False
    """True if each order with `SortKeys.by_value` has an index led by this column."""
    lookup: str = ""
    """The index that finds rows by this column; several columns may share it. Empty for none."""
    by_pattern: bool = False
    """True if patterns are compared in an index, which has a tenth of the size of the rows."""
    scanned: bool = False
    """True if the index `values` contains it, which is read from end to end and has a fifth of the size of the rows."""


def photo_column(value: Value, *arguments: Any, **uses: Any) -> MappedColumn[Any]:  # noqa: ANN401
    """Declare a column that all files of a photo share, by arguments of `mapped_column` and of `SearchColumn`."""
    return mapped_column(*arguments, info={_INFO: SearchColumn(value, per_file=False, **uses)})


def file_column(value: Value, *arguments: Any, key: bool = False, **uses: Any) -> MappedColumn[Any]:  # noqa: ANN401
    """Declare a column in which files of a photo may differ, like `photo_column`; with `key`, the key of the table."""
    column = SearchColumn(value, per_file=True, **uses)
    return mapped_column(*arguments, info={_INFO: column}, primary_key=key, autoincrement=False)


def search_columns(table: FromClause) -> dict[str, SearchColumn]:
    """Return the columns of a table that were declared by `photo_column` and `file_column`, by name."""
    return {column.key: column.info[_INFO] for column in table.columns}


@dataclass(frozen=True, slots=True)
class SortKeys:
    """The columns that an order compares, and its indexes."""

    columns: tuple[str, ...]
    """All compared in the same direction; the last one is unique."""
    index: str
    """The end of the names of its indexes."""
    appended: tuple[str, ...] = ("private",)
    """Index columns after the sort keys, so that rows can be skipped without reading the row itself."""
    by_value: bool = False
    """True if there is a further index for each column declared `by_value`, led by that column."""
    by_album: bool = False
    """True if `SearchAlbum` has an index in this order."""


#: Sort keys by the name of the order, without `random`, whose key depends on the seed. `photo_size` is the order `size`
#: of merged results, in which the largest file of a photo counts.
SORT_KEYS = {
    "added": SortKeys(("newest_key",), "added", (*_COVERING, "shuffle", *_IN_ADDED, _ONE_EACH), by_album=True),
    "newest": SortKeys(
        ("taken_at", "newest_key"), "taken", (*_COVERING, *_IN_NEWEST, _ONE_EACH), by_value=True, by_album=True
    ),
    "oldest": SortKeys(
        ("oldest_at", "oldest_key"), "oldest", (*_COVERING, "photo_id", "year", "taken_day", _ONE_EACH), by_album=True
    ),
    "updated": SortKeys(("updated_at", "newest_key"), "updated", ("private", "created_at", _ONE_EACH)),
    "edited": SortKeys(("edited_at", "newest_key"), "edited", ("private", _ONE_EACH)),
    "relevance": SortKeys(("quality", "taken_at", "newest_key"), "relevance", ("private", _ONE_EACH)),
    "duration": SortKeys(("duration", "newest_key"), "duration", ("private", _ONE_EACH)),
    "size": SortKeys(("size", "newest_key"), "size"),
    "photo_size": SortKeys(("photo_size", "newest_key"), "photo_size", ("private", _ONE_EACH)),
    "similar": SortKeys(("color", "cell_id", "photo_diff", "oldest_key"), "similar", ("private", _ONE_EACH)),
    "name": SortKeys(("path", "name", "oldest_key"), "name", ("private", _ONE_EACH)),
    "title": SortKeys(("title_key", "name", "oldest_key"), "title", ("private", "listed", _ONE_EACH)),
    "place": SortKeys(("country", "state_key", "city_key", "oldest_key"), "place", (*SHOWN, "newest_key")),
}


def photo_source(photo: Photo, *, has_album: bool) -> PhotoSource:
    """Return the photo with its files in order and its position."""
    files = sorted(photo.files, key=_place)
    return PhotoSource(photo, files, has_album, _position(photo))


def microseconds(moment: datetime | None) -> int:
    """Return microseconds since 1970; 0 for an unset time."""
    return (moment - _EPOCH) // _MICROSECOND if moment else 0


def newest_at(source: PhotoSource) -> int:
    """Return the time at which a photo was taken, in microseconds since 1970; of undated photos, one before all times.

    Undated photos have the time of their file, which only says in which order they come among themselves.
    """
    return _time_near_day(source.photo) - (0 if source.photo.year > 0 else _BEYOND)


def oldest_at(source: PhotoSource) -> int:
    """Return the time at which a photo was taken like `newest_at`; of undated photos, one after all times."""
    return _time_near_day(source.photo) + (0 if source.photo.year > 0 else _BEYOND)


def _time_near_day(photo: Photo) -> int:
    """Return the time at which a photo was taken, near its local day: `times_around` relies on it."""
    taken = microseconds(photo.taken_at)
    if min(photo.year, photo.month, photo.day) <= 0:
        return taken
    low, high = times_around(date(photo.year, photo.month, photo.day))
    return min(max(taken, low), high)


def times_around(day: date) -> tuple[int, int]:
    """Return times that lie before and after those of all photos of a local day, by far enough for any time zone."""
    begins = microseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))
    return begins - _FROM_DAY, begins + _FROM_DAY


def last_changed(photo: Any) -> int:  # noqa: ANN401 - a photo, or a row with its times
    """Return the time of the last change of a photo, in microseconds, but never before the time when it was added."""
    return microseconds(max(photo.updated_at, photo.created_at))


def title_key(title: str) -> str:
    """Return the sort key of a title."""
    return fold(title).encode()[:_TITLE_BYTES].decode(errors="ignore")


def shuffle_key(uid: str) -> int:
    """Return 31 bits that are always the same for a UID."""
    return zlib.crc32(uid.encode()) & 0x7FFFFFFF


def is_hidden_quality(quality: int) -> bool:
    """Return whether a photo of this quality is hidden."""
    return quality < 0


def is_set(value: object) -> bool:
    """Return whether the value is not None."""
    return value is not None


def taken_day(source: PhotoSource) -> int:
    """Return the day number of the local day; 0 if a part of it is unknown."""
    year, month, day = source.photo.year, source.photo.month, source.photo.day
    return day_number(year, month, day) if min(year, month, day) > 0 else 0


def timeline_day(source: PhotoSource) -> int:
    """Return the day number of the local day, with day 0 if only the day is unknown; 0 if the month is unknown."""
    photo = source.photo
    return day_number(photo.year, photo.month, max(photo.day, 0)) if min(photo.year, photo.month) > 0 else 0


def day_number(year: int, month: int, day: int) -> int:
    """Return the day as the number yyyymmdd, which sorts like the day."""
    return year * 10_000 + month * 100 + day


def is_stacked(source: PhotoSource) -> bool:
    """Return whether the photo has two or more media files."""
    return sum(file.is_present for file in source.files) > 1


def faces(source: PhotoSource) -> int:
    """Return the highest number of faces that are marked on a file of the photo, with or without a name."""
    return min(max((file.faces for file in source.files if not file.missing), default=0), 32_767)


def primary_diff(source: PhotoSource) -> int:
    """Return `diff` of the primary file; -1 without files."""
    return source.files[0].diff if source.files else -1


def largest_size(source: PhotoSource) -> int:
    """Return the bytes of the largest file."""
    return max((file.size for file in source.files), default=0)


def is_listed(source: FileSource) -> bool:
    """Return whether a search shows the file without being asked for hidden, archived or broken ones."""
    return _is_listed(source.photo, source.file)


def is_first(source: FileSource) -> bool:
    """Return whether the file is the first listed file of its photo."""
    photo, place = source.photo, _place(source.file)
    return is_listed(source) and not any(_place(file) < place and _is_listed(photo, file) for file in photo.files)


def _is_listed(photo: Photo, file: File) -> bool:
    return file.is_present and not (file.error or is_set(photo.archived_at) or is_hidden_quality(photo.quality))


def _place(file: File) -> tuple[bool, int]:
    """Return the sort key of a file within its photo: the primary file comes first."""
    return (not file.primary, file.id)


def _position(photo: Photo) -> tuple[float, float, float, float, float]:
    if photo.cell_id == UNKNOWN_PLACE or not (math.isfinite(photo.lat) and math.isfinite(photo.lng)):
        return NOWHERE, NOWHERE, 0.0, 0.0, 0.0
    return photo.lat, photo.lng, *unit_vector(photo.lat, photo.lng)


class FileKey(NamedTuple):
    """A sort key of files: by photo id and, within a photo, from the primary file on.

    Both packed forms are 64-bit integers with the photo id in their upper 48 bits. Sort the ascending form (column
    `oldest_key`) upwards and the descending form (column `newest_key`) downwards: the photos then come in opposite
    orders, but the files of each photo in the same order. Files from rank 65,535 on share that rank.
    """

    photo_id: int
    rank: int
    """0 is the primary file."""

    def pack_ascending(self) -> int:
        """Return the value of `oldest_key`."""
        return self.photo_id << RANK_BITS | min(self.rank, LAST_RANK)

    def pack_descending(self) -> int:
        """Return the value of `newest_key`."""
        return self.photo_id << RANK_BITS | LAST_RANK - min(self.rank, LAST_RANK)

    @staticmethod
    def unpack_photo_id(packed: int) -> int:
        """Return the photo id of either form."""
        return packed >> RANK_BITS
