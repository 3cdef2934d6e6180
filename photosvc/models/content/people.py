"""People that were renamed or are favourites: names come from files, so what people chose is stored apart."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import ForeignKey, Text, false, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from photosvc.core.ids import SUBJECT, computed_uid
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime

#: Values in one statement.
_MOST_NAMES: Final = 500


class Subject(Base):
    """A person with a chosen name, or a favourite. Others have no row: their names are those of the markers."""

    __tablename__ = TABLE_PREFIX + "subjects"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """The name without case and accents."""
    favorite: Mapped[bool] = mapped_column(default=False, server_default=false())
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class SubjectName(Base):
    """A name in files and the person that it stands for."""

    __tablename__ = TABLE_PREFIX + "subject_names"

    folded: Mapped[str] = mapped_column(Text, primary_key=True)
    subject_id: Mapped[int] = mapped_column(RowId, ForeignKey(Subject.id, ondelete="CASCADE"), index=True)


def subject_uid(folded: str) -> str:
    """The UID of a person with this folded name who was never renamed."""
    return computed_uid(SUBJECT, folded)


def renamed_uids(session: Session, names: Collection[str]) -> dict[str, str]:
    """The UIDs of people who were renamed, by those of these names that they have."""
    if not names:
        return {}
    query = select(Subject.name, Subject.uid)
    if len(names) <= _MOST_NAMES:
        query = query.where(Subject.name.in_(names))
    return {name: uid for name, uid in session.execute(query) if name in names}
