"""The tables of accounts: users, OAuth2 clients, links, shares, credentials, throttling, security log, signing keys."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.core.accounts import CLIENT, CLIENT_TOKEN_LIFETIME, CLIENT_TOKENS, OPAQUE
from photosvc.models.base import NEVER_REUSE_IDS, TABLE_PREFIX, Base, Numbered, RowId, Text, UTCDateTime

APP_PASSWORD = "app_password"  # noqa: S105 - a kind, not a secret
ACCESS_TOKEN = "access_token"  # noqa: S105 - a kind, not a secret
CLIENT_TOKEN = "client_token"  # noqa: S105 - issued to a registered client by the token endpoint
LOGIN_SESSION = "login_session"
#: The session of a visitor who opened a public link.
VISIT = "visit"


class User(Numbered, table="users"):
    """A person with an account."""

    __table_args__ = NEVER_REUSE_IDS

    uid: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    """The name to log in with, in lower case."""
    display_name: Mapped[str] = mapped_column(Text, default="")
    email: Mapped[str] = mapped_column(Text, default="")
    role: Mapped[str] = mapped_column(Text)
    """`admin`, `user`, `viewer` or `guest`."""
    password_hash: Mapped[str] = mapped_column(Text, default="")
    """An argon2id hash; empty if the user cannot log in by password."""
    password_version: Mapped[int] = mapped_column(default=1)
    """Incremented by each password change, which revokes the preview tokens bound to it."""
    disabled: Mapped[bool] = mapped_column(default=False)
    totp_secret: Mapped[str] = mapped_column(Text, default="")
    """Encrypted with the service key; empty for none."""
    totp_confirmed: Mapped[bool] = mapped_column(default=False)
    totp_last_step: Mapped[int] = mapped_column(BigInteger, default=0)
    """The 30-second step of the last accepted code, so that no code is accepted twice."""
    login_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class RecoveryCode(Numbered, table="recovery_codes"):
    """A single-use code that replaces the second factor; only its digest is stored."""

    __table_args__ = (UniqueConstraint("user_id", "digest"),)

    user_id: Mapped[int] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"))
    digest: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class Client(Numbered, table="clients"):
    """A registered OAuth2 client, which may request access tokens."""

    __table_args__ = NEVER_REUSE_IDS

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
    """Most live tokens at a time; -1 for no limit."""
    token_format: Mapped[str] = mapped_column(Text, default=OPAQUE)
    """`opaque` or `jwt`."""
    enabled: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)

    user: Mapped[User | None] = relationship()


class Link(Numbered, table="links"):
    """A public link to an album, for people without an account; only the digest of its token is stored."""

    __table_args__ = NEVER_REUSE_IDS

    uid: Mapped[str] = mapped_column(Text, unique=True)
    digest: Mapped[str] = mapped_column(Text, unique=True)
    """SHA-256 of the token."""
    slug: Mapped[str] = mapped_column(Text)
    """The readable end of its address."""
    album_uid: Mapped[str] = mapped_column(Text, index=True)
    """Not a foreign key: while the album is deleted, the link opens nothing."""
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"), index=True)
    """The account that made it, itself or by a client, if any: the link ends with the account.

    The link opens nothing while the account is disabled or has a role that makes no links.
    """
    created_by: Mapped[str] = mapped_column(Text, default="")
    """The UID of the account or client that made it; empty for the command line."""
    comment: Mapped[str] = mapped_column(Text, default="")
    password_hash: Mapped[str] = mapped_column(Text, default="")
    """An argon2id hash; empty if the link has no password."""
    expires_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    """None for never."""
    max_views: Mapped[int] = mapped_column(default=0)
    """The most visits; 0 for no limit."""
    views: Mapped[int] = mapped_column(default=0)
    last_view_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    downloads: Mapped[bool] = mapped_column(default=False)
    """True if visitors may download originals."""
    metadata_shown: Mapped[bool] = mapped_column(default=False)
    """True if visitors see places, cameras, people, texts and names of files."""
    uploads: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if visitors may add files to the album, in the quota of the account `user_id`."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


class AlbumShare(Numbered, table="album_shares"):
    """An album that is shared with an account."""

    __table_args__ = (UniqueConstraint("user_id", "album_uid"), NEVER_REUSE_IDS)

    user_id: Mapped[int] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"))
    """The account that sees it."""
    album_uid: Mapped[str] = mapped_column(Text, index=True)
    """Not a foreign key: while the album is deleted, the share opens nothing."""
    contributes: Mapped[bool] = mapped_column(default=False)
    """True if the account may add photos."""
    owner_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"), index=True)
    """The account that shared it, itself or by a client, if any; see `Link.user_id`."""
    created_by: Mapped[str] = mapped_column(Text, default="")
    """The UID of the account or client that shared it; empty for the command line."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)

    user: Mapped[User] = relationship(foreign_keys=user_id)


class Credential(Numbered, table="credentials"):
    """A credential that authenticates requests: an app password, a token, a login session or a visit by a link."""

    __table_args__ = (
        # For the login sessions of an account or app password, the oldest first.
        Index(f"ix_{TABLE_PREFIX}credentials_owner", "user_id", "kind", "parent_id", "id"),
        NEVER_REUSE_IDS,
    )

    uid: Mapped[str] = mapped_column(Text, unique=True)
    """`sess` and eight characters: the id in lists and for `svc auth rm`."""
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
    """The app password that opened a login session: deleting it deletes the session."""
    expires_at: Mapped[datetime | None] = mapped_column(UTCDateTime, index=True)
    """None for never."""
    idle_seconds: Mapped[int | None] = mapped_column()
    """Seconds without use after which the credential expires; None for no limit."""
    last_used_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    last_ip: Mapped[str] = mapped_column(Text, default="")
    user_agent: Mapped[str] = mapped_column(Text, default="")
    method: Mapped[str] = mapped_column(Text, default="", server_default="")
    """The method that opened a login session: `password`, `passcode`, `recovery_code` or `app_password`."""
    proved_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    """The time when the account's password was last sent with it; None for the time of its creation."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)

    user: Mapped[User | None] = relationship()
    client: Mapped[Client | None] = relationship()


class Visit(Base, table="visits"):
    """The public link by which a credential of the kind `visit` was opened."""

    credential_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(Credential.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    link_id: Mapped[int] = mapped_column(RowId, ForeignKey(Link.id, ondelete="CASCADE"), index=True)


class ThrottleBucket(Base, table="throttle"):
    """The allowance of one address or account."""

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    full_at: Mapped[int] = mapped_column(BigInteger, index=True)
    """The time at which the whole allowance is available again, in milliseconds since 1970."""


class AuditEntry(Numbered, table="audit"):
    """An entry of the security log, without foreign keys, so that it outlives the accounts and credentials it names."""

    __table_args__ = (Index(None, "part", "id"), Index(None, "part", "actor_uid", "id"), NEVER_REUSE_IDS)

    part: Mapped[str] = mapped_column(Text)
    """The part of the log; each part has its own limit, see `auth.audit_log`."""
    event: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    times: Mapped[int] = mapped_column(default=1)
    """The number of equal events since the last entry of them."""
    actor_kind: Mapped[str] = mapped_column(Text, default="")
    """`user`, `client`, `visitor` or `command line`; empty if the actor is unknown."""
    actor: Mapped[str] = mapped_column(Text, default="")
    """The name of the account or client that acted."""
    actor_uid: Mapped[str] = mapped_column(Text, default="")
    credential: Mapped[str] = mapped_column(Text, default="")
    """UID of the actor's credential; never the secret."""
    address: Mapped[str] = mapped_column(Text, default="")
    subject: Mapped[str] = mapped_column(Text, default="")
    """The name of the account or client that the event affects."""
    subject_uid: Mapped[str] = mapped_column(Text, default="")
    target: Mapped[str] = mapped_column(Text, default="")
    """UID of the credential, session or key that was created or revoked."""
    detail: Mapped[str] = mapped_column(Text, default="")
    request_id: Mapped[str] = mapped_column(Text, default="")


class StoredKey(Base, table="signing_keys"):
    """A signing key, encrypted with the service key."""

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """The key with the highest number signs."""
    sealed: Mapped[str] = mapped_column(Text)
    """The private key as encrypted JSON."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
