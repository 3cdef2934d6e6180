"""Changes of one photo or many: requests, the entries of a photo's history, and records as YAML.

Records as YAML 1.2 have blocks and quoted texts, so that no text is read as a number, a date or a tag.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from marshmallow import RAISE, Schema, ValidationError, fields, post_load, pre_load, validate

from photosvc.core.message import Message
from photosvc.core.text import clean_line
from photosvc.core.times import LONGEST_ZONE
from photosvc.records import limits
from photosvc.records.fields import (
    PHOTO_UID,
    AnyCaseSchema,
    Flag,
    Line,
    Lines,
    Timestamp,
    about,
    texts,
    whole_number_field,
)

#: The type of times in the OpenAPI document.
_TIME: Final = {"type": "string", "format": "date-time", "pattern": r"^\d{4}-"}
#: The type of keywords in the OpenAPI document.
KEYWORDS: Final = {"type": ["string", "array"], "items": {"type": "string", "maxLength": limits.KEYWORD}}
TYPES: Final = ("image", "raw", "live", "video", "animated")
_VALUES = {"type": "object"}
#: Actions of the values of a batch.
_UPDATE, _LEAVE = "update", "none"
#: A hundred years in seconds.
_LONGEST_SHIFT = 100 * 366 * 86_400
#: Characters that YAML allows only escaped, or reads as the end of a line.
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def _line(most: int, **kwargs: Any) -> Line:  # noqa: ANN401
    return Line(most, allow_none=True, **kwargs)


def _lines_of(name: str, **kwargs: Any) -> Lines:  # noqa: ANN401
    return Lines(limits.TEXT, attribute=name, allow_none=True, **kwargs)


class _Time(fields.Field[datetime]):
    """A time in the format of RFC 3339, in whole seconds; without an offset it is UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:  # noqa: ANN401, ARG002
        try:
            moment = datetime.fromisoformat(value).replace(microsecond=0)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            raise ValidationError("use a time such as 2023-05-01T10:00:00Z") from None


class Keywords(fields.Field[list[str]]):
    """A field of keywords, separated by commas or as a list."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401, ARG002
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValidationError("send keywords separated by commas, or a list of them")
        clean = [text for word in words if (text := clean_line(word))]
        if len(clean) > limits.KEYWORDS or any(len(word) > limits.KEYWORD for word in clean):
            raise ValidationError(
                Message("at most {most} keywords of {length} characters", most=limits.KEYWORDS, length=limits.KEYWORD)
            )
        if sum(len(word.encode()) for word in clean) > limits.KEYWORD_BYTES:
            raise ValidationError(f"at most {limits.KEYWORD_BYTES} bytes in all (UTF-8)")
        return clean


def _number(name: str, least: int, most: int, **options: Any) -> fields.Integer:  # noqa: ANN401
    bounds = validate.Range(least, most)
    return fields.Integer(attribute=name, allow_none=True, strict=True, validate=bounds, **options)


def _decimal(name: str, least: float, most: float) -> fields.Float:
    return fields.Float(attribute=name, allow_none=True, allow_nan=False, validate=validate.Range(least, most))


class DetailsEditSchema(AnyCaseSchema):
    """Changes of the texts of a photo."""

    Keywords = Keywords(
        attribute="keywords",
        allow_none=True,
        metadata={
            **KEYWORDS,
            "description": f"Separated by commas, or a list; at most {limits.KEYWORDS}.",
            "example": "lake, boat",
        },
    )
    Notes = _lines_of("notes")
    Subject = _line(limits.LINE, attribute="subject")
    Artist = _line(limits.LINE, attribute="artist")
    Copyright = _line(limits.LINE, attribute="copyright")
    License = _line(limits.LINE, attribute="license")


_DETAILS: Final = tuple(field.attribute for field in DetailsEditSchema().fields.values())


class PhotoEditSchema(AnyCaseSchema):
    """Changes of a photo: absent fields keep their value, and null restores the value in the files."""

    Title = _line(limits.TITLE, attribute="title", metadata={"example": "At the lake"})
    Description = _lines_of("description")
    Caption = _lines_of("caption", metadata=about("The newer name of `Description`."))
    TakenAt = _Time(attribute="taken_at", allow_none=True, metadata=_TIME)
    TakenAtLocal = _Time(attribute="taken_at_local", allow_none=True, metadata=_TIME)
    TimeZone = _line(LONGEST_ZONE, attribute="time_zone")
    Year = _number("year", -1, 9999)
    Month = _number("month", -1, 12)
    Day = _number("day", -1, 31)
    Lat = _decimal("lat", -90, 90)
    Lng = _decimal("lng", -180, 180)
    Altitude = _number("altitude", -limits.ALTITUDE, limits.ALTITUDE)
    Country = fields.String(
        attribute="country",
        allow_none=True,
        validate=validate.Regexp(r"[a-z]{2}\Z", error="use the two letters of a country, such as ch"),
    )
    CameraID = _number("camera_id", 1, 2**31 - 1)
    CameraMake = _line(limits.LINE, attribute="camera_make")
    CameraModel = _line(limits.LINE, attribute="camera_model")
    LensID = _number("lens_id", 1, 2**31 - 1)
    LensMake = _line(limits.LINE, attribute="lens_make")
    LensModel = _line(limits.LINE, attribute="lens_model")
    Iso = _number("iso", 0, limits.ISO)
    FocalLength = _number("focal_length", 0, limits.FOCAL_LENGTH)
    FNumber = _decimal("f_number", 0, limits.F_NUMBER)
    Exposure = _line(limits.EXPOSURE, attribute="exposure")
    Type = fields.String(attribute="type", allow_none=True, validate=validate.OneOf(TYPES))
    Rating = _number("rating", limits.LOWEST_RATING, limits.HIGHEST_RATING)
    Stack = _number("stack", -1, 1)
    OriginalName = _line(limits.LINE, attribute="original_name")
    Favorite = Flag(attribute="favorite", allow_none=True)
    Private = Flag(attribute="private", metadata=about("Not null: files do not decide whether a photo is private."))
    Scan = Flag(attribute="scan", allow_none=True)
    Panorama = Flag(attribute="panorama", allow_none=True)
    Details = fields.Nested(DetailsEditSchema, attribute="details", allow_none=True)

    @post_load
    def _flatten(self, values: dict[str, Any], **_: object) -> dict[str, Any]:
        """Put the texts of `Details` beside the other values; null restores all texts."""
        details = values.pop("details", {})
        return {**values, **(dict.fromkeys(_DETAILS) if details is None else details)}


class OrientationSchema(AnyCaseSchema):
    """The orientation that a person chooses for a file."""

    Orientation = _number("orientation", 1, 8, required=True, metadata={"example": 6})


class ChangeSchema(Schema):
    """A change of a photo: its author, its time, and the values that differ."""

    ID = fields.Integer(attribute="id")
    Action = fields.String(attribute="action")
    Undoes = fields.Integer(attribute="undoes", allow_none=True)
    ActorUID = fields.String(attribute="actor_uid")
    ActorName = fields.String(attribute="actor_name")
    CreatedAt = Timestamp(attribute="created_at")
    Before = fields.Raw(attribute="before", metadata=_VALUES)
    After = fields.Raw(attribute="after", metadata=_VALUES)


class BatchSchema(AnyCaseSchema):
    """The photos of a batch, as known clients send selections of all kinds."""

    photos = texts("Photo UIDs.", PHOTO_UID)
    q = fields.String(load_default=None, allow_none=True, metadata=about("A query instead of UIDs."))
    expected = whole_number_field("The number of photos that `q` must find; otherwise nothing is changed.", 0)


class StackingSchema(AnyCaseSchema):
    """The photos of a stack."""

    photos = texts("UIDs of two photos or more, the one that shows the stack first.", PHOTO_UID)


class PrivateBatchSchema(BatchSchema):
    """A batch that makes photos private or public."""

    private = Flag(
        load_default=None,
        allow_none=True,
        metadata=about("Without it, private photos become public and the others private.", True),
    )


class BatchValuesSchema(PhotoEditSchema):
    """Changes of many photos, each a value or an object with `action` and `value`, as some clients send them."""

    class Meta:
        """Options: refuse values that no batch changes."""

        unknown = RAISE

    error_messages = {  # noqa: RUF012 - an attribute of instances in Marshmallow
        "unknown": "A batch does not change this value. Send labels as add_keywords and remove_keywords, and the "
        "photos of an album to /albums/<uid>/photos."
    }

    Details = fields.Nested(DetailsEditSchema, attribute="details", allow_none=True, unknown=RAISE)
    DetailsKeywords = Keywords(attribute="keywords", allow_none=True, metadata=KEYWORDS)
    DetailsNotes = _lines_of("notes")
    DetailsSubject = _line(limits.LINE, attribute="subject")
    DetailsArtist = _line(limits.LINE, attribute="artist")
    DetailsCopyright = _line(limits.LINE, attribute="copyright")
    DetailsLicense = _line(limits.LINE, attribute="license")

    @pre_load
    def _by_action(self, data: Any, **_: object) -> Any:  # noqa: ANN401 - a value that is no object is refused later
        if not isinstance(data, dict):
            return data
        changes = {
            name: value if isinstance(value, dict) and "action" in value else {"action": _UPDATE, "value": value}
            for name, value in data.items()
        }
        unknown = [
            name
            for name, change in changes.items()
            if change["action"] != _LEAVE and not (change["action"] == _UPDATE and "value" in change)
        ]
        if unknown:
            raise ValidationError(f"action is {_UPDATE}, with a value, or {_LEAVE}", field_name=str(unknown[0]))
        return {name: change["value"] for name, change in changes.items() if change["action"] == _UPDATE}


class EditBatchSchema(BatchSchema):
    """A batch that gives photos the same values."""

    class Meta:
        """Options: refuse unknown members."""

        unknown = RAISE

    @pre_load
    def _without_empty_selections(self, data: Any, **_: object) -> Any:  # noqa: ANN401 - refused if it is no object
        """Ignore empty selections of other kinds, such as `"albums": []`, which some clients send."""
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value or name.lower() in self.fields}

    values = fields.Nested(
        BatchValuesSchema,
        load_default=dict,
        metadata=about(
            "New values, each by itself or as an object with the action `update` and the `value`; "
            "the action `none` changes nothing."
        ),
    )
    add_keywords = Keywords(
        load_default=(), metadata={**KEYWORDS, "description": "Keywords to add to each photo.", "example": "lake, boat"}
    )
    remove_keywords = Keywords(
        load_default=(), metadata={**KEYWORDS, "description": "Keywords to remove from each photo, after adding."}
    )
    shift = fields.Integer(
        load_default=0,
        strict=True,
        validate=validate.Range(-_LONGEST_SHIFT, _LONGEST_SHIFT),
        metadata=about("Seconds by which each time is moved, as for a camera whose clock was wrong."),
    )


class UndoBatchSchema(BatchSchema):
    """A batch of photos on which an edit is undone."""

    change = fields.Integer(
        required=True,
        strict=True,
        validate=validate.Range(1, 2**63 - 1),
        metadata=about("The `change` in the answer to the edit."),
    )


def yaml_text(record: dict[str, Any]) -> str:
    """Return a JSON object as YAML, its members in their order."""
    return "\n".join(_lines(record, 0)) + "\n"


def _lines(value: dict[str, Any] | list[Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _entry(f"{indent}{name}:", member, depth)
    else:
        for item in value:
            yield from _entry(f"{indent}-", item, depth)


def _entry(begin: str, value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, dict | list) and value:
        yield begin
        yield from _lines(value, depth + 1)
    else:
        text = json.dumps(value, ensure_ascii=False)
        text = _UNPRINTABLE.sub(lambda character: f"\\u{ord(character[0]):04x}", text)
        yield f"{begin} {text}"
