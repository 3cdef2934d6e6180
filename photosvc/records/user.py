"""Records of accounts, without passwords, secrets and digests."""

from typing import Any

from marshmallow import EXCLUDE, Schema, fields

from photosvc.core.accounts import ADMIN, USER
from photosvc.records.fields import Timestamp

#: The type of computed fields, for the description of the API.
_FLAG = {"type": "boolean"}


class UserSchema(Schema):
    """Dumps an account. `has_webdav`: whether the app serves WebDAV, which records cannot know."""

    def __init__(self, *, has_webdav: bool = False, many: bool | None = None) -> None:
        super().__init__(many=many)
        self.has_webdav = has_webdav

    UID = fields.String(attribute="uid")
    Name = fields.String(attribute="name")
    DisplayName = fields.String(attribute="display_name")
    Email = fields.String(attribute="email")
    Role = fields.String(attribute="role")
    SuperAdmin = fields.Function(lambda user: user.role == ADMIN, metadata=_FLAG)
    CanLogin = fields.Function(lambda user: bool(user.password_hash) and not user.disabled, metadata=_FLAG)
    Disabled = fields.Boolean(attribute="disabled")
    WebDAV = fields.Method("may_use_webdav", metadata=_FLAG)
    TwoFactor = fields.Boolean(attribute="totp_confirmed")
    LoginAt = Timestamp(attribute="login_at")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")

    def may_use_webdav(self, user: Any) -> bool:  # noqa: ANN401 - records do not import models
        """Whether the account can open the WebDAV folder."""
        return self.has_webdav and not user.disabled


class _Body(Schema):
    class Meta:
        """Unknown fields are ignored: clients may send back a whole record, with fields that cannot be changed."""

        unknown = EXCLUDE


class NewUserSchema(_Body):
    """Loads the request to add an account."""

    Name = fields.String(required=True, attribute="name")
    Password = fields.String(required=True, attribute="password")
    Role = fields.String(load_default=USER, attribute="role")
    DisplayName = fields.String(load_default="", attribute="display_name")
    Email = fields.String(load_default="", attribute="email")


class UserChangesSchema(_Body):
    """Loads changes of an account; absent fields keep their value."""

    Role = fields.String(attribute="role")
    DisplayName = fields.String(attribute="display_name")
    Email = fields.String(attribute="email")
    Disabled = fields.Boolean(attribute="disabled")


class PasswordChangeSchema(_Body):
    """Loads a password change."""

    old = fields.String(load_default="")
    new = fields.String(required=True)


class PasswordSchema(_Body):
    """Loads the password that confirms a request."""

    password = fields.String(required=True)


class PasscodeSchema(_Body):
    """Loads a code of the second factor."""

    code = fields.String(required=True)


class EnrolmentSchema(Schema):
    """Dumps the data that an authenticator app is set up with."""

    secret = fields.String()
    uri = fields.String()
    qr_svg = fields.String()
