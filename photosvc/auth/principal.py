"""The principal: the verified credential of a request and its owner."""

from dataclasses import dataclass
from datetime import datetime

from photosvc.auth.scopes import Scope
from photosvc.models import LOGIN_SESSION

#: A login session that was made from an app password.
APP_SESSION = "app_session"
#: No credential of ours: the signed-in user of a host app.
HOST_USER = "host_user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A verified credential and its owner."""

    kind: str
    """`app_password access_token client_token login_session host_user`."""
    credential_id: int
    credential_uid: str
    credential_name: str
    scope: Scope
    role: str
    """Of the user (`admin user viewer`) or, without one, of the client (`admin client`)."""
    sees_private: bool
    created_at: datetime
    expires_at: datetime | None
    """None: no limit."""
    idle_seconds: int | None = None
    last_used_at: datetime | None = None
    proved_at: datetime | None = None
    """When the account's password was last sent with it; None: when it was created."""
    parent_id: int | None = None
    """The app password that a login session was made from."""
    user_id: int | None = None
    user_uid: str | None = None
    user_name: str | None = None
    password_version: int = 0
    client_id: int | None = None
    client_uid: str | None = None

    @property
    def standing(self) -> str:
        """The kind that decides its rights: a session made from an app password has only the rights of that."""
        return APP_SESSION if self.kind == LOGIN_SESSION and self.parent_id is not None else self.kind

    @property
    def owner_uid(self) -> str:
        """Of the account or client whose credentials share a limit; of the credential itself if it has no owner."""
        return self.user_uid or self.client_uid or self.credential_uid

    def expires_in(self, now: datetime) -> int:
        """Whole seconds left; 0 without a limit, as in the answer of the session endpoint."""
        return 0 if self.expires_at is None else max(1, int((self.expires_at - now).total_seconds()))
