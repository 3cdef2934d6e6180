"""Photos that look alike, as they were found last, and those that people said are not the same."""

from sqlalchemy import BigInteger, ForeignKey, Integer, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId


class LookAlike(Base):
    """A photo in a group of look-alikes."""

    __tablename__ = TABLE_PREFIX + "look_alikes"

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """Of the group."""
    place: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """In the group: 0 for the best."""
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), index=True)
    distance: Mapped[int] = mapped_column(SmallInteger)
    """Bits of 64 in which it looks otherwise than the best."""


class DistinctPhoto(Base):
    """A photo in a set of which a person said that no two of its photos are the same."""

    __tablename__ = TABLE_PREFIX + "distinct_photos"

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Of the set, drawn at random."""
    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, index=True
    )
