"""Files that accounts send: those on their way, and what became of them."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.access.accounts import User
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class Upload(Base):
    """A file that is being received: its bytes are a part that the staging folder keeps."""

    __tablename__ = TABLE_PREFIX + "uploads"
    __table_args__ = (Index(None, "user_id", "bundle"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    token: Mapped[str] = mapped_column(Text, unique=True)
    """That of the part; also the last part of the address of a resumable upload."""
    user_id: Mapped[int] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"))
    bundle: Mapped[str] = mapped_column(Text, default="")
    """The token in the address of an upload of several files, which are added together; empty: added when complete."""
    name: Mapped[str] = mapped_column(Text)
    """As the client named it, without folders."""
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes when it is complete."""
    hash: Mapped[str] = mapped_column(Text, default="")
    """SHA-1 of all bytes; empty until it is complete."""
    described: Mapped[str] = mapped_column(Text, default="")
    """The header Upload-Metadata of a resumable upload."""
    finished: Mapped[bool] = mapped_column(default=False)
    """It left the staging folder; the row stays for clients that did not receive the last answer."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)


class UploadedFile(Base):
    """An original that an account uploaded or an import brought: claims its content, so that it is stored once."""

    __tablename__ = TABLE_PREFIX + "uploaded_files"
    __table_args__ = (Index(None, "user_id", "size"),)

    hash: Mapped[str] = mapped_column(Text, primary_key=True)
    """SHA-1 of the content; of a file that only counts in a quota, as one in the trash or a copy, its name."""
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="SET NULL"))
    name: Mapped[str] = mapped_column(Text)
    """Relative to the originals."""
    size: Mapped[int] = mapped_column(BigInteger)
    original_name: Mapped[str] = mapped_column(Text)
    """As the client named it."""
    albums: Mapped[str] = mapped_column(Text, default="", index=True)
    """UIDs of albums that its photo is to be added to once it is indexed, separated by blanks."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class ImportWish(Base):
    """A folder below the folder of imports that is to be imported."""

    __tablename__ = TABLE_PREFIX + "import_wishes"

    folder: Mapped[str] = mapped_column(Text, primary_key=True)
    """Relative to the folder of imports; empty for all of it."""
    moves: Mapped[bool] = mapped_column(default=False)
    """Whether imported files are removed from the folder of imports."""
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="SET NULL"))
    albums: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
