"""Places and the S2 cells that lie in them."""

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.models.base import TABLE_PREFIX, Base

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
