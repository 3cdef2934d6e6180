"""Imports that wait, and what became of the last ones, as the API sends them."""

from marshmallow import Schema, fields

from photosvc.records.fields import NullableTimestamp, Timestamp


class ImportWishSchema(Schema):
    """Dumps an import that waits."""

    Path = fields.String(attribute="folder")
    Move = fields.Boolean(attribute="moves")
    WishedAt = Timestamp(attribute="created_at")


class ImportReportSchema(Schema):
    """Dumps an import that began."""

    ID = fields.Integer(attribute="row.id")
    Path = fields.String(attribute="row.folder")
    Move = fields.Boolean(attribute="row.moves")
    State = fields.String(attribute="state", metadata={"enum": ["running", "done", "stopped", "failed"]})
    Message = fields.String(attribute="row.message")
    Imported = fields.Integer(attribute="row.imported")
    Duplicate = fields.Integer(attribute="row.duplicate")
    Skipped = fields.Integer(attribute="row.skipped")
    Failed = fields.Integer(attribute="row.failed")
    Failures = fields.Function(
        lambda report: [
            {"Name": name, "Code": problem.reason.value, "Error": problem.sentence} for name, problem in report.failures
        ],
        metadata={"type": "array", "items": {"type": "object"}},
    )
    WishedAt = Timestamp(attribute="row.wished_at")
    StartedAt = Timestamp(attribute="row.started_at")
    EndedAt = NullableTimestamp(attribute="row.ended_at")
