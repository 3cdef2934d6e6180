"""What WebDAV clients store beside the files: locks and dead properties (RFC 4918 sections 4 and 6)."""

from datetime import datetime

from sqlalchemy import Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, UTCDateTime
from photosvc.models.search.row import SortText


class DavLock(Base):
    """A write lock on a file or folder."""

    __tablename__ = TABLE_PREFIX + "dav_locks"

    token: Mapped[str] = mapped_column(Text, primary_key=True)
    """Random; requests that write name it in the header `If`."""
    root: Mapped[str] = mapped_column(SortText, index=True)
    """The locked resource: its quoted path below the server, without a slash at the end."""
    user_uid: Mapped[str] = mapped_column(Text, index=True)
    exclusive: Mapped[bool]
    deep: Mapped[bool]
    """Whether the lock covers everything below its root (`Depth: infinity`)."""
    owner: Mapped[str] = mapped_column(Text, default="")
    """The client's description of itself: the XML element `owner`, or empty."""
    seconds: Mapped[int]
    """How long it was granted for."""
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)


class DavProperty(Base):
    """A dead property: what a client stores about a file or folder and the server does not interpret."""

    __tablename__ = TABLE_PREFIX + "dav_properties"
    __table_args__ = (Index(None, "user_uid", "size"),)

    path: Mapped[str] = mapped_column(SortText, primary_key=True)
    """The resource, in the form of `DavLock.root`."""
    name: Mapped[str] = mapped_column(SortText, primary_key=True)
    """In Clark notation: `{namespace}name`."""
    value: Mapped[str] = mapped_column(Text)
    """The whole XML element in ASCII, with its namespaces declared."""
    size: Mapped[int] = mapped_column(Integer)
    """Characters of name and value."""
    user_uid: Mapped[str] = mapped_column(Text)
    """Who wrote it; limits count by user."""
