"""The search rows: derived data, one row for each file, made by `search.project`.

Two tables, so that a filter that must look at many rows reads narrow ones: `search_rows` holds sort keys and filter
columns, `search_documents` the record as it goes over the wire.
"""

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, SmallInteger, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId

#: Grows whenever a projection would give other rows for the same library; older rows are stale.
PROJECTION_VERSION = 1


#: Text that is sorted by code point, on PostgreSQL too, so that both databases give the same pages.
SortText = Text().with_variant(Text(collation="C"), "postgresql")


class SearchRow(Base):
    """Sort keys and filter columns of one file and its photo. Times are microseconds since 1970."""

    __tablename__ = TABLE_PREFIX + "search_rows"

    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    photo_id: Mapped[int] = mapped_column(RowId, index=True)
    newest_key: Mapped[int] = mapped_column(BigInteger)
    """Falls from the newest photo to the oldest and, within a photo, from the primary file on. Unique."""
    oldest_key: Mapped[int] = mapped_column(BigInteger)
    """Rises from the oldest photo to the newest and, within a photo, from the primary file on. Unique."""
    listed: Mapped[bool] = mapped_column()
    """Not missing, broken, hidden, archived or a sidecar: what a search shows unasked."""
    is_primary: Mapped[bool] = mapped_column()
    # photo
    photo_uid: Mapped[str] = mapped_column(Text, index=True)
    photo_type: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(SortText)
    name: Mapped[str] = mapped_column(SortText)
    original_name: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    title_key: Mapped[str] = mapped_column(SortText)
    """The title with case and accents folded."""
    description: Mapped[str] = mapped_column(Text)
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
    camera_text: Mapped[str] = mapped_column(Text)
    lens_id: Mapped[int] = mapped_column(RowId)
    lens_text: Mapped[str] = mapped_column(Text)
    lat: Mapped[float | None] = mapped_column()
    lng: Mapped[float | None] = mapped_column()
    altitude: Mapped[int] = mapped_column(Integer)
    cell_id: Mapped[str] = mapped_column(SortText)
    country: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    city: Mapped[str] = mapped_column(Text)
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
    file_name: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(Text, index=True)
    file_type: Mapped[str] = mapped_column(Text)
    media_type: Mapped[str] = mapped_column(Text)
    codec: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger)
    width: Mapped[int] = mapped_column(Integer)
    height: Mapped[int] = mapped_column(Integer)
    portrait: Mapped[bool] = mapped_column()
    aspect_ratio: Mapped[float] = mapped_column()
    file_color: Mapped[int] = mapped_column(SmallInteger)
    chroma: Mapped[int] = mapped_column(SmallInteger)
    diff: Mapped[int] = mapped_column(Integer)
    has_error: Mapped[bool] = mapped_column()
    instance_id: Mapped[str] = mapped_column(Text)
    document_id: Mapped[str] = mapped_column(Text)


def _listed_index(name: str, *columns: str) -> Index:
    """An index over what searches show unasked."""
    return Index(
        f"ix_{SearchRow.__tablename__}_{name}",
        *(getattr(SearchRow, column) for column in columns),
        sqlite_where=text("listed = 1"),
        postgresql_where=text("listed"),
    )


# One for each order, each ending in a unique key.
_listed_index("added", "newest_key")
_listed_index("taken", "taken_at", "newest_key")
_listed_index("oldest", "taken_at", "oldest_key")
_listed_index("updated", "updated_at", "newest_key")
_listed_index("edited", "edited_at", "newest_key")
_listed_index("relevance", "quality", "taken_at", "newest_key")
_listed_index("duration", "duration", "newest_key")
_listed_index("size", "size", "newest_key")
_listed_index("similar", "color", "cell_id", "photo_diff", "oldest_key")
_listed_index("name", "path", "name", "oldest_key")
_listed_index("title", "title_key", "name", "oldest_key")


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
