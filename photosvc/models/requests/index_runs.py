"""What index runs did."""

from datetime import datetime

from sqlalchemy import Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class IndexRun(Base):
    """An index run that found files to read, or ended."""

    __tablename__ = TABLE_PREFIX + "index_runs"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    folder: Mapped[str] = mapped_column(Text)
    """Relative to the originals, in the form of `core.paths.clean_name`; empty for all originals."""
    force: Mapped[bool] = mapped_column(default=False)
    """Whether unchanged files were read again."""
    state: Mapped[str] = mapped_column(Text)
    """Value of an `index.reports.State`."""
    message: Mapped[str] = mapped_column(Text, default="")
    """Why it failed, or what it warns of."""
    to_read: Mapped[int] = mapped_column(Integer, default=0)
    """Files that it found to be new or changed."""
    read: Mapped[int] = mapped_column(Integer, default=0)
    """Those of them that it has read so far."""
    indexed: Mapped[int] = mapped_column(Integer, default=0)
    updated: Mapped[int] = mapped_column(Integer, default=0)
    unchanged: Mapped[int] = mapped_column(Integer, default=0)
    missing: Mapped[int] = mapped_column(Integer, default=0)
    skipped: Mapped[int] = mapped_column(Integer, default=0)
    failed: Mapped[int] = mapped_column(Integer, default=0)
    started_at: Mapped[datetime] = mapped_column(UTCDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
