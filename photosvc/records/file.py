"""The file record of spec section 2.3 and the markers in it."""

from marshmallow import Schema, fields

from photosvc.records.fields import Decimal, Timestamp


class MarkerSchema(Schema):
    """A named area of a picture; lengths are relative to the upright picture, from the top left."""

    UID = fields.String(attribute="uid")
    FileUID = fields.String(attribute="file.uid")
    Type = fields.String(attribute="type")
    Src = fields.String(attribute="src")
    Name = fields.String(attribute="name")
    X = Decimal(places=5, attribute="x")
    Y = Decimal(places=5, attribute="y")
    W = Decimal(places=5, attribute="w")
    H = Decimal(places=5, attribute="h")
    CreatedAt = Timestamp(attribute="created_at")


class FileSchema(Schema):
    """Dumps a file with its `photo` and `markers`."""

    UID = fields.String(attribute="uid")
    PhotoUID = fields.String(attribute="photo.uid")
    Name = fields.String(attribute="name")
    Root = fields.String(attribute="root")
    Hash = fields.String(attribute="hash")
    Size = fields.Integer(attribute="size")
    Primary = fields.Boolean(attribute="primary")
    Codec = fields.String(attribute="codec")
    FileType = fields.String(attribute="file_type")
    MediaType = fields.String(attribute="media_type")
    Mime = fields.String(attribute="mime")
    Width = fields.Integer(attribute="width")
    Height = fields.Integer(attribute="height")
    Orientation = fields.Integer(attribute="orientation")
    AspectRatio = Decimal(places=2, attribute="aspect_ratio")
    Colors = fields.String(attribute="colors")
    Luminance = fields.String(attribute="luminance")
    Diff = fields.Integer(attribute="diff")
    Chroma = fields.Integer(attribute="chroma")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")
    Markers = fields.List(fields.Nested(MarkerSchema), attribute="markers")
