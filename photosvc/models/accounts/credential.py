"""Bearer credentials. App passwords, access tokens and login sessions have the same columns and different rules."""

from datetime import datetime

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.models.accounts.client import Client
from photosvc.models.accounts.user import User
from photosvc.models.base import NEVER_REUSE_IDS, TABLE_PREFIX, Base, RowId, UTCDateTime

APP_PASSWORD = "app_password"  # noqa: S105 - a kind, not a secret
ACCESS_TOKEN = "access_token"  # noqa: S105 - a kind, not a secret
CLIENT_TOKEN = "client_token"  # noqa: S105 - issued to a registered client by the token endpoint
LOGIN_SESSION = "login_session"


class Credential(Base):
    """A credential with which a request proves who acts (spec sections 2.4 and 5.2)."""

    __tablename__ = TABLE_PREFIX + "credentials"
    __table_args__ = NEVER_REUSE_IDS

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    """`sess` and eight characters: the id in lists, which `svc auth rm` takes."""
    kind: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(Text, unique=True)
    """SHA-256 of the secret."""
    name: Mapped[str] = mapped_column(Text, default="")
    scope: Mapped[str] = mapped_column(Text)
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"), index=True)
    client_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(Client.id, ondelete="CASCADE"), index=True)
    parent_id: Mapped[int | None] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "credentials.id", ondelete="CASCADE"), index=True
    )
    """The app password that a login session was created with: deleting it deletes the session."""
    expires_at: Mapped[datetime | None] = mapped_column(UTCDateTime, index=True)
    """None: never."""
    idle_seconds: Mapped[int | None] = mapped_column()
    """The credential expires after this time without use; None: no limit."""
    last_used_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    last_ip: Mapped[str] = mapped_column(Text, default="")
    user_agent: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)

    user: Mapped[User | None] = relationship()
    client: Mapped[Client | None] = relationship()
