"""The photo search result of spec section 2.2, the file record of section 2.3, and the markers in it."""

from typing import Any

from marshmallow import Schema, fields, post_dump

from photosvc.records.fields import Decimal, Timestamp


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


#: Left out when empty: fields that PhotoPrism sends and spec section 2.2 does not list.
OPTIONAL = ("DocumentID", "Rating", "Faces", "Altitude", "Duration", "CameraType", "LensMake")


class PhotoResultSchema(Schema):
    """Dumps an object with the attributes `photo` (with its camera, lens and place), `file`, `merged` and `files`."""

    ID = fields.String(attribute="id")
    DocumentID = fields.String(attribute="photo.document_id")
    UID = fields.String(attribute="photo.uid")
    Type = fields.String(attribute="photo.type")
    TypeSrc = fields.String(attribute="photo.type_src")
    TakenAt = Timestamp(attribute="photo.taken_at")
    TakenAtLocal = Timestamp(attribute="photo.taken_at_local")
    TakenSrc = fields.String(attribute="photo.taken_src")
    TimeZone = fields.String(attribute="photo.time_zone")
    Path = fields.String(attribute="photo.path")
    Name = fields.String(attribute="photo.name")
    OriginalName = fields.String(attribute="photo.original_name")
    Title = fields.String(attribute="photo.title")
    Description = fields.String(attribute="photo.description")
    Year = fields.Integer(attribute="photo.year")
    Month = fields.Integer(attribute="photo.month")
    Day = fields.Integer(attribute="photo.day")
    Country = fields.String(attribute="photo.country")
    Stack = fields.Integer(attribute="photo.stack")
    Favorite = fields.Boolean(attribute="photo.favorite")
    Private = fields.Boolean(attribute="photo.private")
    Rating = fields.Integer(attribute="photo.rating")
    Iso = fields.Integer(attribute="photo.iso")
    FocalLength = fields.Integer(attribute="photo.focal_length")
    FNumber = Decimal(places=2, attribute="photo.f_number")
    Exposure = fields.String(attribute="photo.exposure")
    Faces = fields.Integer(attribute="faces")
    Quality = fields.Integer(attribute="photo.quality")
    Resolution = fields.Integer(attribute="photo.resolution")
    Duration = fields.Integer(attribute="photo.duration_ns")
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
    Altitude = fields.Integer(attribute="photo.altitude")
    Lat = Decimal(places=7, attribute="photo.lat")
    Lng = Decimal(places=7, attribute="photo.lng")
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
    FileName = fields.String(attribute="file.name")
    Hash = fields.String(attribute="file.hash")
    Width = fields.Integer(attribute="file.width")
    Height = fields.Integer(attribute="file.height")
    Portrait = fields.Boolean(attribute="file.portrait")
    CreatedAt = Timestamp(attribute="photo.created_at")
    UpdatedAt = Timestamp(attribute="photo.updated_at")
    EditedAt = Timestamp(attribute="photo.edited_at")
    CheckedAt = Timestamp(attribute="photo.checked_at")
    # Last: the fields before are stored as text, to which these two are appended (`search.reading.paging.documents`).
    Merged = fields.Boolean(attribute="merged")
    Files = fields.List(fields.Nested(FileSchema), attribute="files")

    @post_dump
    def _without_empty(self, record: dict[str, Any], **_: Any) -> dict[str, Any]:  # noqa: ANN401
        return without_empty(record)


def without_empty(record: dict[str, Any]) -> dict[str, Any]:
    """The record itself, from which the empty ones of the `OPTIONAL` fields were removed."""
    for name in OPTIONAL:
        if not record[name]:
            del record[name]
    return record
