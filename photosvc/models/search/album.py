"""The files of albums, in the orders in which albums are read.

A page of an album is read along one index, whatever the sizes of the library and of the album.
"""

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId
from photosvc.models.library.album import Album
from photosvc.models.search.row import SearchRow
from photosvc.models.search.sort_keys import SORT_KEYS


class SearchAlbum(Base):
    """One file in one album, with copies of the sort keys of its `SearchRow`."""

    __tablename__ = TABLE_PREFIX + "search_albums"

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(SearchRow.file_id, ondelete="CASCADE"), primary_key=True, index=True
    )
    taken_at: Mapped[int] = mapped_column(BigInteger)
    newest_key: Mapped[int] = mapped_column(BigInteger)
    oldest_key: Mapped[int] = mapped_column(BigInteger)


for _keys in SORT_KEYS.values():
    if _keys.by_album:
        _columns = ("album_id", *_keys.columns, "file_id")
        Index(f"ix_{SearchAlbum.__tablename__}_{_keys.index}", *(getattr(SearchAlbum, name) for name in _columns))
