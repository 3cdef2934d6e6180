"""The tables of accounts: users, registered OAuth2 clients, their credentials, and failed attempts."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.core.accounts import CLIENT, CLIENT_TOKEN_LIFETIME, CLIENT_TOKENS, OPAQUE
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
    recovery_key: Mapped[str] = mapped_column(Text, default="", server_default="")
    """The key of the digests of recovery codes that are older than the service key, encrypted with that."""
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


class Client(Base):
    """A client that may request access tokens (spec section 2.4)."""

    __tablename__ = TABLE_PREFIX + "clients"
    __table_args__ = NEVER_REUSE_IDS

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    """The `client_id` of RFC 6749."""
    secret_digest: Mapped[str] = mapped_column(Text)
    public_keys: Mapped[str] = mapped_column(Text, default="", server_default="")
    """A JWK set: the client signs assertions, and its secret is refused. Empty: it shows its secret."""
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


APP_PASSWORD = "app_password"  # noqa: S105 - a kind, not a secret
ACCESS_TOKEN = "access_token"  # noqa: S105 - a kind, not a secret
CLIENT_TOKEN = "client_token"  # noqa: S105 - issued to a registered client by the token endpoint
LOGIN_SESSION = "login_session"


class Credential(Base):
    """A credential with which a request proves who acts (spec sections 2.4 and 5.2)."""

    __tablename__ = TABLE_PREFIX + "credentials"
    __table_args__ = (
        # The login sessions of an account or app password, the oldest first.
        Index(f"ix_{TABLE_PREFIX}credentials_owner", "user_id", "kind", "parent_id", "id"),
        # Those that end without use.
        Index(
            f"ix_{TABLE_PREFIX}credentials_idle",
            "idle_seconds",
            "last_used_at",
            sqlite_where=text("idle_seconds IS NOT NULL"),
            postgresql_where=text("idle_seconds IS NOT NULL"),
        ),
        NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    """`sess` and eight characters: the id in lists, which `svc auth rm` takes."""
    kind: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(Text, unique=True)
    """SHA-256 of the secret."""
    name: Mapped[str] = mapped_column(Text, default="")
    scope: Mapped[str] = mapped_column(Text)
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"))
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
    method: Mapped[str] = mapped_column(Text, default="", server_default="")
    """How a login session was opened: `password`, `passcode`, `recovery_code` or `app_password`."""
    proved_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    """When the account's password was last sent with it; None: when it was created."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)

    user: Mapped[User | None] = relationship()
    client: Mapped[Client | None] = relationship()


class ThrottleBucket(Base):
    """The allowance of one address or account."""

    __tablename__ = TABLE_PREFIX + "throttle"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    full_at: Mapped[int] = mapped_column(BigInteger, index=True)
    """Milliseconds since 1970: the time at which the whole allowance is available again."""
