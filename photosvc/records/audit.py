"""Records of the security log."""

from marshmallow import Schema, fields

from photosvc.records.fields import NullableTimestamp


class AuditEntrySchema(Schema):
    """Dumps an entry; texts that say nothing are empty."""

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
