"""A photo and a file as records of their own: what search results have, with all that the library knows of them.

Strict clients refuse a record that lacks a field of PhotoPrism. Fields that this library has no value for are sent
empty; they are the constants below.
"""

import re
from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields

from photosvc.core.clock import ZERO_TIME
from photosvc.core.values.colors import COLORS
from photosvc.core.values.sources import MANUAL
from photosvc.records.fields import Decimal, NullableTimestamp, Timestamp, compile_schema, rfc3339
from photosvc.records.photos.photo import FileSchema, PhotoResultSchema

#: The name of an unknown camera or lens.
_UNKNOWN: Final = "Unknown"
_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "integer"}
_FLAG: Final = {"type": "boolean"}
_SEPARATORS: Final = re.compile(r"[\W_]+")


def _source(name: str) -> fields.Function:
    """`manual` when a person set this value of a photo, else empty."""
    return fields.Function(lambda photo: MANUAL if name in photo.manual.split() else "", metadata=_TEXT)


def _text() -> fields.Constant[str]:
    return fields.Constant("", metadata=_TEXT)


def _never() -> fields.Constant[str]:
    return fields.Constant(rfc3339(ZERO_TIME), metadata={**_TEXT, "format": "date-time"})


def _name(gear: Any) -> str:  # noqa: ANN401 - records do not import models
    return f"{gear.make} {gear.model}".strip() or _UNKNOWN


def slug(text: str) -> str:
    """A name as part of an address."""
    return _SEPARATORS.sub("-", text.casefold()).strip("-") or _UNKNOWN.lower()


def _milliseconds(moment: datetime) -> int:
    """Unix time; 0 for an unset time."""
    return 0 if moment == ZERO_TIME else int(moment.timestamp() * 1000)


def _color(number: int) -> str:
    return COLORS[number] if number >= 0 else ""


class DetailsSchema(Schema):
    """Dumps the texts of a photo."""

    Keywords = fields.Function(lambda photo: ", ".join(keyword.word for keyword in photo.keywords), metadata=_TEXT)
    KeywordsSrc = _source("keywords")
    Notes = fields.String(attribute="notes")
    NotesSrc = _source("notes")
    Subject = fields.String(attribute="subject")
    SubjectSrc = _source("subject")
    Artist = fields.String(attribute="artist")
    ArtistSrc = _source("artist")
    Copyright = fields.String(attribute="copyright")
    CopyrightSrc = _source("copyright")
    License = fields.String(attribute="license")
    LicenseSrc = _source("license")
    Software = fields.String(attribute="software")
    SoftwareSrc = _text()


class _GearSchema(Schema):
    ID = fields.Integer(attribute="id")
    Slug = fields.Function(lambda gear: slug(_name(gear)), metadata=_TEXT)
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
    Favorite = fields.Constant(False, metadata=_FLAG)
    PhotoCount = fields.Constant(0, metadata=_NUMBER)
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
    Slug = fields.Function(lambda album: slug(album.title), metadata=_TEXT)
    Type = fields.String(attribute="type")
    Title = fields.String(attribute="title")
    Description = fields.String(attribute="description")
    Filter = fields.String(attribute="filter")
    Order = fields.String(attribute="order")
    Year: fields.Field[int] = fields.Constant(-1, metadata=_NUMBER)
    Month: fields.Field[int] = fields.Constant(-1, metadata=_NUMBER)
    Day = fields.Constant(-1, metadata=_NUMBER)
    Favorite = fields.Boolean(attribute="favorite")
    Private = fields.Boolean(attribute="private")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")
    DeletedAt = NullableTimestamp(attribute="deleted_at")


class FileEntitySchema(FileSchema):
    """Dumps what `FileSchema` dumps, and what else strict clients read of a file."""

    TakenAt = Timestamp(attribute="photo.taken_at")
    MediaUTC = fields.Function(lambda file: _milliseconds(file.photo.taken_at), metadata=_NUMBER)
    TimeIndex = _text()  # a sort key of PhotoPrism, like `MediaID`
    MediaID = _text()
    InstanceID = fields.String(attribute="instance_id")
    OriginalName = fields.String(attribute="original_name")
    Sidecar = fields.Boolean(attribute="sidecar")
    Missing = fields.Boolean(attribute="missing")
    Portrait = fields.Boolean(attribute="portrait")
    Video = fields.Function(lambda file: file.media_type == "video", metadata=_FLAG)
    Duration = fields.Integer(attribute="duration_ns")
    FPS = Decimal(places=3, attribute="fps")
    Frames = fields.Integer(attribute="frames")
    OrientationSrc = fields.String(attribute="orientation_src")
    Projection = fields.String(attribute="projection")
    ColorProfile = fields.String(attribute="color_profile")
    MainColor = fields.Function(lambda file: _color(file.main_color), metadata=_TEXT)
    HDR = fields.Constant(False, metadata=_FLAG)
    Watermark = fields.Constant(False, metadata=_FLAG)
    Software = fields.String(attribute="photo.software")
    Error = fields.Function(lambda file: file.problem.sentence if file.problem else "", metadata=_TEXT)
    # Unix seconds; a text, because the one published client that reads this record refuses a number.
    ModTime = fields.Function(lambda file: str(file.mtime_ns // 10**9), metadata=_TEXT)
    CreatedIn = fields.Constant(0, metadata=_NUMBER)
    UpdatedIn = fields.Constant(0, metadata=_NUMBER)
    PublishedAt = _never()
    DeletedAt = _never()


class PhotoLabelSchema(Schema):
    """Dumps a keyword of a photo, given both as a pair."""

    PhotoID = fields.Function(lambda pair: pair[0].id, metadata=_NUMBER)
    LabelID = fields.Function(lambda pair: pair[1].id, metadata=_NUMBER)
    LabelSrc = fields.Function(lambda pair: MANUAL if "keywords" in pair[0].manual.split() else "", metadata=_TEXT)
    Uncertainty = fields.Constant(0, metadata=_NUMBER)
    Label = fields.Function(lambda pair: _label(pair[1]), metadata={"type": "object"})


def _label(keyword: Any) -> dict[str, Any]:  # noqa: ANN401
    name = slug(keyword.word)
    named = {"Name": keyword.word, "Slug": name, "CustomSlug": name, "Favorite": keyword.favorite, "Priority": 0}
    return {"ID": keyword.id, "UID": keyword.uid, **named}


_dump_photo_label: Final = compile_schema(PhotoLabelSchema())


class PhotoSchema(PhotoResultSchema):
    """Dumps what `PhotoResultSchema` dumps, with the `albums` of the photo and all records it refers to."""

    TitleSrc = fields.String(attribute="photo.title_src")
    DescriptionSrc = fields.String(attribute="photo.description_src")
    Rating = fields.Integer(attribute="photo.rating")
    DeletedAt = NullableTimestamp(attribute="photo.archived_at")
    Details = fields.Nested(DetailsSchema, attribute="photo", dump_only=True)
    Camera = fields.Nested(CameraSchema, attribute="photo.camera")
    Lens = fields.Nested(LensSchema, attribute="photo.lens")
    Cell = fields.Nested(CellSchema, attribute="photo", dump_only=True)
    Place = fields.Nested(PlaceSchema, attribute="photo.place")
    Albums = fields.List(fields.Nested(AlbumSchema), attribute="albums")
    Labels = fields.Function(
        lambda entity: [_dump_photo_label((entity.photo, keyword)) for keyword in entity.photo.keywords],
        metadata={"type": "array", "items": {"type": "object"}},
    )
