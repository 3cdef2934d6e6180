"""What people send to change a photo."""

from datetime import UTC, datetime
from typing import Any, Final

from marshmallow import EXCLUDE, ValidationError, fields, validate

from photosvc.records.fields import AnyCaseSchema, CleanText, clean_text

#: Longest texts, in characters, as in the metadata of files.
_SHORT, _TITLE, _LONG = 255, 200, 4096
_MOST_KEYWORDS: Final = 256
#: How the OpenAPI document has times.
_TIME: Final = {"type": "string", "format": "date-time"}
#: How it has keywords.
KEYWORDS: Final = {"type": ["string", "array"], "items": {"type": "string", "maxLength": _SHORT}}
TYPES: Final = ("image", "raw", "live", "video", "animated")


def _text(most: int, **kwargs: Any) -> CleanText:  # noqa: ANN401
    return CleanText(most, allow_none=True, **kwargs)


class _Time(fields.Field[datetime]):
    """A time as RFC 3339 has it, in whole seconds; without an offset it is UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:  # noqa: ANN401, ARG002
        try:
            moment = datetime.fromisoformat(value).replace(microsecond=0)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            msg = "send a time such as 2023-05-01T10:00:00Z"
            raise ValidationError(msg) from None


class Keywords(fields.Field[list[str]]):
    """Keywords, separated by commas or as a list."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401, ARG002
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            msg = "send keywords separated by commas, or a list of them"
            raise ValidationError(msg)
        clean = [text for word in words if (text := clean_text(word))]
        if len(clean) > _MOST_KEYWORDS or any(len(word) > _SHORT for word in clean):
            msg = f"at most {_MOST_KEYWORDS} keywords of {_SHORT} characters"
            raise ValidationError(msg)
        return clean


def _flag(name: str) -> fields.Boolean:
    return fields.Boolean(attribute=name, allow_none=True, truthy={True}, falsy={False})


def _number(name: str, least: int, most: int) -> fields.Integer:
    return fields.Integer(attribute=name, allow_none=True, strict=True, validate=validate.Range(least, most))


def _decimal(name: str, least: float, most: float) -> fields.Float:
    return fields.Float(attribute=name, allow_none=True, allow_nan=False, validate=validate.Range(least, most))


class DetailsEditSchema(AnyCaseSchema):
    """Loads the texts of a photo."""

    class Meta:
        """Unknown fields are ignored: clients send the whole record back."""

        unknown = EXCLUDE

    Keywords = Keywords(
        attribute="keywords",
        allow_none=True,
        metadata={
            **KEYWORDS,
            "description": f"Separated by commas, or a list; at most {_MOST_KEYWORDS}.",
            "example": "lake, boat",
        },
    )
    Notes = _text(_LONG, attribute="notes")
    Subject = _text(_SHORT, attribute="subject")
    Artist = _text(_SHORT, attribute="artist")
    Copyright = _text(_SHORT, attribute="copyright")
    License = _text(_SHORT, attribute="license")


class PhotoEditSchema(AnyCaseSchema):
    """Loads changes of a photo: fields that are absent stay, null gives a value back to what the files say."""

    class Meta:
        """Unknown fields are ignored: clients send the whole record back."""

        unknown = EXCLUDE

    Title = _text(_TITLE, attribute="title", metadata={"example": "At the lake"})
    Description = _text(_LONG, attribute="description")
    TakenAt = _Time(attribute="taken_at", allow_none=True, metadata=_TIME)
    TakenAtLocal = _Time(attribute="taken_at_local", allow_none=True, metadata=_TIME)
    TimeZone = _text(64, attribute="time_zone")
    Year = _number("year", -1, 9999)
    Month = _number("month", -1, 12)
    Day = _number("day", -1, 31)
    Lat = _decimal("lat", -90, 90)
    Lng = _decimal("lng", -180, 180)
    Altitude = _number("altitude", -100_000, 100_000)
    Country = fields.String(attribute="country", allow_none=True, validate=validate.Regexp(r"[a-z]{2}\Z"))
    CameraID = _number("camera_id", 1, 2**31 - 1)
    CameraMake = _text(_SHORT, attribute="camera_make")
    CameraModel = _text(_SHORT, attribute="camera_model")
    LensID = _number("lens_id", 1, 2**31 - 1)
    LensMake = _text(_SHORT, attribute="lens_make")
    LensModel = _text(_SHORT, attribute="lens_model")
    Iso = _number("iso", 0, 2**31 - 1)
    FocalLength = _number("focal_length", 0, 100_000)
    FNumber = _decimal("f_number", 0, 10_000)
    Exposure = _text(32, attribute="exposure")
    Type = fields.String(attribute="type", allow_none=True, validate=validate.OneOf(TYPES))
    Rating = _number("rating", -1, 5)
    Stack = _number("stack", -1, 1)
    OriginalName = _text(_SHORT, attribute="original_name")
    Favorite = _flag("favorite")
    Private = _flag("private")
    Scan = _flag("scan")
    Panorama = _flag("panorama")
    Details = fields.Nested(DetailsEditSchema, attribute="details", allow_none=True)


class OrientationSchema(AnyCaseSchema):
    """Loads how a file is turned."""

    class Meta:
        """Unknown fields are ignored."""

        unknown = EXCLUDE

    Orientation = fields.Integer(
        attribute="orientation",
        required=True,
        allow_none=True,
        strict=True,
        validate=validate.Range(1, 8),
        metadata={"example": 6},
    )
