"""Files of photos, and files that the index rejected."""

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, ForeignKey, Integer, SmallInteger, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.core.problems import Problem
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime
from photosvc.models.library.marker import Marker

if TYPE_CHECKING:
    from photosvc.models.library.photo import Photo

#: FileRoot of originals (spec 2.2).
ORIGINALS_ROOT = "/"


class File(Base):
    """One file below a root (spec section 2.3)."""

    __tablename__ = TABLE_PREFIX + "files"
    __table_args__ = (UniqueConstraint("root", "name"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(TABLE_PREFIX + "photos.id"), index=True)
    root: Mapped[str] = mapped_column(Text, default=ORIGINALS_ROOT)
    name: Mapped[str] = mapped_column(Text)
    """Path relative to the root, `/` between folders; see `core.paths` for names that are not UTF-8."""
    original_name: Mapped[str] = mapped_column(Text, default="")
    hash: Mapped[str] = mapped_column(Text, index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes."""
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    primary: Mapped[bool] = mapped_column(default=False)
    sidecar: Mapped[bool] = mapped_column(default=False)
    missing: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(Text, default="")
    """Code of the `core.problems.Reason` why it cannot be shown; empty when it can."""
    error_detail: Mapped[str] = mapped_column(Text, default="", server_default="")
    """Details of that problem, one a line."""
    codec: Mapped[str] = mapped_column(Text, default="")
    file_type: Mapped[str] = mapped_column(Text, default="")
    media_type: Mapped[str] = mapped_column(Text, default="")
    mime: Mapped[str] = mapped_column(Text, default="")
    width: Mapped[int] = mapped_column(Integer, default=0)
    height: Mapped[int] = mapped_column(Integer, default=0)
    orientation: Mapped[int] = mapped_column(SmallInteger, default=1)
    duration_ns: Mapped[int] = mapped_column(BigInteger, default=0)
    fps: Mapped[float] = mapped_column(default=0.0)
    frames: Mapped[int] = mapped_column(Integer, default=0)
    projection: Mapped[str] = mapped_column(Text, default="")
    color_profile: Mapped[str] = mapped_column(Text, default="")
    main_color: Mapped[int] = mapped_column(SmallInteger, default=-1)
    colors: Mapped[str] = mapped_column(Text, default="")
    luminance: Mapped[str] = mapped_column(Text, default="")
    diff: Mapped[int] = mapped_column(Integer, default=-1)
    chroma: Mapped[int] = mapped_column(SmallInteger, default=-1)
    instance_id: Mapped[str] = mapped_column(Text, default="", index=True)
    details: Mapped[str] = mapped_column(Text, default="{}")
    """The metadata of the file as one JSON record; see `index.file_columns`."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)

    photo: Mapped["Photo"] = relationship(back_populates="files")
    markers: Mapped[list[Marker]] = relationship(
        back_populates="file", order_by=Marker.id, cascade="all, delete-orphan"
    )

    @property
    def problem(self) -> Problem | None:
        """Why it cannot be shown: `error` with `error_detail`."""
        return Problem.from_columns(self.error, self.error_detail)

    @problem.setter
    def problem(self, problem: Problem | None) -> None:
        self.error, self.error_detail = (problem.reason.value, problem.detail) if problem else ("", "")

    @property
    def aspect_ratio(self) -> float:
        """Width by height, two decimals; 0 when unknown."""
        return round(self.width / self.height, 2) if self.height else 0.0

    @property
    def portrait(self) -> bool:
        """Whether it is taller than wide."""
        return self.height > self.width


class RejectedFile(Base):
    """A file that the index left out, with the reason, so that the next run does not open it again."""

    __tablename__ = TABLE_PREFIX + "rejected_files"
    __table_args__ = (UniqueConstraint("root", "name"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    root: Mapped[str] = mapped_column(Text, default=ORIGINALS_ROOT)
    name: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger)
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(Text)
    """Code of a `core.problems.Reason`."""
    detail: Mapped[str] = mapped_column(Text, default="", server_default="")
    """Details of that problem, one a line."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
