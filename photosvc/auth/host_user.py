"""A user of a host app as a principal: the host says who it is and what may be seen, we keep no account."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from photosvc.auth.principal import HOST_USER, Principal
from photosvc.auth.scopes import ALL, parse_scope
from photosvc.core.accounts import USER_ROLES, VIEWER
from photosvc.core.errors import PhotosvcError

#: What the UIDs of these principals begin with; those of credentials begin with `sess`.
_PREFIX: Final = "host"
_DIGITS: Final = 24
_LONGEST_ID: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUser:
    """A signed-in user of a host app, and what photosvc lets that user do.

    Args:
        id: what tells the host's users apart; it must never be given to another user.
        name: by which the history of photos and the security log call the user; by default the id.
        role: `viewer` (looks at photos), `user` (changes them too) or `admin` (also runs what upkeep needs).
        sees_private: whether private photos are shown; by default not to viewers.
        scope: narrows what the role allows, as the scope of a token does.

    Raises:
        ValueError: one of them is not valid.

    """

    id: str
    name: str = ""
    role: str = VIEWER
    sees_private: bool | None = None
    scope: str = ALL

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id or len(self.id) > _LONGEST_ID:
            msg = f"HostUser: id must be a text of 1 to {_LONGEST_ID} characters, not {self.id!r:.50}"
            raise ValueError(msg)
        if self.role not in USER_ROLES:
            msg = f"HostUser: role must be one of {', '.join(USER_ROLES)}, not {self.role!r:.50}"
            raise ValueError(msg)
        try:
            parse_scope(self.scope)
        except PhotosvcError as error:
            msg = f"HostUser: {error.message}"
            raise ValueError(msg) from None

    @property
    def uid(self) -> str:
        """Stands for the user in links and the history of photos; it has no character of the id."""
        return _PREFIX + hashlib.sha256(self.id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]

    def principal(self, now: datetime) -> Principal:
        """The user as the principal of a request."""
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
    """Whether a UID in a link is that of a host's user rather than of a credential."""
    return uid.startswith(_PREFIX)
