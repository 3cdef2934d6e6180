"""People that were renamed: names come from files, so what a person chose instead is stored apart from them."""

from datetime import datetime

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class Subject(Base):
    """A person with a chosen name. Others have no row: their names are those of the markers."""

    __tablename__ = TABLE_PREFIX + "subjects"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """The name without case and accents."""
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class SubjectName(Base):
    """A name in files and the person that it stands for."""

    __tablename__ = TABLE_PREFIX + "subject_names"

    folded: Mapped[str] = mapped_column(Text, primary_key=True)
    subject_id: Mapped[int] = mapped_column(RowId, ForeignKey(Subject.id, ondelete="CASCADE"), index=True)
