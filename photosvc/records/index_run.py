"""What people send to start an index run."""

from marshmallow import EXCLUDE, Schema, fields, validate


class IndexRunSchema(Schema):
    """Loads what to index."""

    class Meta:
        """Unknown fields are ignored: clients also send `cleanup` and `convert`."""

        unknown = EXCLUDE

    path = fields.String(
        load_default="",
        allow_none=True,
        validate=validate.Length(max=1024),
        metadata={"description": "A folder below the originals; without it all of them."},
    )
    rescan = fields.Boolean(
        load_default=False,
        truthy={True},
        falsy={False},
        metadata={"description": "Read files again that have not changed."},
    )
