"""User accounts and their recovery codes."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import NEVER_REUSE_IDS, TABLE_PREFIX, Base, RowId, UTCDateTime


class User(Base):
    """A person with an account."""

    __tablename__ = TABLE_PREFIX + "users"
    __table_args__ = NEVER_REUSE_IDS

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    """The name to log in with, in lower case."""
    display_name: Mapped[str] = mapped_column(Text, default="")
    email: Mapped[str] = mapped_column(Text, default="")
    role: Mapped[str] = mapped_column(Text)
    """`admin`, `user` or `viewer`."""
    password_hash: Mapped[str] = mapped_column(Text, default="")
    """argon2id; empty: cannot log in by password."""
    password_version: Mapped[int] = mapped_column(default=1)
    """Incremented by each password change, which revokes the preview tokens bound to it."""
    disabled: Mapped[bool] = mapped_column(default=False)
    totp_secret: Mapped[str] = mapped_column(Text, default="")
    """Encrypted with the service key; empty: none."""
    totp_confirmed: Mapped[bool] = mapped_column(default=False)
    totp_last_step: Mapped[int] = mapped_column(BigInteger, default=0)
    """The 30-second step of the last accepted code: no code is accepted twice."""
    login_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class RecoveryCode(Base):
    """A single-use code that replaces the second factor; only its digest is stored."""

    __tablename__ = TABLE_PREFIX + "recovery_codes"
    __table_args__ = (UniqueConstraint("user_id", "digest"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    user_id: Mapped[int] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"))
    digest: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
