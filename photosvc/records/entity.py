"""A photo as a record of its own: the search result with all that the library knows of the photo.

Strict clients refuse a record that lacks a field of PhotoPrism. Fields that this library has no value for are sent
empty; they are the constants below.
"""

import re
from typing import Any, Final

from marshmallow import Schema, fields

from photosvc.core.clock import ZERO_TIME
from photosvc.records.fields import NullableTimestamp, Timestamp, rfc3339
from photosvc.records.photo import PhotoResultSchema

#: The name of an unknown camera or lens.
_UNKNOWN: Final = "Unknown"
_TEXT: Final = {"type": "string"}
_SEPARATORS: Final = re.compile(r"[\W_]+")


def _text() -> fields.Constant[str]:
    return fields.Constant("", metadata=_TEXT)


def _never() -> fields.Constant[str]:
    return fields.Constant(rfc3339(ZERO_TIME), metadata={**_TEXT, "format": "date-time"})


def _name(gear: Any) -> str:  # noqa: ANN401 - records do not import models
    return f"{gear.make} {gear.model}".strip() or _UNKNOWN


def _slug(text: str) -> str:
    return _SEPARATORS.sub("-", text.casefold()).strip("-") or _UNKNOWN.lower()


class DetailsSchema(Schema):
    """Dumps the texts of a photo."""

    Keywords = fields.Function(lambda photo: ", ".join(keyword.word for keyword in photo.keywords), metadata=_TEXT)
    KeywordsSrc = _text()
    Notes = fields.String(attribute="notes")
    NotesSrc = _text()
    Subject = fields.String(attribute="subject")
    SubjectSrc = _text()
    Artist = fields.String(attribute="artist")
    ArtistSrc = _text()
    Copyright = fields.String(attribute="copyright")
    CopyrightSrc = _text()
    License = fields.String(attribute="license")
    LicenseSrc = _text()
    Software = fields.String(attribute="software")
    SoftwareSrc = _text()


class _GearSchema(Schema):
    ID = fields.Integer(attribute="id")
    Slug = fields.Function(lambda gear: _slug(_name(gear)), metadata=_TEXT)
    Name = fields.Function(_name, metadata=_TEXT)
    Make = fields.String(attribute="make")
    Model = fields.String(attribute="model")


class CameraSchema(_GearSchema):
    """Dumps a camera model."""

    Type = fields.String(attribute="type")


class LensSchema(_GearSchema):
    """Dumps a lens model."""

    Type = _text()


class PlaceSchema(Schema):
    """Dumps a town or region."""

    PlaceID = fields.String(attribute="id")
    Label = fields.String(attribute="label")
    District = _text()
    City = fields.String(attribute="city")
    State = fields.String(attribute="state")
    Country = fields.String(attribute="country")
    Keywords = _text()
    Favorite = fields.Constant(False, metadata={"type": "boolean"})
    PhotoCount = fields.Constant(0, metadata={"type": "integer"})
    CreatedAt = _never()
    UpdatedAt = _never()


class CellSchema(Schema):
    """Dumps the S2 cell and the place of a photo."""

    ID = fields.String(attribute="cell_id")
    Name = _text()
    Street = _text()
    Postcode = _text()
    Category = _text()
    Place = fields.Nested(PlaceSchema, attribute="place")
    CreatedAt = _never()
    UpdatedAt = _never()


class AlbumSchema(Schema):
    """Dumps an album."""

    ID = fields.Integer(attribute="id")
    UID = fields.String(attribute="uid")
    Slug = fields.Function(lambda album: _slug(album.title), metadata=_TEXT)
    Type = fields.String(attribute="type")
    Title = fields.String(attribute="title")
    Description = fields.String(attribute="description")
    Filter = fields.String(attribute="filter")
    Order = fields.String(attribute="order")
    Year = fields.Constant(-1, metadata={"type": "integer"})
    Month = fields.Constant(-1, metadata={"type": "integer"})
    Day = fields.Constant(-1, metadata={"type": "integer"})
    Favorite = fields.Boolean(attribute="favorite")
    Private = fields.Boolean(attribute="private")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")
    DeletedAt = NullableTimestamp(attribute="deleted_at")


class PhotoSchema(PhotoResultSchema):
    """Dumps what `PhotoResultSchema` dumps, with the `albums` of the photo and all records it refers to."""

    TitleSrc = fields.String(attribute="photo.title_src")
    DescriptionSrc = fields.String(attribute="photo.description_src")
    DeletedAt = NullableTimestamp(attribute="photo.archived_at")
    Details = fields.Nested(DetailsSchema, attribute="photo", dump_only=True)
    Camera = fields.Nested(CameraSchema, attribute="photo.camera")
    Lens = fields.Nested(LensSchema, attribute="photo.lens")
    Cell = fields.Nested(CellSchema, attribute="photo", dump_only=True)
    Place = fields.Nested(PlaceSchema, attribute="photo.place")
    Albums = fields.List(fields.Nested(AlbumSchema), attribute="albums")
    Labels: fields.Constant[list[object]] = fields.Constant([], metadata={"type": "array", "items": {"type": "object"}})
