"""Keywords, shared between photos."""

from sqlalchemy import Column, ForeignKey, Table, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId


class Keyword(Base):
    """A keyword in the spelling that came first."""

    __tablename__ = TABLE_PREFIX + "keywords"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    word: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text, unique=True)
    """Without case and accents: keywords that are equal in this are one."""


photo_keywords = Table(
    TABLE_PREFIX + "photo_keywords",
    Base.metadata,
    Column("photo_id", RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True),
    Column("keyword_id", RowId, ForeignKey(Keyword.id, ondelete="CASCADE"), primary_key=True, index=True),
)
