"""App passwords and access tokens on the wire; the secret only in the answer that creates it."""

from marshmallow import EXCLUDE, Schema, fields

from photosvc.records.fields import Moment


class CredentialSchema(Schema):
    """Dumps a credential; a time without limit or a use that never was is null."""

    id = fields.String(attribute="uid")
    name = fields.String()
    kind = fields.String()
    scope = fields.String()
    created_at = Moment()
    expires_at = Moment()
    last_used_at = Moment()


class NewAppPasswordSchema(Schema):
    """Loads an app password to make."""

    class Meta:
        """What is not needed is passed over."""

        unknown = EXCLUDE

    name = fields.String(required=True)
    scope = fields.String(required=True)
    expires = fields.Integer(load_default=31_536_000, strict=True)
    password = fields.String(required=True)
