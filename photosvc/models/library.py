"""The tables around photos: cameras, lenses, places, keywords, albums, people, the journal of changes, look-alikes.

Names of people come from files, so names that users chose and favourites are stored apart. Look-alikes are those of the
last search for them.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    false,
    select,
)
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from photosvc.core.ids import LABEL, SUBJECT, computed_uid
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime
from photosvc.models.statements import insert_into

#: The id of the unknown camera and of the unknown lens.
UNKNOWN_ID = 1
#: The id of the unknown place, cell and country.
UNKNOWN_PLACE = "zz"
#: Name of the number of committed changes of the library.
CHANGES = "changes"
#: Name of a random number that is drawn with each change: cached values stay valid as long as it is unchanged. A
#: counter would reach the same numbers by other changes after a backup was restored.
STATE = "state"
#: Name of the projection version by which the search rows were written.
PROJECTION = "projection"
#: Name of the number that stands for the rules by which files were stacked; see `index.restack`.
STACKING = "stacking"
#: Name of a number: 1 if places are estimated, 0 if not; see `index.estimates`.
ESTIMATES = "estimates"
#: Most values in one statement.
_MOST_NAMES: Final = 500


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
    """The keyword without case and accents: keywords with the same folded form are one."""
    favorite: Mapped[bool] = mapped_column(default=False, server_default=false())

    @property
    def uid(self) -> str:
        """Return the UID, which follows from the folded text."""
        return computed_uid(LABEL, self.folded)


photo_keywords = Table(
    TABLE_PREFIX + "photo_keywords",
    Base.metadata,
    Column("photo_id", RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True),
    Column("keyword_id", RowId, ForeignKey(Keyword.id, ondelete="CASCADE"), primary_key=True, index=True),
)


class Album(Base):
    """A list of photos. An album with a `filter` is a smart album: it contains the photos that the query finds."""

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
    """A photo in an album; `hidden` removes it from a smart album, or from a large album that is deleted in steps."""

    __tablename__ = TABLE_PREFIX + "album_photos"
    __table_args__ = (Index(f"ix_{TABLE_PREFIX}album_photos_position", "album_id", "position", "photo_id"),)

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    position: Mapped[int] = mapped_column(Integer().with_variant(BigInteger, "postgresql"), default=0)
    """The manual order. Positions may be equal, negative and have gaps; photos with equal ones are sorted by id."""
    hidden: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


#: The named number of the last backup, in seconds since 1970.
BACKED_UP: Final = "backed_up_at"


class LibraryState(Base):
    """A named number of the library."""

    __tablename__ = TABLE_PREFIX + "library"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[int] = mapped_column(BigInteger, default=0)


def named_number(session: Session | Connection, name: str) -> int | None:
    """Return a named number of the library; None before it is first set."""
    number: int | None = session.scalar(select(LibraryState.value).where(LibraryState.name == name))
    return number


def set_named_numbers(session: Session, numbers: Mapping[str, int]) -> None:
    """Set named numbers of the library, in the session's write transaction."""
    row = insert_into(LibraryState, session)
    row = row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value})
    session.connection().execute(row, [{"name": name, "value": value} for name, value in numbers.items()])


class Disk(Base):
    """A folder below the originals on which a disk was mounted in an index run."""

    __tablename__ = TABLE_PREFIX + "disks"

    folder: Mapped[str] = mapped_column(Text, primary_key=True)
    """Path relative to the originals."""


class Subject(Base):
    """A person with a chosen name, a favourite, or a hidden one; the names of others are in the markers alone."""

    __tablename__ = TABLE_PREFIX + "subjects"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """The name without case and accents."""
    favorite: Mapped[bool] = mapped_column(default=False, server_default=false())
    hidden: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if they are left out of lists, facets and suggestions."""
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class SubjectName(Base):
    """A name in files and the person whom it means."""

    __tablename__ = TABLE_PREFIX + "subject_names"

    folded: Mapped[str] = mapped_column(Text, primary_key=True)
    subject_id: Mapped[int] = mapped_column(RowId, ForeignKey(Subject.id, ondelete="CASCADE"), index=True)


def subject_uid(folded: str) -> str:
    """Return the UID of a person with this folded name who was never renamed."""
    return computed_uid(SUBJECT, folded)


def renamed_uids(session: Session, names: Collection[str]) -> dict[str, str]:
    """Return the UIDs of people who were renamed and have one of these names, by name."""
    if not names:
        return {}
    query = select(Subject.name, Subject.uid)
    if len(names) <= _MOST_NAMES:
        query = query.where(Subject.name.in_(names))
    return {name: uid for name, uid in session.execute(query) if name in names}


class PhotoChange(Base):
    """One change of one photo by a person or a client."""

    __tablename__ = TABLE_PREFIX + "photo_changes"
    __table_args__ = (Index("ix_photosvc_photo_changes_actor", "actor_uid", "id"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    photo_uid: Mapped[str] = mapped_column(Text, server_default="", index=True)
    """UID instead of a foreign key: the changes of a deleted photo stay, the last of which is the deletion."""
    action: Mapped[str] = mapped_column(Text)
    """The action of the policy, such as `photos.update`."""
    undoes: Mapped[int | None] = mapped_column(Integer)
    """The id of the change that this one undoes."""
    actor_uid: Mapped[str] = mapped_column(Text)
    """UID of the user, else of the client, else of the credential."""
    actor_name: Mapped[str] = mapped_column(Text)
    before: Mapped[str] = mapped_column(Text)
    """The columns that changed, with their former values, as a JSON object; see `library.journal`."""
    after: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class JournalSize(Base):
    """The bytes of the values in the changes of one actor."""

    __tablename__ = TABLE_PREFIX + "journal_sizes"

    actor_uid: Mapped[str] = mapped_column(Text, primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)


class LookAlike(Base):
    """A photo in a group of look-alikes."""

    __tablename__ = TABLE_PREFIX + "look_alikes"

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """The number of the group."""
    place: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """The rank in the group: 0 for the best photo."""
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), index=True)
    distance: Mapped[int] = mapped_column(SmallInteger)
    """Hamming distance of the 64-bit perceptual hashes of this photo and the best one."""


class DistinctPhoto(Base):
    """A photo in a set whose photos are all different according to a person."""

    __tablename__ = TABLE_PREFIX + "distinct_photos"

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """The random number of the set."""
    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, index=True
    )
