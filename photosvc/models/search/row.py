"""The search columns: sort keys and filter columns, one row for each file. This class is their only list.

A line of `SearchRow` says everything about a column: its name and type, how its value is computed, the filter column
it stands for, and whether rows are looked up by it. The projection, the indexes below, the conditions of filters and
the planner read these lines.

To add a stored filter, change three places:

1. here: one line, for example `iso: Mapped[int] = of_photo("iso", Integer)`; with `by_value=True` the values have
   indexes in the most frequent orders. Increment `PROJECTION_VERSION`: the next index run then fills the column;
2. `models/migrations/versions/`: a migration that adds the column (NOT NULL, with a server default) and its indexes;
3. `query/filters/`: one row that names the column, in the file of its subject.

Parser, SQL, OpenAPI and the table in docs/search.md (`svc show filters --md`) follow from these.
`tests/models/test_search_columns.py` compares a migrated database with this list.
"""

from operator import attrgetter

from sqlalchemy import BigInteger, Double, ForeignKey, Index, Integer, SmallInteger, Text, text
from sqlalchemy.orm import Mapped

from photosvc.models.base import TABLE_PREFIX, Base, RowId
from photosvc.models.search import values
from photosvc.models.search.columns import SORT_KEYS, of_file, of_photo, search_columns
from photosvc.models.search.values import FileKey
from photosvc.query.fold import fold, fold_recurring

#: Grows whenever a projection would give other rows for the same library; older rows are stale.
PROJECTION_VERSION = 6

#: The order of the timeline, all downwards: by local day, and within a day as the order `newest`.
TIMELINE_KEYS = ("timeline_day", "taken_at", "newest_key")

#: Text that is sorted by code point on PostgreSQL too, so that both databases give the same pages.
SortText = Text().with_variant(Text(collation="C"), "postgresql")


class SearchRow(Base):
    """Sort keys and filter columns of one file and its photo.

    Times are microseconds since 1970. A column `…_key` of text is folded by `query.fold.fold`. All columns are NOT
    NULL, so that `NOT condition` selects exactly the remaining rows (SQL's NULL would drop them).
    """

    __tablename__ = TABLE_PREFIX + "search_rows"

    file_id: Mapped[int] = of_file(
        "id", RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    photo_id: Mapped[int] = of_photo("id", RowId)
    newest_key: Mapped[int] = of_file(
        lambda source: FileKey(source.photo.id, source.rank).pack_descending(), BigInteger
    )
    """The tie-break key of descending orders. Unique."""
    oldest_key: Mapped[int] = of_file(lambda source: FileKey(source.photo.id, source.rank).pack_ascending(), BigInteger)
    """The tie-break key of ascending orders. Unique."""
    listed: Mapped[bool] = of_file(values.is_listed)
    """Not missing, broken, hidden, archived or a sidecar: what a search shows by default."""
    present: Mapped[bool] = of_file(values.is_present)
    """Neither missing nor a sidecar: what a search may show at all."""
    is_primary: Mapped[bool] = of_file("primary")
    is_first: Mapped[bool] = of_file(values.is_first)
    """The first listed file of its photo: where it is true there is one row for each photo that is shown by default."""
    # photo
    photo_uid: Mapped[str] = of_photo("uid", Text, index=True)
    photo_type: Mapped[str] = of_photo("type", Text, by_value=True, scanned=True)
    path: Mapped[str] = of_photo("path", SortText)
    name: Mapped[str] = of_photo("name", SortText)
    path_key: Mapped[str] = of_photo("path", Text, convert=fold_recurring, filter_name="path", lookup="path")
    name_key: Mapped[str] = of_photo("name", Text, convert=fold, filter_name="name", by_pattern=True)
    original_key: Mapped[str] = of_photo("original_name", Text, convert=fold, filter_name="original_name")
    title_key: Mapped[str] = of_photo("title", SortText, convert=values.title_key, filter_name="title", by_pattern=True)
    document_key: Mapped[str] = of_photo("document_id", Text, convert=fold, filter_name="document_id")
    stack: Mapped[int] = of_photo("stack", SmallInteger, scanned=True)
    stacked: Mapped[bool] = of_photo(values.is_stacked, scanned=True)
    has_album: Mapped[bool] = of_photo(attrgetter("has_album"), scanned=True)
    favorite: Mapped[bool] = of_photo("favorite", scanned=True)
    private: Mapped[bool] = of_photo("private")
    scan: Mapped[bool] = of_photo("scan", scanned=True)
    panorama: Mapped[bool] = of_photo("panorama", scanned=True)
    hidden: Mapped[bool] = of_photo("quality", convert=values.is_hidden)
    archived: Mapped[bool] = of_photo("archived_at", convert=values.is_set)
    archived_at: Mapped[int] = of_photo("archived_at", BigInteger, convert=values.microseconds)
    """0: never."""
    quality: Mapped[int] = of_photo("quality", SmallInteger, scanned=True)
    rating: Mapped[int] = of_photo("rating", SmallInteger, lookup="rating", scanned=True)
    faces: Mapped[int] = of_photo(values.faces, SmallInteger, lookup="faces", scanned=True)
    resolution: Mapped[int] = of_photo("resolution", Integer, scanned=True)
    iso: Mapped[int] = of_photo("iso", Integer, scanned=True)
    focal_length: Mapped[int] = of_photo("focal_length", Integer, scanned=True)
    f_number: Mapped[float] = of_photo("f_number", Double, scanned=True)
    camera_id: Mapped[int] = of_photo("camera_id", RowId, by_value=True, scanned=True)
    lens_id: Mapped[int] = of_photo("lens_id", RowId, lookup="values", scanned=True)
    lat: Mapped[float] = of_photo(lambda source: source.position[0], Double, lookup="map")
    lng: Mapped[float] = of_photo(lambda source: source.position[1], Double, lookup="map")
    """Degrees; `NOWHERE` when unknown."""
    x: Mapped[float] = of_photo(lambda source: source.position[2], Double)
    y: Mapped[float] = of_photo(lambda source: source.position[3], Double)
    z: Mapped[float] = of_photo(lambda source: source.position[4], Double)
    """The position as a point of the unit sphere: distances then need neither sines nor special cases at the poles."""
    altitude: Mapped[int] = of_photo("altitude", Integer, scanned=True)
    cell_id: Mapped[str] = of_photo("cell_id", SortText)
    country: Mapped[str] = of_photo("country", Text, by_value=True, scanned=True)
    state_key: Mapped[str] = of_photo("place.state", Text, convert=fold_recurring, filter_name="state", scanned=True)
    city_key: Mapped[str] = of_photo("place.city", Text, convert=fold_recurring, filter_name="city", scanned=True)
    year: Mapped[int] = of_photo("year", Integer, by_value=True, scanned=True)
    month: Mapped[int] = of_photo("month", Integer, scanned=True)
    day: Mapped[int] = of_photo("day", Integer, scanned=True)
    taken_day: Mapped[int] = of_photo(values.taken_day, Integer)
    timeline_day: Mapped[int] = of_photo(values.timeline_day, Integer)
    taken_at: Mapped[int] = of_photo("taken_at", BigInteger, convert=values.microseconds)
    far_day: Mapped[bool] = of_photo(values.is_far_day)
    """`taken_at` is outside of the local day and the days beside it, all by UTC: the clock of the camera was wrong."""
    created_at: Mapped[int] = of_photo("created_at", BigInteger, convert=values.microseconds)
    updated_at: Mapped[int] = of_photo("updated_at", BigInteger, convert=values.microseconds)
    edited_at: Mapped[int] = of_photo("edited_at", BigInteger, convert=values.microseconds)
    """0: never."""
    duration: Mapped[int] = of_photo("duration_ns", BigInteger)
    """Nanoseconds."""
    shuffle: Mapped[int] = of_photo("uid", Integer, convert=values.shuffle_key)
    """The fixed random number from which `random` makes an order for each seed."""
    color: Mapped[int] = of_photo("color", SmallInteger, by_value=True, scanned=True)
    photo_diff: Mapped[int] = of_photo(values.primary_diff, Integer)
    photo_size: Mapped[int] = of_photo(values.largest_size, BigInteger)
    """Bytes of the photo's largest file: keeps a photo together when merged results are sorted by size."""
    # file
    file_uid: Mapped[str] = of_file("uid", Text, index=True)
    file_key: Mapped[str] = of_file("name", Text, convert=fold, filter_name="file_name", by_pattern=True)
    hash: Mapped[str] = of_file("hash", Text, index=True)
    codec: Mapped[str] = of_file("codec", Text, convert=fold_recurring, scanned=True)
    size: Mapped[int] = of_file("size", BigInteger, lookup="size")
    width: Mapped[int] = of_file("width", Integer, scanned=True)
    height: Mapped[int] = of_file("height", Integer, scanned=True)
    portrait: Mapped[bool] = of_file("portrait")
    aspect_ratio: Mapped[float] = of_file("aspect_ratio", Double, scanned=True)
    chroma: Mapped[int] = of_file("chroma", SmallInteger, scanned=True)
    diff: Mapped[int] = of_file("diff", Integer)
    has_error: Mapped[bool] = of_file("error", convert=bool)
    instance_key: Mapped[str] = of_file("instance_id", Text, convert=fold, filter_name="instance_id")


#: Every column's declaration, by its name.
SEARCH_COLUMNS = search_columns(SearchRow.__table__)

#: The column that each column name of `query.filters` stands for, where the two names differ.
FILTER_COLUMNS = {column.filter_name: name for name, column in SEARCH_COLUMNS.items() if column.filter_name}

#: Columns whose every value is indexed in the orders with `SortKeys.by_value`.
VALUE_COLUMNS = tuple(name for name, column in SEARCH_COLUMNS.items() if column.by_value)

#: Columns by which rows are found through an index in no order.
LOOKUP_COLUMNS = {name: column.lookup for name, column in SEARCH_COLUMNS.items() if column.lookup}

#: Columns whose patterns are compared in an index; that of the order `title` contains titles.
PATTERN_COLUMNS = tuple(name for name, column in SEARCH_COLUMNS.items() if column.by_pattern)

#: Columns that are read from the index of values where no other index finds few rows.
SCANNED_COLUMNS = tuple(name for name, column in SEARCH_COLUMNS.items() if column.scanned)

#: The first columns of that index: lenses are looked up in it, and facets are counted by groups of these columns.
VALUE_GROUPS = ("lens_id", "year")

#: Columns that few photos have: only rows with more than 0 are in their indexes.
RARE_COLUMNS = ("rating", "faces")


def _index(
    name: str,
    *columns: str,
    condition: str = "listed",
    compared_by_pattern: tuple[str, ...] = (),
    included: tuple[str, ...] = (),
) -> None:
    """An index over the rows with this condition: `listed`, which searches show by default, and maybe others; or all.

    PostgreSQL looks up the beginning of a text, with any language of the database, where columns are
    `compared_by_pattern`. Columns that are `included` can be read from its index alone; SQLite's always have `file_id`.
    """
    flag, *further = condition.split(" AND ")
    on_sqlite = [f"{flag.removeprefix('NOT ')} = {int(not flag.startswith('NOT '))}", *further]
    Index(
        f"ix_{SearchRow.__tablename__}_{name}",
        *(getattr(SearchRow, column) for column in columns),
        sqlite_where=text(" AND ".join(on_sqlite)) if condition else None,
        postgresql_where=text(condition) if condition else None,
        postgresql_ops={column: "text_pattern_ops" for column in columns if column in compared_by_pattern},
        postgresql_include=included,
    )


for _keys in SORT_KEYS.values():
    _index(_keys.index, *_keys.columns, *_keys.appended, included=("file_id",))
    if _keys.by_value:
        for _column in VALUE_COLUMNS:
            _index(f"{_column}_{_keys.index}", _column, *_keys.columns)
_index("path", "path_key")
for _name in RARE_COLUMNS:
    _index(_name, _name, "newest_key", condition=f"listed AND {_name} > 0")
# SQLite knows that an index answers a statement by itself only if all columns are in it, also the constant `listed`.
for _name in PATTERN_COLUMNS:
    if _name not in {_keys.columns[0] for _keys in SORT_KEYS.values()}:
        _index(f"{_name}_pattern", _name, "oldest_key", "listed", compared_by_pattern=(_name,))
_index("random", "shuffle", "newest_key", "private", "listed", included=("file_id",))
_index("created", "created_at")
_index("far_day", "taken_day", "taken_at", condition="far_day")
_index("unlisted", "newest_key", condition="NOT listed")
_index("photo", "photo_id", "taken_at", "newest_key", "private", "listed", condition="", included=("file_id",))
# PostgreSQL allows 32 columns.
_index(
    "values",
    *VALUE_GROUPS,
    *(name for name in SCANNED_COLUMNS if name not in VALUE_GROUPS),
    "newest_key",
    "private",
    "listed",
)
# What the timeline, the map and its towns read of photos, so that they read no rows without a query, nor with the
# filters of these columns: SQLite would sort whole rows to group them.
_read = ("listed", "private", "is_first", "aspect_ratio", "color", "photo_type")
_index("timeline", *TIMELINE_KEYS, *_read, condition="")
_index("map", "lat", "lng", "newest_key", *_read, condition="")
_index("towns", "country", "city_key", "newest_key", *_read, condition="")
