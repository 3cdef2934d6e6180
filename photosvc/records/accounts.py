"""Records of accounts, clients, credentials, log-ins, the security log, and the configuration and settings in force.

They contain no stored passwords, secrets or digests.
"""

from collections.abc import Collection
from typing import Any, Final, cast

from marshmallow import Schema, fields

from photosvc.core.accounts import ADMIN, CREDENTIAL_LIFETIME, USER
from photosvc.records.fields import FLAG, NUMBER, TEXT, LenientSchema, NullableTimestamp, Timestamp, about, constant

#: Features of user interfaces. `services`, `settings` and `share` do not exist here, and are always false.
FEATURES: Final = (
    "account", "albums", "archive", "calendar", "delete", "download", "edit", "estimates", "favorites", "files",
    "folders", "import", "labels", "library", "logs", "moments", "people", "places", "private", "ratings", "review",
    "search", "services", "settings", "share", "upload", "videos",
)  # fmt: skip

FeaturesSchema: Final = Schema.from_dict({name: fields.Boolean() for name in FEATURES}, name="FeaturesSchema")


class UserSchema(Schema):
    """An account; `ID`, `Settings` and `Details` are there for strict clients.

    The caller gives `webdav_roles`, the roles that may use WebDAV, because records do not know it.
    """

    def __init__(self, *, webdav_roles: Collection[str] = (), many: bool | None = None) -> None:
        super().__init__(many=many)
        self.webdav_roles = webdav_roles

    ID = fields.Function(lambda user: user.id or 0, metadata=NUMBER)
    UID = fields.String(attribute="uid")
    Name = fields.String(attribute="name")
    DisplayName = fields.String(attribute="display_name")
    Email = fields.String(attribute="email")
    Role = fields.String(attribute="role")
    SuperAdmin = fields.Function(lambda user: user.role == ADMIN, metadata=FLAG)
    CanLogin = fields.Function(lambda user: bool(user.password_hash) and not user.disabled, metadata=FLAG)
    Disabled = fields.Boolean(attribute="disabled")
    WebDAV = fields.Method("may_use_webdav", metadata=FLAG)
    TwoFactor = fields.Boolean(attribute="totp_confirmed")
    LoginAt = Timestamp(attribute="login_at")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")
    Settings = fields.Function(lambda _user: {}, metadata={"type": "object"})
    Details = fields.Function(lambda _user: {}, metadata={"type": "object"})

    def may_use_webdav(self, user: Any) -> bool:  # noqa: ANN401 - records do not import models
        """Return whether the account can open the WebDAV folder."""
        return user.role in self.webdav_roles and not user.disabled


class NewUserSchema(LenientSchema):
    """A request to add an account."""

    Name = fields.String(required=True, attribute="name", metadata={"example": "alice"})
    Password = fields.String(required=True, attribute="password", metadata={"example": "a new password"})
    Role = fields.String(load_default=USER, attribute="role")
    DisplayName = fields.String(load_default="", attribute="display_name")
    Email = fields.String(load_default="", attribute="email")


class UserChangesSchema(LenientSchema):
    """Changes of an account; absent fields keep their value."""

    Role = fields.String(attribute="role")
    DisplayName = fields.String(attribute="display_name", metadata={"example": "Alice"})
    Email = fields.String(attribute="email")
    Disabled = fields.Boolean(attribute="disabled")


class PasswordChangeSchema(LenientSchema):
    """A change of the password."""

    old = fields.String(load_default="", metadata={"example": "the password"})
    new = fields.String(required=True, metadata={"example": "a new password"})
    code = fields.String(load_default=None, allow_none=True)


class PasswordSchema(LenientSchema):
    """A password that confirms a request."""

    password = fields.String(required=True, metadata={"example": "the password"})


class ProofSchema(PasswordSchema):
    """A password that confirms a request, with a code of the second factor if the account has one."""

    code = fields.String(load_default=None, allow_none=True)


class PasscodeSchema(LenientSchema):
    """A code of the second factor."""

    code = fields.String(required=True, metadata={"example": "123456"})


class EnrolmentSchema(Schema):
    """The data for setting up an authenticator app."""

    secret = fields.String()
    uri = fields.String()
    qr_svg = fields.String()


class ClientSchema(Schema):
    """A registered client."""

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
    """A credential. `expires_at` is null without a limit, `last_used_at` before the first use."""

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
    """An open login session for its owner; `current` is the id of the session of the request."""

    def __init__(self, *, current: int = 0, many: bool | None = None) -> None:
        super().__init__(many=many)
        self.current_id = current

    id = fields.String(attribute="uid")
    current = fields.Method("is_current", metadata=FLAG)
    method = fields.String()
    app_password = fields.String(attribute="name")
    created_at = NullableTimestamp()
    expires_at = NullableTimestamp()
    last_used_at = NullableTimestamp()
    last_ip = fields.String()
    user_agent = fields.String()

    def is_current(self, credential: Any) -> bool:  # noqa: ANN401 - records do not import models
        """Return whether it is the session of the request."""
        return bool(credential.id == self.current_id)


class NewAppPasswordSchema(LenientSchema):
    """A request to create an app password."""

    name = fields.String(required=True, metadata={"example": "laptop"})
    scope = fields.String(required=True, metadata={"example": "photos albums"})
    expires = fields.Integer(load_default=CREDENTIAL_LIFETIME, strict=True)
    password = fields.String(required=True, metadata={"example": "the password"})
    code = fields.String(load_default=None, allow_none=True)


class LoginSchema(LenientSchema):
    """A log-in request; clients also send other fields, such as `email`."""

    username = fields.String(load_default="", metadata={"example": "alice"})
    password = fields.String(load_default="", metadata={"example": "the password"})
    code = fields.String(load_default=None, allow_none=True)
    authToken = fields.String(  # noqa: N815
        attribute="token",
        load_default=None,
        allow_none=True,
        metadata=about("An app password instead of name and password, as in `Authorization: Bearer`."),
    )
    # Of any type, because older clients send other values under this name, with a name and a password.
    token = fields.Raw(
        attribute="link_token",
        load_default=None,
        allow_none=True,
        metadata={"type": "string", "description": "The token of a public link; `password` is then that of the link."},
    )


class CountsSchema(Schema):
    """The numbers of photos by type and state, and of further things, that the reader may see."""

    all = fields.Integer()
    photos = fields.Integer()
    live = fields.Integer()
    videos = fields.Integer()
    favorites = fields.Integer()
    private = fields.Integer()
    files = fields.Integer()
    albums = fields.Integer()
    people = fields.Integer()
    review = fields.Integer()
    hidden = fields.Integer()
    archived = fields.Integer()
    labels = fields.Integer()
    cameras = fields.Integer()
    countries = fields.Integer()
    states = fields.Integer()
    places = fields.Integer()
    folders = fields.Integer()
    months = fields.Integer()


class ThumbSizeSchema(Schema):
    """A size of thumbnails; `w` and `h` are pixels."""

    size = fields.String(attribute="name")
    use = fields.String(attribute="purpose")
    w = fields.Integer(attribute="width")
    h = fields.Integer(attribute="height")


class PublicConfigSchema(Schema):
    """The configuration that a client may read before it has a credential."""

    name = fields.String()
    siteTitle = fields.String(attribute="name", dump_only=True)  # noqa: N815
    version = fields.String()
    edition = fields.String()
    public = fields.Boolean()
    authMode = fields.String(attribute="auth_mode")  # noqa: N815


class ConfigSchema(PublicConfigSchema):
    """The configuration of the service for clients.

    `count` is null in the answer to a log-in if counting takes too long, and for visitors and guests.
    """

    downloadToken = fields.String(attribute="download_token")  # noqa: N815
    previewToken = fields.String(attribute="preview_token")  # noqa: N815
    years = fields.List(fields.Integer())
    mode = fields.String()
    readonly = fields.Boolean()
    siteUrl = fields.String(attribute="site_url")  # noqa: N815
    baseUri = fields.String(attribute="base_uri")  # noqa: N815
    apiUri = fields.String(attribute="api_uri")  # noqa: N815
    contentUri = fields.String(attribute="api_uri", dump_only=True)  # noqa: N815
    videoUri = fields.String(attribute="api_uri", dump_only=True)  # noqa: N815
    count = fields.Nested(CountsSchema, allow_none=True)
    thumbs = fields.List(fields.Nested(ThumbSizeSchema))


class LoginSessionSchema(Schema):
    """A login session. `id` repeats the access token for clients that expect it under that name.

    `webdav_roles` is passed to `UserSchema`.
    """

    def __init__(self, *, webdav_roles: Collection[str] = ()) -> None:
        super().__init__()
        cast("fields.Nested", self.fields["user"]).nested = UserSchema(webdav_roles=webdav_roles)

    status = constant("success")
    id = fields.Function(lambda view: view.access_token, metadata=TEXT)
    session_id = fields.String()
    access_token = fields.String()
    token_type = constant("Bearer")
    expires_in = fields.Integer()
    provider = fields.String()
    scope = fields.String()
    user = fields.Nested(UserSchema)
    config = fields.Nested(ConfigSchema)


class AuditEntrySchema(Schema):
    """An entry of the security log; texts without a value are empty."""

    id = fields.Integer()
    at = NullableTimestamp(attribute="created_at")
    event = fields.String()
    times = fields.Integer()
    actor_kind = fields.String()
    actor = fields.String()
    actor_uid = fields.String()
    credential = fields.String()
    address = fields.String()
    subject = fields.String()
    subject_uid = fields.String()
    target = fields.String()
    detail = fields.String()
    request_id = fields.String()


class StackSchema(Schema):
    """The properties that make files one photo: the same document, the same moment and place, or numbered names."""

    uuid = fields.Boolean()
    meta = fields.Boolean()
    name = fields.Boolean()


class SettingsSchema(Schema):
    """The settings that user interfaces read."""

    features = fields.Nested(FeaturesSchema)
    stack = fields.Nested(StackSchema)


def _path(name: str) -> fields.Field[Any]:
    return fields.Function(lambda settings: str(getattr(settings, name)), metadata=TEXT)


class OptionsSchema(Schema):
    """The options of the service; sizes are in MB, times in seconds."""

    OriginalsPath = _path("originals")
    OriginalsLimit = fields.Integer(attribute="max_file_size")
    ImportPath = _path("import_folder")
    CachePath = _path("cache")
    DatabaseDriver = fields.Function(
        lambda settings: "sqlite" if settings.database_uri.startswith("sqlite") else "postgres", metadata=TEXT
    )
    ReadOnly = fields.Boolean(attribute="readonly")
    SiteUrl = fields.String(attribute="base_url")
    SiteTitle = fields.String(attribute="site_name")
    SessionMaxAge = fields.Integer(attribute="session_max_age")
    SessionTimeout = fields.Integer(attribute="session_idle")
    Workers = fields.Integer(attribute="index_workers")
