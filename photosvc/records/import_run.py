"""What people send to start an import."""

from marshmallow import EXCLUDE, Schema, fields, validate


class ImportRunSchema(Schema):
    """Loads what to import."""

    class Meta:
        """Unknown fields are ignored: clients send some of their own."""

        unknown = EXCLUDE

    path = fields.String(
        load_default="",
        allow_none=True,
        validate=validate.Length(max=1024),
        metadata={"description": "A folder below that of PHOTOSVC_IMPORT_FOLDER; without it all of that."},
    )
    move = fields.Boolean(
        load_default=False,
        truthy={True},
        falsy={False},
        allow_none=True,
        metadata={"description": "Remove files from the folder of imports when they are among the originals."},
    )
    albums = fields.List(
        fields.String(validate=validate.Length(1, 255)),
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=50),
        metadata={"description": "UIDs of albums, or titles of new ones, that the photos are added to."},
    )
