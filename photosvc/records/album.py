"""Albums as the API sends them, and what people send to change them."""

from typing import Any

from marshmallow import EXCLUDE, Schema, fields, pre_load

from photosvc.records.examples import ALBUM_UID, PHOTO_UID
from photosvc.records.fields import AnyCaseSchema, CleanText
from photosvc.records.photos.entity import AlbumSchema

_TITLE, _LONG = 200, 4096


class AlbumResultSchema(AlbumSchema):
    """Dumps an album, of people or computed, with the number of its photos."""

    Path = fields.String(attribute="path")
    Country = fields.String(attribute="country")
    State = fields.String(attribute="state")
    Year = fields.Integer(attribute="year")
    Month = fields.Integer(attribute="month")
    PhotoCount = fields.Integer(attribute="photo_count")
    LinkCount = fields.Constant(0, metadata={"type": "integer"})


class AlbumEditSchema(AnyCaseSchema):
    """Loads the values of an album; what is absent or null stays as it is."""

    class Meta:
        """Unknown fields are ignored: clients send the whole record back."""

        unknown = EXCLUDE

    Title = CleanText(_TITLE, attribute="title", metadata={"example": "Summer"})
    Description = CleanText(_LONG, attribute="description")
    Filter = CleanText(_LONG, attribute="filter", metadata={"description": "The query of a smart album."})
    Order = CleanText(32, attribute="order")
    Favorite = fields.Boolean(attribute="favorite", truthy={True}, falsy={False})
    Private = fields.Boolean(attribute="private", truthy={True}, falsy={False})

    @pre_load
    def _without_null(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        return {name: value for name, value in data.items() if value is not None}


class AlbumSelectionSchema(Schema):
    """Loads a selection of albums."""

    class Meta:
        """Unknown fields are ignored: clients send selections of every kind."""

        unknown = EXCLUDE

    albums = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        metadata={"description": "Album UIDs.", "example": [ALBUM_UID]},
    )


class ArrangementSchema(Schema):
    """Loads an order of photos by hand."""

    class Meta:
        """Unknown fields are ignored."""

        unknown = EXCLUDE

    photos = fields.List(
        fields.String(), required=True, metadata={"description": "Photo UIDs in their order.", "example": [PHOTO_UID]}
    )
    before = fields.String(
        load_default=None, allow_none=True, metadata={"description": "The photo that follows them; else the first."}
    )
