"""One entry in the history of a photo."""

from marshmallow import Schema, fields

from photosvc.records.fields import Timestamp

_VALUES = {"type": "object"}


class ChangeSchema(Schema):
    """Dumps who changed a photo when, and the values that differ."""

    ID = fields.Integer(attribute="id")
    Action = fields.String(attribute="action")
    Undoes = fields.Integer(attribute="undoes", allow_none=True)
    ActorUID = fields.String(attribute="actor_uid")
    ActorName = fields.String(attribute="actor_name")
    CreatedAt = Timestamp(attribute="created_at")
    Before = fields.Raw(attribute="before", metadata=_VALUES)
    After = fields.Raw(attribute="after", metadata=_VALUES)
