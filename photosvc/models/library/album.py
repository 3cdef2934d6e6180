"""Albums and the photos in them."""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class Album(Base):
    """A list of photos. An album with a `filter` is a smart one: its photos are those that the query finds."""

    __tablename__ = TABLE_PREFIX + "albums"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    type: Mapped[str] = mapped_column(Text, default="album")
    title: Mapped[str] = mapped_column(Text, index=True)
    description: Mapped[str] = mapped_column(Text, default="")
    filter: Mapped[str] = mapped_column(Text, default="")
    order: Mapped[str] = mapped_column(Text, default="oldest")
    favorite: Mapped[bool] = mapped_column(default=False)
    private: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UTCDateTime)


class AlbumPhoto(Base):
    """A photo in an album; `hidden` removes it from a smart album."""

    __tablename__ = TABLE_PREFIX + "album_photos"

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    position: Mapped[int] = mapped_column(Integer, default=0)
    hidden: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
