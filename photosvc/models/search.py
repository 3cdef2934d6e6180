"""The search tables: sort keys and filter columns of each file, files of albums, records as JSON text, and words.

`SearchRow` is the only list of search columns. A line of it says everything about a column: its name and type, the
computation of its value, the filter column for which it stands, and its indexes. The projection, the indexes (in
`models.indexes`), the conditions of filters and the planner read these lines; docs/architecture.md says how to add one.
"""

from operator import attrgetter

from sqlalchemy import BigInteger, Double, ForeignKey, Integer, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models import search_values
from photosvc.models.base import TABLE_PREFIX, Base, RowId, Text
from photosvc.models.library import Album
from photosvc.models.search_values import FileKey, file_column, photo_column, search_columns
from photosvc.query.fold import fold

#: The sort keys of the timeline, all descending: by local day, and within a day like the order `newest`.
TIMELINE_KEYS = ("timeline_day", "taken_at", "newest_key")
#: The first columns of the index `values`: lenses are looked up in it.
VALUE_GROUPS = ("lens_id", "year")
#: Columns in which few photos differ from the others, with the condition of the rows in their indexes.
RARE_COLUMNS = {"rating": "rating > 0", "faces": "faces > 0", "photo_type": "photo_type <> 'image'"}
#: The full-text index: an FTS5 table on SQLite, a column on PostgreSQL.
WORD_INDEX = TABLE_PREFIX + "search_text_index"
WORD_TERMS = "terms"


class SearchRow(Base, table="search_rows"):
    """The sort keys and filter columns of one file and its photo.

    Times are microseconds since 1970. A column `…_key` of text is folded by `query.fold.fold`. All columns are NOT
    NULL, so that `NOT condition` selects exactly the remaining rows (SQL's NULL would drop them).
    """

    file_id: Mapped[int] = file_column("id", RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), key=True)
    photo_id: Mapped[int] = photo_column("id", RowId)
    newest_key: Mapped[int] = file_column(
        lambda source: FileKey(source.photo.id, source.rank).pack_descending(), BigInteger
    )
    """The tie-break key of descending orders. Unique."""
    oldest_key: Mapped[int] = file_column(
        lambda source: FileKey(source.photo.id, source.rank).pack_ascending(), BigInteger
    )
    """The tie-break key of ascending orders. Unique."""
    listed: Mapped[bool] = file_column(search_values.is_listed)
    """True if a search shows the file by default: it is not missing, broken, hidden, archived or a sidecar."""
    present: Mapped[bool] = file_column("is_present")
    """True if a search may show the file at all: it is neither missing nor a sidecar."""
    is_primary: Mapped[bool] = file_column("primary")
    is_first: Mapped[bool] = file_column(search_values.is_first)
    """True for the first listed file of a photo, and so for one row of each photo that is shown by default."""
    # photo
    photo_uid: Mapped[str] = photo_column("uid", Text)
    photo_type: Mapped[str] = photo_column("type", Text, lookup="photo_type", scanned=True)
    path: Mapped[str] = photo_column("path", Text)
    name: Mapped[str] = photo_column("name", Text)
    path_key: Mapped[str] = photo_column("path", Text, convert=fold, filter_name="path", lookup="path")
    name_key: Mapped[str] = photo_column("name", Text, convert=fold, filter_name="name", by_pattern=True)
    original_key: Mapped[str] = photo_column("original_name", Text, convert=fold, filter_name="original_name")
    title_key: Mapped[str] = photo_column(
        "title", Text, convert=search_values.title_key, filter_name="title", by_pattern=True
    )
    document_key: Mapped[str] = photo_column("document_id", Text, convert=fold, filter_name="document_id")
    stack: Mapped[int] = photo_column("stack", SmallInteger, scanned=True)
    stacked: Mapped[bool] = photo_column(search_values.is_stacked, scanned=True)
    has_album: Mapped[bool] = photo_column(attrgetter("has_album"), scanned=True)
    favorite: Mapped[bool] = photo_column("favorite", scanned=True)
    private: Mapped[bool] = photo_column("private")
    scan: Mapped[bool] = photo_column("scan", scanned=True)
    panorama: Mapped[bool] = photo_column("panorama", scanned=True)
    hidden: Mapped[bool] = photo_column("quality", convert=search_values.is_hidden_quality)
    archived: Mapped[bool] = photo_column("archived_at", convert=search_values.is_set)
    archived_at: Mapped[int] = photo_column("archived_at", BigInteger, convert=search_values.microseconds)
    """0: never."""
    quality: Mapped[int] = photo_column("quality", SmallInteger, scanned=True)
    rating: Mapped[int] = photo_column("rating", SmallInteger, lookup="rating", scanned=True)
    faces: Mapped[int] = photo_column(search_values.faces, SmallInteger, lookup="faces", scanned=True)
    resolution: Mapped[int] = photo_column("resolution", Integer, scanned=True)
    iso: Mapped[int] = photo_column("iso", Integer, scanned=True)
    focal_length: Mapped[int] = photo_column("focal_length", Integer, scanned=True)
    f_number: Mapped[float] = photo_column("f_number", Double, scanned=True)
    exposure_key: Mapped[str] = photo_column("exposure", Text, convert=fold, filter_name="exposure")
    camera_id: Mapped[int] = photo_column("camera_id", RowId, by_value=True, scanned=True)
    lens_id: Mapped[int] = photo_column("lens_id", RowId, lookup="values", scanned=True)
    lat: Mapped[float] = photo_column(lambda source: source.position[0], Double, lookup="map")
    lng: Mapped[float] = photo_column(lambda source: source.position[1], Double, lookup="map")
    """Degrees, like `lat`; `NOWHERE` if they are unknown."""
    x: Mapped[float] = photo_column(lambda source: source.position[2], Double)
    y: Mapped[float] = photo_column(lambda source: source.position[3], Double)
    z: Mapped[float] = photo_column(lambda source: source.position[4], Double)
    """The position as a point of the unit sphere: distances then need neither sines nor special cases at the poles."""
    altitude: Mapped[int] = photo_column("altitude", Integer, scanned=True)
    cell_id: Mapped[str] = photo_column("cell_id", Text)
    country: Mapped[str] = photo_column("country", Text, by_value=True, scanned=True)
    state_key: Mapped[str] = photo_column("place.state", Text, convert=fold, filter_name="state", scanned=True)
    city_key: Mapped[str] = photo_column("place.city", Text, convert=fold, filter_name="city", scanned=True)
    year: Mapped[int] = photo_column("year", Integer, by_value=True, scanned=True)
    month: Mapped[int] = photo_column("month", Integer, scanned=True)
    day: Mapped[int] = photo_column("day", Integer, scanned=True)
    taken_day: Mapped[int] = photo_column(search_values.taken_day, Integer)
    timeline_day: Mapped[int] = photo_column(search_values.timeline_day, Integer)
    taken_at: Mapped[int] = photo_column(search_values.newest_at, BigInteger)
    oldest_at: Mapped[int] = photo_column(search_values.oldest_at, BigInteger)
    """Undated photos come last in both orders by time: `taken_at` sorts downwards, `oldest_at` upwards."""
    created_at: Mapped[int] = photo_column("created_at", BigInteger, convert=search_values.microseconds)
    updated_at: Mapped[int] = photo_column(lambda source: search_values.last_changed(source.photo), BigInteger)
    edited_at: Mapped[int] = photo_column("edited_at", BigInteger, convert=search_values.microseconds)
    """0: never."""
    duration: Mapped[int] = photo_column("duration_ns", BigInteger)
    """Nanoseconds."""
    shuffle: Mapped[int] = photo_column("uid", Integer, convert=search_values.shuffle_key)
    """The fixed random number from which `random` makes an order for each seed."""
    color: Mapped[int] = photo_column("color", SmallInteger, lookup="similar", scanned=True)
    photo_diff: Mapped[int] = photo_column(search_values.primary_diff, Integer)
    photo_size: Mapped[int] = photo_column(search_values.largest_size, BigInteger)
    """Bytes of the largest file of the photo: the sort key of merged results, which keeps the files together."""
    # file
    file_uid: Mapped[str] = file_column("uid", Text)
    file_key: Mapped[str] = file_column("name", Text, convert=fold, filter_name="file_name", by_pattern=True)
    hash: Mapped[str] = file_column("hash", Text)
    codec: Mapped[str] = file_column("codec", Text, convert=fold, scanned=True)
    size: Mapped[int] = file_column("size", BigInteger, lookup="size")
    width: Mapped[int] = file_column("width", Integer, scanned=True)
    height: Mapped[int] = file_column("height", Integer, scanned=True)
    portrait: Mapped[bool] = file_column("portrait")
    aspect_ratio: Mapped[float] = file_column("aspect_ratio", Double, scanned=True)
    chroma: Mapped[int] = file_column("chroma", SmallInteger, scanned=True)
    diff: Mapped[int] = file_column("diff", Integer)
    has_error: Mapped[bool] = file_column("error", convert=bool)
    instance_key: Mapped[str] = file_column("instance_id", Text, convert=fold, filter_name="instance_id")


#: The declaration of each column, by its name.
SEARCH_COLUMNS = search_columns(SearchRow.__table__)
#: The search columns by their names in `query.filters`, if the two names differ.
FILTER_COLUMNS = {column.filter_name: name for name, column in SEARCH_COLUMNS.items() if column.filter_name}
#: Columns for which each order with `SortKeys.by_value` has an index.
VALUE_COLUMNS = tuple(name for name, column in SEARCH_COLUMNS.items() if column.by_value)
#: Columns with an index that finds rows in no particular order.
LOOKUP_COLUMNS = {name: column.lookup for name, column in SEARCH_COLUMNS.items() if column.lookup}
#: Columns whose patterns are compared in an index; for titles it is the index of the order `title`.
PATTERN_COLUMNS = tuple(name for name, column in SEARCH_COLUMNS.items() if column.by_pattern)
#: Columns that are read from the index `values` if no other index narrows the rows down enough.
SCANNED_COLUMNS = tuple(name for name, column in SEARCH_COLUMNS.items() if column.scanned)


class SearchAlbum(Base, table="search_albums"):
    """A file in an album, with copies of the sort keys of its `SearchRow`.

    A page of an album is read along one index, for any size of the library and of the album.
    """

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(SearchRow.file_id, ondelete="CASCADE"), primary_key=True, index=True
    )
    taken_at: Mapped[int] = mapped_column(BigInteger)
    oldest_at: Mapped[int] = mapped_column(BigInteger)
    newest_key: Mapped[int] = mapped_column(BigInteger)
    oldest_key: Mapped[int] = mapped_column(BigInteger)


class SearchDocument(Base, table="search_documents"):
    """The records of one file as JSON, apart from the columns that searches compare."""

    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(SearchRow.file_id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    result_head: Mapped[str] = mapped_column(Text)
    """The search result up to its last two fields, `Merged` and `Files`, and without the closing brace."""
    file: Mapped[str] = mapped_column(Text)
    """The file record, an element of `Files`."""


class SearchText(Base, table="search_texts"):
    """The words by which a photo is found.

    A word, the beginning of a word or a phrase is compared as a substring of a word text (see `search_values`), so
    both databases and Python give the same answer. The few photos with a rare word are found by an index that the
    database maintains: on SQLite an FTS5 table with triggers, on PostgreSQL a generated tsvector column with a GIN
    index. It contains each word of a section a second time, after the mark of the section. The first migration creates
    both indexes.
    """

    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    words: Mapped[str] = mapped_column(Text)
    """Word text of everything that free text searches but `seen`."""
    title: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)
    people: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    place: Mapped[str] = mapped_column(Text)
    """City, state and country."""
    seen: Mapped[str] = mapped_column(Text)
    """Labels that were seen in the picture, in all languages; not in `words`."""
    description_key: Mapped[str] = mapped_column(Text)
    """The folded description, for patterns; the only column that is no word text."""
