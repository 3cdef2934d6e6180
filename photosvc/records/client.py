"""Records of registered clients (spec section 2.4), without their secret."""

from marshmallow import Schema, fields

from photosvc.records.fields import NullableTimestamp


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
