"""What photos refer to or are collected in: cameras, lenses, places, keywords, albums; and the state of the library."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.core.ids import LABEL, computed_uid
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime

#: The id of the unknown camera and of the unknown lens.
UNKNOWN_ID = 1


class Camera(Base):
    """A camera model."""

    __tablename__ = TABLE_PREFIX + "cameras"
    __table_args__ = (UniqueConstraint("make", "model"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    make: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(Text, default="")
    type: Mapped[str] = mapped_column(Text, default="")
    """For example `body`, `compact`, `phone` or `action`; empty when unknown."""


class Lens(Base):
    """A lens model."""

    __tablename__ = TABLE_PREFIX + "lenses"
    __table_args__ = (UniqueConstraint("make", "model"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    make: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(Text, default="")


#: The id of the unknown place, cell and country.
UNKNOWN_PLACE = "zz"


class Place(Base):
    """A town or region."""

    __tablename__ = TABLE_PREFIX + "places"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    """`<country>:<12 characters>`, or `zz`."""
    label: Mapped[str] = mapped_column(Text)
    city: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    country: Mapped[str] = mapped_column(Text)
    """ISO 3166 code of two lower-case letters, or `zz`."""


class Cell(Base):
    """An S2 cell of level 21, about 5 m wide."""

    __tablename__ = TABLE_PREFIX + "cells"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    """`s2:<token>`, or `zz`."""
    place_id: Mapped[str] = mapped_column(Text, ForeignKey(Place.id), index=True)
    place: Mapped[Place] = relationship()


class Keyword(Base):
    """A keyword in the spelling that came first."""

    __tablename__ = TABLE_PREFIX + "keywords"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    word: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """Without case and accents: keywords that are equal in this are one."""
    favorite: Mapped[bool] = mapped_column(default=False, server_default=false())

    @property
    def uid(self) -> str:
        """Its UID, which follows from the folded text."""
        return computed_uid(LABEL, self.folded)


photo_keywords = Table(
    TABLE_PREFIX + "photo_keywords",
    Base.metadata,
    Column("photo_id", RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True),
    Column("keyword_id", RowId, ForeignKey(Keyword.id, ondelete="CASCADE"), primary_key=True, index=True),
)


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
    """A photo in an album; `hidden` removes it from a smart album, and from a large one that is deleted in steps."""

    __tablename__ = TABLE_PREFIX + "album_photos"
    __table_args__ = (Index(f"ix_{TABLE_PREFIX}album_photos_position", "album_id", "position", "photo_id"),)

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    position: Mapped[int] = mapped_column(Integer().with_variant(BigInteger, "postgresql"), default=0)
    """The order by hand. Positions may be equal, negative and have gaps; photos with equal ones are sorted by id."""
    hidden: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


#: The number of committed changes of the library.
CHANGES = "changes"

#: A random number drawn with every change: cached values stay valid as long as it is unchanged. A counter would give
#: the same numbers for other changes after a backup was restored.
STATE = "state"

#: The projection version that the search rows were written with.
PROJECTION = "projection"

#: The rules of stacking that the photos were made by, as a number; see `index.stacking.restack`.
STACKING = "stacking"

#: Which index run may write the library, and until when; see `index.running.run_lock`.
INDEXER = "indexer"

#: Present when the index run that is going on is to stop; see `index.running.run_lock`.
CANCELLED = "cancelled"

#: Whether places are estimated (1) or not (0); see `index.estimates.fill`.
ESTIMATES = "estimates"


class LibraryState(Base):
    """A named number."""

    __tablename__ = TABLE_PREFIX + "library"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[int] = mapped_column(BigInteger, default=0)
