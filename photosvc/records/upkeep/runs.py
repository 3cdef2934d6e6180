"""What people send to start an index run or an import."""

from marshmallow import EXCLUDE, Schema, fields, validate


def _path(description: str) -> fields.String:
    return fields.String(
        load_default="", allow_none=True, validate=validate.Length(max=1024), metadata={"description": description}
    )


def _flag(description: str) -> fields.Boolean:
    return fields.Boolean(
        load_default=False, truthy={True}, falsy={False}, allow_none=True, metadata={"description": description}
    )


class _RunSchema(Schema):
    class Meta:
        """Unknown fields are ignored: clients send some of their own, as `cleanup` and `convert`."""

        unknown = EXCLUDE


class IndexRunSchema(_RunSchema):
    """Loads what to index."""

    path = _path("A folder below the originals; without it all of them.")
    rescan = _flag("Read files again that have not changed.")


class ImportRunSchema(_RunSchema):
    """Loads what to import."""

    path = _path("A folder below that of PHOTOSVC_IMPORT_FOLDER; without it all of that.")
    move = _flag("Remove files from the folder of imports when they are among the originals.")
    albums = fields.List(
        fields.String(validate=validate.Length(1, 255)),
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=50),
        metadata={
            "description": "UIDs of albums, or titles of new ones, that the photos are added to.",
            "example": ["Summer"],
        },
    )
