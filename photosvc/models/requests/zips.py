"""Selections of files that wait to be downloaded as one archive."""

from datetime import datetime

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.access.accounts import Credential
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class ZipSelection(Base):
    """The files of an archive, selected by one request and downloaded by another with the same credential."""

    __tablename__ = TABLE_PREFIX + "zip_selections"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    """Random; the last part of the archive's address."""
    credential_id: Mapped[int] = mapped_column(RowId, ForeignKey(Credential.id, ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(Text)
    """The name of the archive without its extension."""
    file_ids: Mapped[str] = mapped_column(Text)
    """A JSON array in the order of the archive."""
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
