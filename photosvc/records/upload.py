"""What people send to add uploaded files."""

from marshmallow import EXCLUDE, Schema, fields, validate


class AdditionSchema(Schema):
    """Loads where uploaded files are added."""

    class Meta:
        """Unknown fields are ignored: clients send some of their own."""

        unknown = EXCLUDE

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
