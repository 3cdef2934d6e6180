"""What people send to change many photos."""

from marshmallow import EXCLUDE, Schema, fields, validate

from photosvc.records.edits.edit import KEYWORDS, Keywords, PhotoEditSchema
from photosvc.records.examples import PHOTO_UID

#: Seconds: a hundred years.
_LONGEST_SHIFT = 100 * 366 * 86_400


class BatchSchema(Schema):
    """Loads which photos a batch changes, in the form in which known clients send selections of every kind."""

    class Meta:
        """Unknown fields are ignored: clients also send `all`, `files`, `albums`, `labels` and `subjects`."""

        unknown = EXCLUDE

    photos = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        metadata={"description": "Photo UIDs.", "example": [PHOTO_UID]},
    )
    q = fields.String(load_default=None, allow_none=True, metadata={"description": "A query instead of UIDs."})
    expected = fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=validate.Range(0),
        metadata={"description": "The number of photos that `q` must find; with another one nothing is changed."},
    )


class PrivateBatchSchema(BatchSchema):
    """Loads a batch that makes photos private or not."""

    private = fields.Boolean(
        load_default=None,
        allow_none=True,
        truthy={True},
        falsy={False},
        metadata={"description": "Without it, private photos become public and the others private.", "example": True},
    )


class EditBatchSchema(BatchSchema):
    """Loads a batch that writes the same values into photos."""

    values = fields.Nested(PhotoEditSchema, load_default=dict)
    add_keywords = Keywords(
        load_default=(),
        metadata={**KEYWORDS, "description": "Keywords that each photo gains.", "example": "lake, boat"},
    )
    remove_keywords = Keywords(
        load_default=(), metadata={**KEYWORDS, "description": "Keywords that each photo loses, also of those it gains."}
    )
    shift = fields.Integer(
        load_default=0,
        strict=True,
        validate=validate.Range(-_LONGEST_SHIFT, _LONGEST_SHIFT),
        metadata={"description": "Seconds by which each time is moved, as for a camera whose clock was wrong."},
    )


class UndoBatchSchema(BatchSchema):
    """Loads a batch whose edit is taken back."""

    change = fields.Integer(
        required=True,
        strict=True,
        validate=validate.Range(1, 2**63 - 1),
        metadata={"description": "The `change` in the answer to the edit."},
    )
