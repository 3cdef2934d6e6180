"""The tables of sets of photos: albums, groups of look-alikes of the last search for them, and photos that differ."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime
from photosvc.models.library import Album
from photosvc.models.photo import Photo


class AlbumPhoto(Base, table="album_photos"):
    """A photo in an album; `hidden` removes it from a smart album, or from a large album that is deleted in steps."""

    __table_args__ = (Index(f"ix_{TABLE_PREFIX}album_photos_position", "album_id", "position", "photo_id"),)

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(Photo.id, ondelete="CASCADE"), primary_key=True, index=True)
    position: Mapped[int] = mapped_column(Integer().with_variant(BigInteger, "postgresql"), default=0)
    """The manual order. Positions may be equal, negative and have gaps; photos with equal ones are sorted by id."""
    hidden: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class LookAlike(Base, table="look_alikes"):
    """A photo in a group of look-alikes."""

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """The number of the group."""
    place: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """The rank in the group: 0 for the best photo."""
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(Photo.id, ondelete="CASCADE"), index=True)
    distance: Mapped[int] = mapped_column(SmallInteger)
    """Hamming distance of the 64-bit perceptual hashes of this photo and the best one."""


class DistinctPhoto(Base, table="distinct_photos"):
    """A photo in a set whose photos are all different according to a person."""

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """The random number of the set."""
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(Photo.id, ondelete="CASCADE"), primary_key=True, index=True)
