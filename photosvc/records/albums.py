"""Records of albums, folders and months, and of requests to change albums, add uploaded files and make archives."""

from typing import Any

from marshmallow import Schema, fields, pre_load, validate

from photosvc.records.fields import ALBUM_UID, PHOTO_UID, AnyCaseSchema, CleanText
from photosvc.records.photo import AlbumSchema

_TITLE, _LONG = 200, 4096
_THUMB = {"description": "The hash of the cover, which is the latest photo; empty without photos."}


class AlbumResultSchema(AlbumSchema):
    """An album, made by people or computed, with the number of its photos."""

    Path = fields.String(attribute="path")
    Country = fields.String(attribute="country")
    State = fields.String(attribute="state")
    Year = fields.Integer(attribute="year")
    Month = fields.Integer(attribute="month")
    PhotoCount = fields.Integer(attribute="photo_count")
    Thumb = fields.String(attribute="thumb", metadata=_THUMB)
    ThumbSrc = fields.Constant("", metadata={"type": "string"})
    LinkCount = fields.Integer(
        attribute="link_count", metadata={"description": "The public links to it; 0 for those who may not list them."}
    )


class AlbumEditSchema(AnyCaseSchema):
    """Changes of an album; fields that are absent or null keep their value."""

    Title = CleanText(_TITLE, attribute="title", metadata={"example": "Summer"})
    Description = CleanText(_LONG, attribute="description")
    Filter = CleanText(_LONG, attribute="filter", metadata={"description": "The query of a smart album."})
    Order = CleanText(32, attribute="order")
    Favorite = fields.Boolean(attribute="favorite", truthy={True}, falsy={False})
    Private = fields.Boolean(attribute="private", truthy={True}, falsy={False})

    @pre_load
    def _without_null(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        return {name: value for name, value in data.items() if value is not None}


class AlbumSelectionSchema(AnyCaseSchema):
    """A selection of albums."""

    albums = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        metadata={"description": "Album UIDs.", "example": [ALBUM_UID]},
    )


class ArrangementSchema(AnyCaseSchema):
    """A manual order of photos."""

    photos = fields.List(
        fields.String(), required=True, metadata={"description": "Photo UIDs in their order.", "example": [PHOTO_UID]}
    )
    before = fields.String(
        load_default=None, allow_none=True, metadata={"description": "The photo that follows them; else the first."}
    )


class FolderSchema(Schema):
    """A folder."""

    UID = fields.String(attribute="uid")
    Path = fields.String(attribute="path")
    Root = fields.String(attribute="root")
    Title = fields.String(attribute="name")
    PhotoCount = fields.Integer(attribute="photo_count")
    TotalCount = fields.Integer(attribute="total_count")
    Thumb = fields.String(attribute="thumb", metadata=_THUMB)


class MomentSchema(Schema):
    """A month."""

    Label = fields.String(attribute="title")
    Slug = fields.Function(lambda month: month.title, metadata={"type": "string"})
    Country = fields.String(attribute="country")
    State = fields.String(attribute="state")
    Year = fields.Integer(attribute="year")
    Month = fields.Integer(attribute="month")
    PhotoCount = fields.Integer(attribute="photo_count")
    UID = fields.String(attribute="uid")
    Thumb = fields.String(attribute="thumb", metadata=_THUMB)


class AdditionSchema(AnyCaseSchema):
    """A request to add uploaded files to the library, and to albums."""

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


class ZipSelectionSchema(AnyCaseSchema):
    """The selection of an archive, in the form in which known clients send selections of all kinds."""

    photos = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        metadata={"description": "Photo UIDs.", "example": [PHOTO_UID]},
    )
    files = fields.List(
        fields.String(), load_default=None, allow_none=True, metadata={"description": "File UIDs or hashes."}
    )
    albums = fields.List(fields.String(), load_default=None, allow_none=True, metadata={"description": "Album UIDs."})
    q = fields.String(load_default=None, allow_none=True, metadata={"description": "A query, as in the search."})
