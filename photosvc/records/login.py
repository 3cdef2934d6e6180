"""Log-in requests and their answers (spec section 4.3)."""

from typing import cast

from marshmallow import EXCLUDE, Schema, fields

from photosvc.records.user import UserSchema


class LoginSchema(Schema):
    """Loads a log-in request."""

    class Meta:
        """Unknown fields are ignored: clients also send `email` or `token`, for example."""

        unknown = EXCLUDE

    username = fields.String(load_default="")
    password = fields.String(load_default="")
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

    `has_webdav` is that of `UserSchema`.
    """

    def __init__(self, *, has_webdav: bool = False) -> None:
        super().__init__()
        cast("fields.Nested", self.fields["user"]).nested = UserSchema(has_webdav=has_webdav)

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
