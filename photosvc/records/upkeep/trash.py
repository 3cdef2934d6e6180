"""What is in the trash, as the API sends it, and what people send to restore or to empty it."""

from typing import Final

from marshmallow import EXCLUDE, Schema, fields, validate

from photosvc.records.examples import PHOTO_UID
from photosvc.records.fields import Timestamp

_TIME: Final = Timestamp()


class KeptSchema(Schema):
    """Dumps an original in the trash, given with the UID of its photo as a pair."""

    Item = fields.Function(lambda pair: pair[0].item, metadata={"type": "string"})
    Name = fields.Function(lambda pair: pair[0].name, metadata={"type": "string"})
    Size = fields.Function(lambda pair: pair[0].size, metadata={"type": "integer"})
    DeletedAt = fields.Function(lambda pair: _TIME.serialize("deleted_at", pair[0]), metadata={"type": "string"})
    PhotoUID = fields.Function(lambda pair: pair[1], metadata={"type": "string"})


class RestoreSchema(Schema):
    """Loads what to restore."""

    class Meta:
        """Unknown fields are ignored."""

        unknown = EXCLUDE

    items = fields.List(
        fields.String(validate=validate.Length(1, 8192)),
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=1000),
        metadata={"description": "`Item`s of the list, or what stands before the first slash of one."},
    )
    photos = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=1000),
        metadata={"description": "UIDs of photos.", "example": [PHOTO_UID]},
    )
    all = fields.Boolean(
        load_default=False, truthy={True}, falsy={False}, metadata={"description": "All that is in the trash."}
    )


class EmptySchema(Schema):
    """Loads what to delete for good."""

    class Meta:
        """Unknown fields are ignored."""

        unknown = EXCLUDE

    days = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=validate.Range(0, 36_500),
        metadata={"description": "Only what was deleted so many days ago or earlier.", "example": 30},
    )
    expected = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=validate.Range(0),
        metadata={"description": "How many files this must be; with another number none is deleted."},
    )
