"""Files that could not be indexed, shown or imported, as the API sends them."""

from marshmallow import Schema, fields

from photosvc.records.fields import Timestamp


class FailedFileSchema(Schema):
    """Dumps a file that failed."""

    ID = fields.Integer(attribute="id")
    Time = Timestamp(attribute="at")
    Level = fields.String(attribute="level", metadata={"enum": ["error", "warning"]})
    Message = fields.String(attribute="message")
    Source = fields.String(attribute="source", metadata={"enum": ["index", "import"]})
    Name = fields.String(attribute="name")
    Code = fields.String(attribute="problem.reason.value")
