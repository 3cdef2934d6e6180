"""Cameras and lenses. Row 1 of each stands for an unknown one."""

from sqlalchemy import Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId

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
