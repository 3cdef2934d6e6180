"""The tables of imports from other programs: the runs, and what came from where."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, Numbered, RowId, Text, UTCDateTime


class ImportRun(Numbered, table="import_runs"):
    """A run of `exchange.library_import` that changed something."""

    __table_args__ = ({"sqlite_autoincrement": True},)

    source: Mapped[str] = mapped_column(Text)
    """Name of the other program."""
    batch: Mapped[int] = mapped_column(BigInteger)
    """The number that its entries in the journal have."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    undone_at: Mapped[datetime | None] = mapped_column(UTCDateTime)


class Imported(Base, table="imported"):
    """A photo, album, person or label that a run changed; an undone one leaves no row."""

    run_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "import_runs.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    """Its UID in the other program."""
    uid: Mapped[str] = mapped_column(Text)
    """Its UID here."""
    made: Mapped[int] = mapped_column(Integer, default=0)
    """1 for an album that the run made."""
    members: Mapped[list[str]] = mapped_column(JSON, default=list)
    """What the run added: to an album the UIDs of photos; to a photo keywords and people without case and accents, as
    `keyword berg`; to a person or label marks with their former values, as `birth_date 1950-01-02 1951-01-02`."""
    album_updated_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    """`Album.updated_at` after the last import or undo; another value means that a person changed the album since."""
