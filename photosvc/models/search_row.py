"""The search rows: derived data, one row for each file, made by `search.projection.project`.

Narrow tables, because a filter may have to look at many rows: `search_rows` holds sort keys and filter columns,
`search_documents` the record as it goes over the wire; `search_texts` the words of photos.
"""

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, SmallInteger, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId

#: Grows whenever a projection would give other rows for the same library; older rows are stale.
PROJECTION_VERSION = 3

#: Latitude and longitude of an unknown position: inside no box.
NOWHERE = 999.0

#: Text that is sorted by code point, on PostgreSQL too, so that both databases give the same pages.
SortText = Text().with_variant(Text(collation="C"), "postgresql")


class SearchRow(Base):
    """Sort keys and filter columns of one file and its photo.

    Times are microseconds since 1970. A column `…_key` holds text as `query.fold.fold` makes it. None is ever null:
    the opposite of a condition is then simply its negation.
    """

    __tablename__ = TABLE_PREFIX + "search_rows"

    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    photo_id: Mapped[int] = mapped_column(RowId, index=True)
    newest_key: Mapped[int] = mapped_column(BigInteger)
    """`FileKey.pack_descending`. Unique."""
    oldest_key: Mapped[int] = mapped_column(BigInteger)
    """`FileKey.pack_ascending`. Unique."""
    listed: Mapped[bool] = mapped_column()
    """Not missing, broken, hidden, archived or a sidecar: what a search shows unasked."""
    present: Mapped[bool] = mapped_column()
    """Neither missing nor a sidecar: what a search may show at all."""
    is_primary: Mapped[bool] = mapped_column()
    # photo
    photo_uid: Mapped[str] = mapped_column(Text, index=True)
    photo_type: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(SortText)
    name: Mapped[str] = mapped_column(SortText)
    path_key: Mapped[str] = mapped_column(Text)
    name_key: Mapped[str] = mapped_column(Text)
    original_key: Mapped[str] = mapped_column(Text)
    title_key: Mapped[str] = mapped_column(SortText)
    document_key: Mapped[str] = mapped_column(Text)
    stack: Mapped[int] = mapped_column(SmallInteger)
    stacked: Mapped[bool] = mapped_column()
    has_album: Mapped[bool] = mapped_column()
    favorite: Mapped[bool] = mapped_column()
    private: Mapped[bool] = mapped_column()
    scan: Mapped[bool] = mapped_column()
    panorama: Mapped[bool] = mapped_column()
    hidden: Mapped[bool] = mapped_column()
    archived: Mapped[bool] = mapped_column()
    quality: Mapped[int] = mapped_column(SmallInteger)
    resolution: Mapped[int] = mapped_column(Integer)
    iso: Mapped[int] = mapped_column(Integer)
    focal_length: Mapped[int] = mapped_column(Integer)
    f_number: Mapped[float] = mapped_column()
    camera_id: Mapped[int] = mapped_column(RowId)
    lens_id: Mapped[int] = mapped_column(RowId)
    lat: Mapped[float] = mapped_column()
    lng: Mapped[float] = mapped_column()
    """Degrees; `NOWHERE` unknown."""
    x: Mapped[float] = mapped_column()
    y: Mapped[float] = mapped_column()
    z: Mapped[float] = mapped_column()
    """The position on the unit sphere, so that a true distance needs neither sines nor special places."""
    altitude: Mapped[int] = mapped_column(Integer)
    cell_id: Mapped[str] = mapped_column(SortText)
    country: Mapped[str] = mapped_column(Text)
    state_key: Mapped[str] = mapped_column(Text)
    city_key: Mapped[str] = mapped_column(Text)
    year: Mapped[int] = mapped_column(Integer)
    month: Mapped[int] = mapped_column(Integer)
    day: Mapped[int] = mapped_column(Integer)
    taken_day: Mapped[int] = mapped_column(Integer)
    """Local calendar day as yyyymmdd; 0 unknown."""
    taken_at: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[int] = mapped_column(BigInteger)
    edited_at: Mapped[int] = mapped_column(BigInteger)
    """0: never."""
    duration: Mapped[int] = mapped_column(BigInteger)
    """Nanoseconds."""
    shuffle: Mapped[int] = mapped_column(Integer)
    """31 bits drawn from the photo's UID, for seeded random order."""
    color: Mapped[int] = mapped_column(SmallInteger)
    photo_diff: Mapped[int] = mapped_column(Integer)
    """`diff` of the primary file."""
    photo_size: Mapped[int] = mapped_column(BigInteger)
    """Bytes of the photo's largest file: keeps a photo together when sorted by size."""
    # file
    file_uid: Mapped[str] = mapped_column(Text, index=True)
    file_key: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(Text, index=True)
    codec: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger)
    portrait: Mapped[bool] = mapped_column()
    aspect_ratio: Mapped[float] = mapped_column()
    chroma: Mapped[int] = mapped_column(SmallInteger)
    diff: Mapped[int] = mapped_column(Integer)
    has_error: Mapped[bool] = mapped_column()
    instance_key: Mapped[str] = mapped_column(Text)


def _index(name: str, *columns: str, listed: bool = True) -> Index:
    """An index over what searches show unasked, or over the rest."""
    return Index(
        f"ix_{SearchRow.__tablename__}_{name}",
        *(getattr(SearchRow, column) for column in columns),
        sqlite_where=text(f"listed = {int(listed)}"),
        postgresql_where=text("listed" if listed else "NOT listed"),
    )


# One for each order, each with a unique key, and with what says whether a row is skipped. The commonest hold more, so
# that they answer alone.
_index("added", "newest_key", "private", "photo_id")
_index("taken", "taken_at", "newest_key", "private", "photo_id")
_index("oldest", "taken_at", "oldest_key", "private", "photo_id")
_index("updated", "updated_at", "newest_key", "private")
_index("edited", "edited_at", "newest_key", "private")
_index("relevance", "quality", "taken_at", "newest_key", "private")
_index("duration", "duration", "newest_key", "private")
_index("size", "size", "newest_key", "private")
_index("photo_size", "photo_size", "newest_key", "private")
_index("similar", "color", "cell_id", "photo_diff", "oldest_key", "private")
_index("name", "path", "name", "oldest_key", "private")
_index("title", "title_key", "name", "oldest_key", "private")
_index("unlisted", "newest_key", listed=False)
_index("position", "lat", "lng")
_index("path", "path_key")
_index("photo", "photo_id", "taken_at", "newest_key", "private")

#: Columns whose values find their photos in the order of `newest` and of `added`.
INDEXED = ("color", "country", "year", "camera_id", "photo_type")
for _column in INDEXED:
    _index(f"{_column}_taken", _column, "taken_at", "newest_key")
    _index(f"{_column}_added", _column, "newest_key")


class SearchDocument(Base):
    """The record of one file on the wire (spec sections 2.2 and 2.3), as JSON text."""

    __tablename__ = TABLE_PREFIX + "search_documents"

    file_id: Mapped[int] = mapped_column(
        RowId,
        ForeignKey(TABLE_PREFIX + "search_rows.file_id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    )
    result: Mapped[str] = mapped_column(Text)
    """The photo search result, with `Merged` false and `Files` empty."""
    file: Mapped[str] = mapped_column(Text)
    """The file record, an element of `Files`."""
