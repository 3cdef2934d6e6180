"""Records of app passwords and access tokens, without their secret."""

from marshmallow import EXCLUDE, Schema, fields

from photosvc.core.accounts import CREDENTIAL_LIFETIME
from photosvc.records.fields import NullableTimestamp


class CredentialSchema(Schema):
    """Dumps a credential. `expires_at` is null without a limit, `last_used_at` before the first use."""

    id = fields.String(attribute="uid")
    name = fields.String()
    kind = fields.String()
    scope = fields.String()
    created_at = NullableTimestamp()
    expires_at = NullableTimestamp()
    last_used_at = NullableTimestamp()


class NewAppPasswordSchema(Schema):
    """Loads the request to create an app password."""

    class Meta:
        """Unknown fields are ignored."""

        unknown = EXCLUDE

    name = fields.String(required=True)
    scope = fields.String(required=True)
    expires = fields.Integer(load_default=CREDENTIAL_LIFETIME, strict=True)
    password = fields.String(required=True)
