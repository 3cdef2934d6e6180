"""Index runs that wait, and what the last ones did, as the API sends them."""

from marshmallow import Schema, fields

from photosvc.records.fields import NullableTimestamp, Timestamp


class IndexWishSchema(Schema):
    """Dumps a request for a run that waits."""

    Path = fields.String(attribute="folder")
    Rescan = fields.Boolean(attribute="force")


class IndexReportSchema(Schema):
    """Dumps an index run."""

    ID = fields.Integer(attribute="row.id")
    Path = fields.String(attribute="row.folder")
    Rescan = fields.Boolean(attribute="row.force")
    State = fields.String(attribute="state", metadata={"enum": ["running", "done", "stopped", "failed", "interrupted"]})
    Message = fields.String(attribute="row.message")
    Total = fields.Integer(
        attribute="row.to_read", metadata={"description": "Files that were new or changed, so that it reads them."}
    )
    Done = fields.Integer(attribute="row.read", metadata={"description": "Those of them that it has read so far."})
    Indexed = fields.Integer(attribute="row.indexed")
    Updated = fields.Integer(attribute="row.updated")
    Unchanged = fields.Integer(attribute="row.unchanged")
    Missing = fields.Integer(attribute="row.missing")
    Skipped = fields.Integer(attribute="row.skipped")
    Failed = fields.Integer(attribute="row.failed")
    StartedAt = Timestamp(attribute="row.started_at")
    EndedAt = NullableTimestamp(attribute="row.ended_at")
