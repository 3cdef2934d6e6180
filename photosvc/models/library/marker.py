"""Markers: named areas of a picture, for example faces."""

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime

if TYPE_CHECKING:
    from photosvc.models.library.file import File


class Marker(Base):
    """A box on a file, in fractions of the width and height of the upright picture, from the top left."""

    __tablename__ = TABLE_PREFIX + "markers"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    file_id: Mapped[int] = mapped_column(RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), index=True)
    type: Mapped[str] = mapped_column(Text, default="")
    """`face` or empty."""
    src: Mapped[str] = mapped_column(Text, default="meta")
    name: Mapped[str] = mapped_column(Text, default="", index=True)
    x: Mapped[float] = mapped_column(default=0.0)
    y: Mapped[float] = mapped_column(default=0.0)
    w: Mapped[float] = mapped_column(default=0.0)
    h: Mapped[float] = mapped_column(default=0.0)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)

    file: Mapped["File"] = relationship(back_populates="markers")
