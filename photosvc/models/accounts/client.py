"""Registered OAuth2 clients."""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.core.accounts import CLIENT, CLIENT_TOKEN_LIFETIME, CLIENT_TOKENS, OPAQUE
from photosvc.models.accounts.user import User
from photosvc.models.base import NEVER_REUSE_IDS, TABLE_PREFIX, Base, RowId, UTCDateTime


class Client(Base):
    """A client that may request access tokens (spec section 2.4)."""

    __tablename__ = TABLE_PREFIX + "clients"
    __table_args__ = NEVER_REUSE_IDS

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    """The `client_id` of RFC 6749."""
    secret_digest: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(Text, default=CLIENT)
    scope: Mapped[str] = mapped_column(Text)
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="SET NULL"), index=True)
    token_lifetime: Mapped[int] = mapped_column(Integer, default=CLIENT_TOKEN_LIFETIME)
    """Seconds."""
    token_limit: Mapped[int] = mapped_column(Integer, default=CLIENT_TOKENS)
    """Most live tokens at a time; -1: no limit."""
    token_format: Mapped[str] = mapped_column(Text, default=OPAQUE)
    """`opaque` or `jwt`."""
    enabled: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)

    user: Mapped[User | None] = relationship()
