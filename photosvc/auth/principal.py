"""The principal: the verified credential of a request and its owner, or the signed-in user of a host app; the origin.

A host app names the signed-in user and the rights of that user; photosvc stores no account for the user.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from photosvc.auth.scopes import ALL, Scope, parse_scope
from photosvc.core.accounts import HOST_ROLES, VIEWER, HostRole
from photosvc.core.errors import PhotosvcError
from photosvc.models import LOGIN_SESSION

#: A login session that was made from an app password.
APP_SESSION = "app_session"
#: The kind of a principal without a credential of photosvc: the signed-in user of a host app.
HOST_USER = "host_user"
#: Prefix of the UIDs of host users; UIDs of credentials begin with `sess`.
_PREFIX: Final = "host"
_DIGITS: Final = 24
_LONGEST_ID: Final = 500
_MOST_ADDRESS: Final = 64
_MOST_AGENT: Final = 255


@dataclass(frozen=True, slots=True)
class Shared:
    """The albums that are shared with a visitor of a public link, or with a guest, and the rights to their photos."""

    link_uid: str
    """Empty for guests."""
    albums: tuple[str, ...]
    """UIDs: the one of a link, or all that are shared with a guest."""
    downloads: bool
    """True if originals may be downloaded."""
    metadata: bool
    """True if places, cameras, people, texts and names of files are shown."""
    uploads_for: int | None = None
    """The id of the account that files of visitors belong to; None if the link takes no files, and for guests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A verified credential and its owner."""

    kind: str
    """One of `app_password`, `access_token`, `client_token`, `login_session`, `visit` and `host_user`."""
    credential_id: int
    credential_uid: str
    credential_name: str
    scope: Scope
    role: str
    """The role of the user (`admin`, `user`, `viewer`, `guest`), the client (`admin`, `client`), or `visitor`.

    Tokens of a guest's client have the role of the guest.
    """
    sees_private: bool
    created_at: datetime
    expires_at: datetime | None
    """None if the credential does not expire."""
    idle_seconds: int | None = None
    last_used_at: datetime | None = None
    proved_at: datetime | None = None
    """The time at which the account's password was last sent with the credential; None: at its creation."""
    parent_id: int | None = None
    """The id of the app password that a login session was made from."""
    user_id: int | None = None
    user_uid: str | None = None
    user_name: str | None = None
    password_version: int = 0
    client_id: int | None = None
    client_uid: str | None = None
    shared: Shared | None = None
    """The only albums that the visitor of a public link, or a guest, may see; None for all others."""

    @property
    def standing(self) -> str:
        """Return the kind that decides the rights: a session made from an app password has a kind of its own."""
        return APP_SESSION if self.kind == LOGIN_SESSION and self.parent_id is not None else self.kind

    @property
    def owner_uid(self) -> str:
        """Return the UID of the account, client or link, whose credentials share limits; else the own UID."""
        return self.user_uid or self.client_uid or (self.shared and self.shared.link_uid) or self.credential_uid

    def expires_in(self, now: datetime) -> int:
        """Return the whole seconds left; 0 without a limit, as in the answer of the session endpoint."""
        return 0 if self.expires_at is None else max(1, int((self.expires_at - now).total_seconds()))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUser:
    """A signed-in user of a host app with the rights that photosvc grants.

    Args:
        id: identifies the user among the host's users; it must never be given to another user.
        name: the user's name in the history of photos and in the security log; by default the id.
        role: `viewer` (looks at photos), `user` (changes them too) or `admin` (also does maintenance).
        sees_private: whether private photos are shown; by default not to viewers.
        scope: a limit on the rights of the role, like the scope of a token.

    Raises:
        ValueError: a value is not valid.
    """

    id: str
    name: str = ""
    role: HostRole = "viewer"
    sees_private: bool | None = None
    scope: str = ALL

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id or len(self.id) > _LONGEST_ID:
            raise ValueError(f"HostUser: id must be a text of 1 to {_LONGEST_ID} characters, not {self.id!r:.50}")
        if self.role not in HOST_ROLES:
            raise ValueError(f"HostUser: role must be one of {', '.join(HOST_ROLES)}, not {self.role!r:.50}")
        try:
            parse_scope(self.scope)
        except PhotosvcError as error:
            raise ValueError(f"HostUser: {error.message}") from None

    @property
    def uid(self) -> str:
        """Return the UID that stands for the user in links and the history of photos; it does not reveal the id."""
        return _PREFIX + hashlib.sha256(self.id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]

    def principal(self, now: datetime) -> Principal:
        """Return the user as the principal of a request."""
        return Principal(
            kind=HOST_USER,
            credential_id=0,
            credential_uid=self.uid,
            credential_name=(self.name or self.id)[:_LONGEST_ID],
            scope=parse_scope(self.scope),
            role=self.role,
            sees_private=self.role != VIEWER if self.sees_private is None else self.sees_private,
            created_at=now,
            expires_at=None,
        )


def is_host_uid(uid: str) -> bool:
    """Return whether a UID in a link belongs to a host's user rather than to a credential."""
    return uid.startswith(_PREFIX)


@dataclass(frozen=True, slots=True)
class Origin:
    """The address and the user agent of a client: printable characters only, shortened to the columns."""

    address: str = ""
    user_agent: str = ""

    @classmethod
    def of(cls, address: str, user_agent: str) -> "Origin":
        """Return the origin of a request with this address and this header `User-Agent`."""
        return cls(_printable(address, _MOST_ADDRESS), _printable(user_agent, _MOST_AGENT))


NOWHERE: Final = Origin()


def _printable(text: str, length: int) -> str:
    return "".join(character for character in text[:length] if character.isprintable())
