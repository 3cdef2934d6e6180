"""Records of accounts, clients, credentials and log-ins, without passwords, secrets and digests."""

from collections.abc import Collection
from typing import Any, cast

from marshmallow import EXCLUDE, Schema, fields

from photosvc.core.accounts import ADMIN, CREDENTIAL_LIFETIME, USER
from photosvc.records.fields import NullableTimestamp, Timestamp

#: The type of computed fields, for the description of the API.
_FLAG = {"type": "boolean"}


class UserSchema(Schema):
    """Dumps an account. `webdav_roles`: the roles that WebDAV is open to, which records cannot know."""

    def __init__(self, *, webdav_roles: Collection[str] = (), many: bool | None = None) -> None:
        super().__init__(many=many)
        self.webdav_roles = webdav_roles

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
        return user.role in self.webdav_roles and not user.disabled


class _Body(Schema):
    class Meta:
        """Unknown fields are ignored: clients may send back a whole record, with fields that cannot be changed."""

        unknown = EXCLUDE


class NewUserSchema(_Body):
    """Loads the request to add an account."""

    Name = fields.String(required=True, attribute="name", metadata={"example": "alice"})
    Password = fields.String(required=True, attribute="password", metadata={"example": "a new password"})
    Role = fields.String(load_default=USER, attribute="role")
    DisplayName = fields.String(load_default="", attribute="display_name")
    Email = fields.String(load_default="", attribute="email")


class UserChangesSchema(_Body):
    """Loads changes of an account; absent fields keep their value."""

    Role = fields.String(attribute="role")
    DisplayName = fields.String(attribute="display_name", metadata={"example": "Alice"})
    Email = fields.String(attribute="email")
    Disabled = fields.Boolean(attribute="disabled")


class PasswordChangeSchema(_Body):
    """Loads a password change."""

    old = fields.String(load_default="", metadata={"example": "the password"})
    new = fields.String(required=True, metadata={"example": "a new password"})
    code = fields.String(load_default=None, allow_none=True)


class PasswordSchema(_Body):
    """Loads the password that confirms a request."""

    password = fields.String(required=True, metadata={"example": "the password"})


class ProofSchema(PasswordSchema):
    """Loads the password that confirms a request, with a code of the second factor if there is one."""

    code = fields.String(load_default=None, allow_none=True)


class PasscodeSchema(_Body):
    """Loads a code of the second factor."""

    code = fields.String(required=True, metadata={"example": "123456"})


class EnrolmentSchema(Schema):
    """Dumps the data that an authenticator app is set up with."""

    secret = fields.String()
    uri = fields.String()
    qr_svg = fields.String()


class ClientSchema(Schema):
    """Dumps a registered client."""

    client_id = fields.String(attribute="uid")
    name = fields.String()
    user = fields.Function(lambda client: client.user.name if client.user else "")
    role = fields.String()
    scope = fields.String()
    expires = fields.Integer(attribute="token_lifetime")
    tokens = fields.Integer(attribute="token_limit")
    token_format = fields.String()
    enabled = fields.Boolean()
    created_at = NullableTimestamp()
    updated_at = NullableTimestamp()


class CredentialSchema(Schema):
    """Dumps a credential. `expires_at` is null without a limit, `last_used_at` before the first use."""

    id = fields.String(attribute="uid")
    name = fields.String()
    kind = fields.String()
    scope = fields.String()
    created_at = NullableTimestamp()
    expires_at = NullableTimestamp()
    last_used_at = NullableTimestamp()
    last_ip = fields.String()
    user_agent = fields.String()


class OpenSessionSchema(Schema):
    """Dumps an open login session for its owner. `current`: the id of the one that the list is read with."""

    def __init__(self, *, current: int = 0, many: bool | None = None) -> None:
        super().__init__(many=many)
        self.current_id = current

    id = fields.String(attribute="uid")
    current = fields.Method("is_current", metadata=_FLAG)
    method = fields.String()
    app_password = fields.String(attribute="name")
    created_at = NullableTimestamp()
    expires_at = NullableTimestamp()
    last_used_at = NullableTimestamp()
    last_ip = fields.String()
    user_agent = fields.String()

    def is_current(self, credential: Any) -> bool:  # noqa: ANN401 - records do not import models
        """Whether the list is read with this session."""
        return bool(credential.id == self.current_id)


class NewAppPasswordSchema(_Body):
    """Loads the request to create an app password."""

    name = fields.String(required=True, metadata={"example": "laptop"})
    scope = fields.String(required=True, metadata={"example": "photos albums"})
    expires = fields.Integer(load_default=CREDENTIAL_LIFETIME, strict=True)
    password = fields.String(required=True, metadata={"example": "the password"})


class LoginSchema(_Body):
    """Loads a log-in request; clients also send `email` or `token`, for example."""

    username = fields.String(load_default="", metadata={"example": "alice"})
    password = fields.String(load_default="", metadata={"example": "the password"})
    code = fields.String(load_default=None, allow_none=True)


class ClientConfigSchema(Schema):
    """Dumps the settings that user interfaces read."""

    downloadToken = fields.String(attribute="download_token")  # noqa: N815
    previewToken = fields.String(attribute="preview_token")  # noqa: N815
    public = fields.Boolean()
    years = fields.List(fields.Integer())
    version = fields.String()


class LoginSessionSchema(Schema):
    """Dumps a login session. `id` repeats the access token for clients that know it by that name.

    `webdav_roles` is that of `UserSchema`.
    """

    def __init__(self, *, webdav_roles: Collection[str] = ()) -> None:
        super().__init__()
        cast("fields.Nested", self.fields["user"]).nested = UserSchema(webdav_roles=webdav_roles)

    status = fields.Constant("success", metadata={"type": "string"})
    id = fields.Function(lambda view: view.access_token, metadata={"type": "string"})
    session_id = fields.String()
    access_token = fields.String()
    token_type = fields.Constant("Bearer", metadata={"type": "string"})
    expires_in = fields.Integer()
    provider = fields.String()
    scope = fields.String()
    user = fields.Nested(UserSchema)
    config = fields.Nested(ClientConfigSchema)
