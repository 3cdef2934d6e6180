"""Folders that wait to be indexed."""

from datetime import datetime

from sqlalchemy import BigInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, UTCDateTime


class IndexWish(Base):
    """A folder that any process asked the indexer to look at; deleted when an index run has done so."""

    __tablename__ = TABLE_PREFIX + "index_wishes"

    folder: Mapped[str] = mapped_column(Text, primary_key=True)
    """Relative to the originals, in the form of `core.paths.clean_name`; empty for all originals."""
    force: Mapped[bool] = mapped_column(default=False)
    """Whether to read unchanged files again."""
    number: Mapped[int] = mapped_column(BigInteger)
    """Drawn at random for each wish: a wish that arrives while its folder is being indexed changes it."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
