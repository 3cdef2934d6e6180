"""What became of imports that requests asked for, and which files failed."""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class ImportReport(Base):
    """An import that an indexer began."""

    __tablename__ = TABLE_PREFIX + "import_reports"
    __table_args__ = (UniqueConstraint("folder", "wished_at"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    folder: Mapped[str] = mapped_column(Text)
    """Relative to the folder of imports; empty for all of it."""
    moves: Mapped[bool] = mapped_column(default=False)
    """Whether imported files are removed from the folder of imports."""
    state: Mapped[str] = mapped_column(Text)
    """Value of a `library.imports.reports.State`."""
    message: Mapped[str] = mapped_column(Text, default="")
    """Why it failed."""
    imported: Mapped[int] = mapped_column(Integer, default=0)
    duplicate: Mapped[int] = mapped_column(Integer, default=0)
    skipped: Mapped[int] = mapped_column(Integer, default=0)
    failed: Mapped[int] = mapped_column(Integer, default=0)
    wished_at: Mapped[datetime] = mapped_column(UTCDateTime)
    started_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    ended_at: Mapped[datetime | None] = mapped_column(UTCDateTime)


class ImportFailure(Base):
    """A file that could not be imported."""

    __tablename__ = TABLE_PREFIX + "import_failures"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    report_id: Mapped[int] = mapped_column(RowId, ForeignKey(ImportReport.id, ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(Text)
    """Relative to the folder of imports."""
    reason: Mapped[str] = mapped_column(Text)
    """Code of a `core.problems.Reason`."""
    detail: Mapped[str] = mapped_column(Text, default="")
    """Details of that problem, one a line."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
