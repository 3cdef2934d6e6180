"""The files of albums in the orders albums are read in: derived data, made by `search.projection.project`.

A page of an album is then a walk along one index, however large the library and the album are.
"""

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.album import Album
from photosvc.models.base import TABLE_PREFIX, Base, RowId
from photosvc.models.search_row import SearchRow


class SearchAlbum(Base):
    """One file in one album, with the sort keys of its `SearchRow`."""

    __tablename__ = TABLE_PREFIX + "search_albums"

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(SearchRow.file_id, ondelete="CASCADE"), primary_key=True, index=True
    )
    taken_at: Mapped[int] = mapped_column(BigInteger)
    newest_key: Mapped[int] = mapped_column(BigInteger)
    oldest_key: Mapped[int] = mapped_column(BigInteger)


Index(f"ix_{SearchAlbum.__tablename__}_added", SearchAlbum.album_id, SearchAlbum.newest_key, SearchAlbum.file_id)
Index(
    f"ix_{SearchAlbum.__tablename__}_taken",
    SearchAlbum.album_id,
    SearchAlbum.taken_at,
    SearchAlbum.newest_key,
    SearchAlbum.file_id,
)
Index(
    f"ix_{SearchAlbum.__tablename__}_oldest",
    SearchAlbum.album_id,
    SearchAlbum.taken_at,
    SearchAlbum.oldest_key,
    SearchAlbum.file_id,
)
