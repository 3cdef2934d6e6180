"""Records of photos, files and markers: short ones for search results, and full ones for single photos.

Strict clients refuse a record that lacks a field of PhotoPrism. Fields for which this library has no value are constant
and empty.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields, post_dump

from photosvc.core.times import ZERO_TIME
from photosvc.core.vocabulary import COLORS, UNKNOWN
from photosvc.records.fields import (
    FLAG,
    NUMBER,
    TEXT,
    Decimal,
    NullableTimestamp,
    Timestamp,
    about,
    compile_schema,
    constant,
    never,
)

#: Fields of PhotoPrism that are left out of search results if they are empty.
OPTIONAL = ("DocumentID", "Rating", "Faces", "Altitude", "Duration", "CameraType", "LensMake")
#: Fields of files that are left out of `Files` if they are empty.
OPTIONAL_OF_FILES = ("Sidecar", "Video", "Duration", "FPS", "Frames")
_SEPARATORS: Final = re.compile(r"[\W_]+")


class MarkerSchema(Schema):
    """A named area of a picture; lengths are relative to the upright picture, from the top left."""

    UID = fields.String(attribute="uid")
    FileUID = fields.String(attribute="file.uid")
    Type = fields.String(attribute="type")
    Src = fields.String(attribute="src")
    Name = fields.String(attribute="name")
    SubjUID = fields.String(attribute="subject_uid")
    X = Decimal(places=5, attribute="x")
    Y = Decimal(places=5, attribute="y")
    W = Decimal(places=5, attribute="w")
    H = Decimal(places=5, attribute="h")
    CreatedAt = Timestamp(attribute="created_at")


class FileSchema(Schema):
    """A file, dumped from an object with its `photo` and `markers`."""

    UID = fields.String(attribute="uid")
    PhotoUID = fields.String(attribute="photo.uid")
    Name = fields.String(attribute="name", metadata=about("Path relative to the root."))
    Root = fields.String(attribute="root")
    Hash = fields.String(attribute="hash", metadata=about("SHA-1, 40 hexadecimal digits."))
    Size = fields.Integer(attribute="size", metadata=about("Bytes."))
    Primary = fields.Boolean(attribute="primary")
    Codec = fields.String(attribute="codec")
    FileType = fields.String(attribute="file_type")
    MediaType = fields.String(attribute="media_type")
    Mime = fields.String(attribute="mime")
    Sidecar = fields.Boolean(attribute="sidecar")
    Video = fields.Function(lambda file: file.media_type == "video", metadata=FLAG)
    Duration = fields.Integer(attribute="duration_ns", metadata=about("Nanoseconds."))
    FPS = Decimal(places=3, attribute="fps")
    Frames = fields.Integer(attribute="frames")
    Width = fields.Integer(attribute="width", metadata=about("Pixels."))
    Height = fields.Integer(attribute="height", metadata=about("Pixels."))
    Orientation = fields.Integer(attribute="orientation")
    AspectRatio = Decimal(places=2, attribute="aspect_ratio")
    Colors = fields.String(attribute="colors")
    Luminance = fields.String(attribute="luminance")
    Diff = fields.Integer(attribute="diff")
    Chroma = fields.Integer(attribute="chroma")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")
    ModTime: fields.Field[Any] = fields.Function(
        lambda file: file.mtime_ns // 10**9, metadata={"type": "integer", "description": "Unix time in seconds."}
    )
    Markers = fields.List(fields.Nested(MarkerSchema), attribute="markers")


class PhotoResultSchema(Schema):
    """A search result, dumped from `photo` (with its camera, lens and place), `file`, `merged` and `files`."""

    ID = fields.String(attribute="id")
    DocumentID = fields.String(attribute="photo.document_id")
    UID = fields.String(attribute="photo.uid")
    Type = fields.String(attribute="photo.type")
    TypeSrc = fields.String(attribute="photo.type_src")
    TakenAt = Timestamp(attribute="photo.taken_at", metadata=about("In UTC."))
    TakenAtLocal = Timestamp(
        attribute="photo.taken_at_local",
        metadata=about("The local time where the photo was taken, without a time zone."),
    )
    TakenSrc = fields.String(attribute="photo.taken_src")
    TimeZone = fields.String(attribute="photo.time_zone")
    Path = fields.String(attribute="photo.path")
    Name = fields.String(attribute="photo.name")
    OriginalName = fields.String(attribute="photo.original_name")
    Title = fields.String(attribute="photo.title")
    Description = fields.String(attribute="photo.description")
    Caption = fields.String(
        attribute="photo.description", dump_only=True, metadata=about("The newer name of `Description`.")
    )
    Year = fields.Integer(attribute="photo.year", metadata=about("-1 if it is unknown."))
    Month = fields.Integer(attribute="photo.month", metadata=about("-1 if it is unknown."))
    Day = fields.Integer(attribute="photo.day", metadata=about("-1 if it is unknown."))
    Country = fields.String(attribute="photo.country", metadata=about("Code of the country; `zz` if it is unknown."))
    Stack = fields.Integer(attribute="photo.stack")
    Favorite = fields.Boolean(attribute="photo.favorite")
    Private = fields.Boolean(attribute="photo.private")
    Rating = fields.Integer(attribute="photo.rating")
    Iso = fields.Integer(attribute="photo.iso")
    FocalLength = fields.Integer(attribute="photo.focal_length", metadata=about("Millimetres."))
    FNumber = Decimal(places=2, attribute="photo.f_number")
    Exposure = fields.String(attribute="photo.exposure")
    Faces = fields.Integer(attribute="file.faces")
    Quality = fields.Integer(attribute="photo.quality")
    Resolution = fields.Integer(attribute="photo.resolution", metadata=about("Megapixels."))
    Duration = fields.Integer(attribute="photo.duration_ns", metadata=about("Nanoseconds."))
    Color = fields.Integer(attribute="photo.color")
    Scan = fields.Boolean(attribute="photo.scan")
    Panorama = fields.Boolean(attribute="photo.panorama")
    CameraID = fields.Integer(attribute="photo.camera_id")
    CameraSrc = fields.String(attribute="photo.camera_src")
    CameraSerial = fields.String(attribute="photo.camera_serial")
    CameraMake = fields.String(attribute="photo.camera.make")
    CameraModel = fields.String(attribute="photo.camera.model")
    CameraType = fields.String(attribute="photo.camera.type")
    LensID = fields.Integer(attribute="photo.lens_id")
    LensMake = fields.String(attribute="photo.lens.make")
    LensModel = fields.String(attribute="photo.lens.model")
    Altitude = fields.Integer(attribute="photo.altitude", metadata=about("Metres."))
    Lat = Decimal(places=7, attribute="photo.lat", metadata=about("Degrees; 0, like `Lng`, if the place is unknown."))
    Lng = Decimal(places=7, attribute="photo.lng", metadata=about("Degrees; 0, like `Lat`, if the place is unknown."))
    CellID = fields.String(attribute="photo.cell_id")
    PlaceID = fields.String(attribute="photo.place_id")
    PlaceSrc = fields.String(attribute="photo.place_src")
    PlaceLabel = fields.String(attribute="photo.place.label")
    PlaceCity = fields.String(attribute="photo.place.city")
    PlaceState = fields.String(attribute="photo.place.state")
    PlaceCountry = fields.String(attribute="photo.place.country")
    InstanceID = fields.String(attribute="file.instance_id")
    FileUID = fields.String(attribute="file.uid")
    FileRoot = fields.String(attribute="file.root")
    FileName = fields.String(attribute="file.name", metadata=about("Path relative to the root."))
    Hash = fields.String(attribute="file.hash", metadata=about("SHA-1, 40 hexadecimal digits."))
    Mime = fields.String(attribute="file.mime")
    Width = fields.Integer(attribute="file.width", metadata=about("Pixels."))
    Height = fields.Integer(attribute="file.height", metadata=about("Pixels."))
    Portrait = fields.Boolean(attribute="file.portrait")
    CreatedAt = Timestamp(attribute="photo.created_at")
    UpdatedAt = Timestamp(attribute="photo.updated_at")
    EditedAt = Timestamp(attribute="photo.edited_at")
    CheckedAt = Timestamp(attribute="photo.checked_at")
    # The last fields: pages of a search append them to the stored text of all other fields (`search.reading.pages`).
    Merged = fields.Boolean(attribute="merged")
    Files = fields.List(fields.Nested(FileSchema), attribute="files")

    @post_dump
    def _without_empty(self, record: dict[str, Any], **_: Any) -> dict[str, Any]:  # noqa: ANN401
        return without_empty(record)


def without_empty(record: dict[str, Any], optional: Sequence[str] = OPTIONAL) -> dict[str, Any]:
    """Remove the `optional` fields that are empty, also those of its `Files`, and return the same record."""
    for name in optional:
        if not record[name]:
            del record[name]
    for file in record.get("Files", ()):
        without_empty(file, OPTIONAL_OF_FILES)
    return record


def _name(model: Any) -> str:  # noqa: ANN401 - records do not import models
    return f"{model.make} {model.model}".strip() or UNKNOWN


def slug(text: str) -> str:
    """Return a name as a part of an address."""
    return _SEPARATORS.sub("-", text.casefold()).strip("-") or UNKNOWN.lower()


def _milliseconds(moment: datetime) -> int:
    """Return the Unix time in milliseconds; 0 for an unset time."""
    return 0 if moment == ZERO_TIME else int(moment.timestamp() * 1000)


class DetailsSchema(Schema):
    """The texts of a photo."""

    Keywords = fields.Function(lambda photo: ", ".join(keyword.word for keyword in photo.keywords), metadata=TEXT)
    KeywordsSrc = fields.String(attribute="keywords_src")
    Notes = fields.String(attribute="notes")
    NotesSrc = fields.String(attribute="notes_src")
    Subject = fields.String(attribute="subject")
    SubjectSrc = fields.String(attribute="subject_src")
    Artist = fields.String(attribute="artist")
    ArtistSrc = fields.String(attribute="artist_src")
    Copyright = fields.String(attribute="copyright")
    CopyrightSrc = fields.String(attribute="copyright_src")
    License = fields.String(attribute="license")
    LicenseSrc = fields.String(attribute="license_src")
    Software = fields.String(attribute="software")
    SoftwareSrc = constant("")


class _ModelSchema(Schema):
    ID = fields.Integer(attribute="id")
    Slug = fields.Function(lambda model: slug(_name(model)), metadata=TEXT)
    Name = fields.Function(_name, metadata=TEXT)
    Make = fields.String(attribute="make")
    Model = fields.String(attribute="model")


class CameraSchema(_ModelSchema):
    """A camera model."""

    Type = fields.String(attribute="type")


class LensSchema(_ModelSchema):
    """A lens model."""

    Type = constant("")


class PlaceSchema(Schema):
    """A town or region."""

    PlaceID = fields.String(attribute="id")
    Label = fields.String(attribute="label")
    District = constant("")
    City = fields.String(attribute="city")
    State = fields.String(attribute="state")
    Country = fields.String(attribute="country")
    Keywords = constant("")
    Favorite = constant(False)
    PhotoCount = constant(0)
    CreatedAt = never()
    UpdatedAt = never()


class CellSchema(Schema):
    """The S2 cell and the place of a photo."""

    ID = fields.String(attribute="cell_id")
    Name = constant("")
    Street = constant("")
    Postcode = constant("")
    Category = constant("")
    Place = fields.Nested(PlaceSchema, attribute="place")
    CreatedAt = never()
    UpdatedAt = never()


class AlbumSchema(Schema):
    """An album."""

    ID = fields.Integer(attribute="id")
    UID = fields.String(attribute="uid")
    Slug = fields.Function(lambda album: slug(album.title), metadata=TEXT)
    Type = fields.String(attribute="type")
    Title = fields.String(attribute="title")
    Description = fields.String(attribute="description")
    Filter = fields.String(attribute="filter")
    Order = fields.String(attribute="order")
    Year: fields.Field[int] = constant(-1)
    Month: fields.Field[int] = constant(-1)
    Day = constant(-1)
    Favorite = fields.Boolean(attribute="favorite")
    Private = fields.Boolean(attribute="private")
    CreatedAt = Timestamp(attribute="created_at")
    UpdatedAt = Timestamp(attribute="updated_at")
    DeletedAt = NullableTimestamp(attribute="deleted_at")


class FileEntitySchema(FileSchema):
    """A file with the fields of `FileSchema` and further fields that strict clients require."""

    TakenAt = Timestamp(attribute="photo.taken_at")
    MediaUTC = fields.Function(lambda file: _milliseconds(file.photo.taken_at), metadata=NUMBER)
    TimeIndex = constant("")  # a sort key of PhotoPrism, like `MediaID`
    MediaID = constant("")
    InstanceID = fields.String(attribute="instance_id")
    OriginalName = fields.String(attribute="original_name")
    Missing = fields.Boolean(attribute="missing")
    Portrait = fields.Boolean(attribute="portrait")
    OrientationSrc = fields.String(attribute="orientation_src")
    Projection = fields.String(attribute="projection")
    ColorProfile = fields.String(attribute="color_profile")
    MainColor = fields.Function(lambda file: COLORS[file.main_color] if file.main_color >= 0 else "", metadata=TEXT)
    HDR = constant(False)
    Watermark = constant(False)
    Software = fields.String(attribute="photo.software")
    Error = fields.Function(lambda file: file.problem.sentence if file.problem else "", metadata=TEXT)
    # Unix seconds; a text, because the one published client that reads this record refuses a number.
    ModTime = fields.Function(lambda file: str(file.mtime_ns // 10**9), metadata=TEXT)
    CreatedIn = constant(0)
    UpdatedIn = constant(0)
    PublishedAt = never()
    DeletedAt = never()


class PhotoLabelSchema(Schema):
    """A keyword of a photo, or a label that was seen in its picture, dumped from the photo and the label."""

    PhotoID = fields.Function(lambda pair: pair[0].id, metadata=NUMBER)
    LabelID = fields.Function(lambda pair: pair[1].id, metadata=NUMBER)
    LabelSrc = fields.Function(lambda pair: getattr(pair[1], "src", pair[0].keywords_src), metadata=TEXT)
    Uncertainty = fields.Function(
        lambda pair: getattr(pair[1], "uncertainty", 0),
        metadata={"type": "integer", "description": "Percent; 0 for keywords."},
    )
    Label = fields.Function(lambda pair: _label(pair[1]), metadata={"type": "object"})


def _label(keyword: Any) -> dict[str, Any]:  # noqa: ANN401
    name = slug(keyword.word)
    named = {"Name": keyword.word, "Slug": name, "CustomSlug": name, "Favorite": keyword.favorite, "Priority": 0}
    return {"ID": keyword.id, "UID": keyword.uid, **named}


_dump_photo_label: Final = compile_schema(PhotoLabelSchema())


class PhotoSchema(PhotoResultSchema):
    """A photo with the fields of `PhotoResultSchema`, its `albums` and all records that it refers to."""

    TitleSrc = fields.String(attribute="photo.title_src")
    DescriptionSrc = fields.String(attribute="photo.description_src")
    CaptionSrc = fields.String(attribute="photo.description_src", dump_only=True)
    Rating = fields.Integer(attribute="photo.rating")
    DeletedAt = NullableTimestamp(attribute="photo.archived_at")
    Details = fields.Nested(DetailsSchema, attribute="photo", dump_only=True)
    Camera = fields.Nested(CameraSchema, attribute="photo.camera")
    Lens = fields.Nested(LensSchema, attribute="photo.lens")
    Cell = fields.Nested(CellSchema, attribute="photo", dump_only=True)
    Place = fields.Nested(PlaceSchema, attribute="photo.place")
    Albums = fields.List(fields.Nested(AlbumSchema), attribute="albums")
    Labels = fields.Function(
        lambda entity: [
            _dump_photo_label((entity.photo, label)) for label in (*entity.photo.keywords, *entity.photo.seen)
        ],
        metadata={"type": "array", "items": {"type": "object"}},
    )
