"""The tables around photos: cameras, lenses, places, keywords, albums, people, the journal of changes.

Names of people come from files; their chosen names and marks are in tables of their own.
"""

from collections.abc import Collection
from datetime import date, datetime
from typing import Final

from sqlalchemy import BigInteger, Date, ForeignKey, Integer, UniqueConstraint, false, select
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from photosvc.core.ids import LABEL, SUBJECT, computed_uid
from photosvc.models.base import Base, Numbered, RowId, Text, UTCDateTime

#: The id of the unknown camera and of the unknown lens.
UNKNOWN_ID = 1
#: Most values in one statement.
_MOST_NAMES: Final = 500


class Camera(Numbered, table="cameras"):
    """A camera model."""

    __table_args__ = (UniqueConstraint("make", "model"),)

    make: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(Text, default="")
    type: Mapped[str] = mapped_column(Text, default="")
    """For example `body`, `compact`, `phone` or `action`; empty when unknown."""
    changes: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    """The number of changes of its photos since places were last estimated; see `index.place_estimates`."""


class Lens(Numbered, table="lenses"):
    """A lens model."""

    __table_args__ = (UniqueConstraint("make", "model"),)

    make: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(Text, default="")


class Place(Base, table="places"):
    """A town or region."""

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    """`<country>:<12 characters>`, or `zz`."""
    label: Mapped[str] = mapped_column(Text)
    city: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    country: Mapped[str] = mapped_column(Text)
    """ISO 3166 code of two lower-case letters, or `zz`."""


class Cell(Base, table="cells"):
    """An S2 cell of level 21, about 5 m wide."""

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    """`s2:<token>`, or `zz`."""
    place_id: Mapped[str] = mapped_column(Text, ForeignKey(Place.id), index=True)
    place: Mapped[Place] = relationship()


class Keyword(Numbered, table="keywords"):
    """A keyword in the spelling that came first."""

    word: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """The keyword without case and accents: keywords with the same folded form are one."""
    favorite: Mapped[bool] = mapped_column(default=False, server_default=false())
    favorite_open: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True for a favorite that was made while a photo with it was not private: others must not notice it."""

    @property
    def uid(self) -> str:
        """Return the UID, which follows from the folded text."""
        return computed_uid(LABEL, self.folded)


class Album(Numbered, table="albums"):
    """A list of photos. An album with a `filter` is a smart album: it contains the photos that the query finds."""

    uid: Mapped[str] = mapped_column(Text, unique=True)
    owner_uid: Mapped[str] = mapped_column(Text, default="", server_default="", index=True)
    """The `owner_uid` of the principal that made it, among whose albums it counts; empty for commands and imports."""
    type: Mapped[str] = mapped_column(Text, default="album")
    title: Mapped[str] = mapped_column(Text, index=True)
    description: Mapped[str] = mapped_column(Text, default="")
    category: Mapped[str] = mapped_column(Text, default="", server_default="")
    location: Mapped[str] = mapped_column(Text, default="", server_default="")
    notes: Mapped[str] = mapped_column(Text, default="", server_default="")
    cover: Mapped[str] = mapped_column(Text, default="", server_default="")
    """UID of the photo that a person chose; empty for the latest one. It counts while the photo is in the album."""
    filter: Mapped[str] = mapped_column(Text, default="")
    order: Mapped[str] = mapped_column(Text, default="oldest")
    favorite: Mapped[bool] = mapped_column(default=False)
    private: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UTCDateTime)


class Disk(Base, table="disks"):
    """A folder below the originals on which a disk was mounted in an index run."""

    folder: Mapped[str] = mapped_column(Text, primary_key=True)
    """Path relative to the originals."""


class Subject(Numbered, table="subjects"):
    """A person with a chosen name or a mark; other people exist only as names of markers."""

    uid: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """The name without case and accents."""
    favorite: Mapped[bool] = mapped_column(default=False, server_default=false())
    favorite_open: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True for a favorite that was made while a photo of them was not private: others must not notice another."""
    hidden: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if they are left out of lists, facets and suggestions."""
    birth_date: Mapped[date | None] = mapped_column(Date)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class SubjectName(Base, table="subject_names"):
    """A name in files, and the person that it means."""

    folded: Mapped[str] = mapped_column(Text, primary_key=True)
    subject_id: Mapped[int] = mapped_column(RowId, ForeignKey(Subject.id, ondelete="CASCADE"), index=True)


def subject_uid(folded: str) -> str:
    """Return the UID of a person with this folded name that was never renamed."""
    return computed_uid(SUBJECT, folded)


def renamed_uids(session: Session, names: Collection[str]) -> dict[str, str]:
    """Return the UIDs of people who were renamed and have one of these names, by name."""
    if not names:
        return {}
    query = select(Subject.name, Subject.uid)
    if len(names) <= _MOST_NAMES:
        query = query.where(Subject.name.in_(names))
    return {name: uid for name, uid in session.execute(query) if name in names}


class PhotoChange(Numbered, table="photo_changes"):
    """One change of one photo by a person or a client."""

    photo_uid: Mapped[str] = mapped_column(Text, server_default="", index=True)
    """UID instead of a foreign key: the changes of a deleted photo stay, the last of which is the deletion."""
    action: Mapped[str] = mapped_column(Text)
    """The action of the policy, such as `photos.update`."""
    undoes: Mapped[int | None] = mapped_column(Integer)
    """The id of the change that this one undoes."""
    batch: Mapped[int] = mapped_column(BigInteger)
    """A number that all entries of a change of many photos have in common."""
    actor_uid: Mapped[str] = mapped_column(Text)
    """UID of the user, else of the client, else of the credential."""
    actor_name: Mapped[str] = mapped_column(Text)
    before: Mapped[str] = mapped_column(Text)
    """The columns that changed, with their former values, as a JSON object; see `library.journal`."""
    after: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
