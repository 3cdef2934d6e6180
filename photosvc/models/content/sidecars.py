"""Sidecars: files beside pictures that say more about them."""

from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, SmallInteger, Table, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime
from photosvc.models.content.library import Album
from photosvc.models.content.photo import ORIGINALS_ROOT, File

#: The size of a sidecar that is gone.
GONE: Final = -1


class Sidecar(Base):
    """A sidecar that could be read, whether or not the files that it belongs to exist."""

    __tablename__ = TABLE_PREFIX + "sidecars"
    __table_args__ = (UniqueConstraint("root", "name"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    root: Mapped[str] = mapped_column(Text, default=ORIGINALS_ROOT)
    name: Mapped[str] = mapped_column(Text)
    """Path relative to the root, as that of a `File`."""
    folder: Mapped[str] = mapped_column(Text, index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes; `GONE` when the file is gone and the row stays for its album."""
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(Text)
    """Value of an `index.sidecars.read.Kind`."""
    details: Mapped[str] = mapped_column(Text)
    """Its metadata as one JSON record; see `index.describing.file_columns`."""
    album_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(Album.id, ondelete="SET NULL"), index=True)
    """The album that was made from it."""
    reader_version: Mapped[int] = mapped_column(SmallInteger)
    """Version of the reader that read it; see `index.extract.READER_VERSION`."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


#: Which files a sidecar belongs to.
file_sidecars = Table(
    TABLE_PREFIX + "file_sidecars",
    Base.metadata,
    Column("file_id", RowId, ForeignKey(File.id, ondelete="CASCADE"), primary_key=True),
    Column("sidecar_id", RowId, ForeignKey(Sidecar.id, ondelete="CASCADE"), primary_key=True, index=True),
)
