"""The security log."""

from datetime import datetime

from sqlalchemy import Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import NEVER_REUSE_IDS, TABLE_PREFIX, Base, RowId, UTCDateTime


class AuditEntry(Base):
    """One entry of the security log. It refers to nothing, so that it outlives what it tells about."""

    __tablename__ = TABLE_PREFIX + "audit"
    __table_args__ = (Index(None, "part", "id"), Index(None, "part", "actor_uid", "id"), NEVER_REUSE_IDS)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    part: Mapped[str] = mapped_column(Text)
    """Of the log; each has its own limit: see `auth.audit.events`."""
    event: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    times: Mapped[int] = mapped_column(default=1)
    """How often it happened since the entry before that is equal but for this."""
    actor_kind: Mapped[str] = mapped_column(Text, default="")
    """`user`, `client` or `command line`; empty when the actor is not known."""
    actor: Mapped[str] = mapped_column(Text, default="")
    """The name of the account or client that acts."""
    actor_uid: Mapped[str] = mapped_column(Text, default="")
    credential: Mapped[str] = mapped_column(Text, default="")
    """UID of the credential that it acts with; never the secret."""
    address: Mapped[str] = mapped_column(Text, default="")
    subject: Mapped[str] = mapped_column(Text, default="")
    """The name of the account or client that it happened to."""
    subject_uid: Mapped[str] = mapped_column(Text, default="")
    target: Mapped[str] = mapped_column(Text, default="")
    """UID of the credential, session or key that was made or ended."""
    detail: Mapped[str] = mapped_column(Text, default="")
    request_id: Mapped[str] = mapped_column(Text, default="")
