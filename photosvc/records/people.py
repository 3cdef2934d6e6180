"""Records of people and labels, and of requests to change them."""

import re
from datetime import date
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from photosvc.records import limits
from photosvc.records.fields import (
    FILE_UID,
    LABEL_UID,
    NUMBER,
    TEXT,
    AnyCaseSchema,
    Decimal,
    Flag,
    Line,
    about,
    constant,
    never,
    texts,
)
from photosvc.records.photos import slug

#: The least width and height of a marked area; the address of its thumbnail counts in this unit.
_SMALLEST: Final = 0.001
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_BIRTH_DATE: Final = {
    "type": "string", "description": "The birth date; empty if it is unknown.", "example": "1950-12-31",
}  # fmt: skip


def _length(name: str, least: float, most: float, example: float) -> Decimal:
    bounds = validate.Range(least, most)
    return Decimal(places=5, attribute=name, required=True, validate=bounds, metadata={"example": example})


class _NamedSchema(Schema):
    UID = fields.String(attribute="uid")
    Slug = fields.Function(lambda thing: slug(thing.name), metadata=TEXT)
    Name = fields.String(attribute="name")
    Thumb = fields.String(attribute="thumb", metadata=about("The hash of the latest photo; empty without one."))
    ThumbSrc = constant("")
    Notes = constant("")
    Favorite = fields.Boolean(attribute="favorite")
    PhotoCount = fields.Integer(attribute="photo_count")
    CreatedAt = never()
    UpdatedAt = never()
    DeletedAt: fields.Field[Any] = fields.Constant(None, metadata=TEXT)


class _Date(fields.Field[Any]):
    """A day; an empty text is none."""

    def _serialize(self, value: date | None, attr: str | None, obj: Any, **kwargs: Any) -> str:  # noqa: ANN401, ARG002
        return value.isoformat() if value else ""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> date | str:  # noqa: ANN401, ARG002
        try:
            if value == "" or _DAY.fullmatch(value):
                return value and date.fromisoformat(value)
        except (TypeError, ValueError):
            pass
        raise ValidationError("use a date such as 1950-12-31, or an empty text for none")


class SubjectSchema(_NamedSchema):
    """A person."""

    Type = constant("person")
    Src = constant("marker")
    Alias = constant("")
    About = constant("")
    Hidden = fields.Boolean(attribute="hidden")
    BirthDate = _Date(attribute="birth_date", metadata=_BIRTH_DATE)
    Private = constant(False)
    Excluded = constant(False)
    FileCount = fields.Function(lambda person: person.photo_count, metadata=NUMBER)


class LabelSchema(_NamedSchema):
    """A keyword, which clients call a label."""

    ID = fields.Integer(attribute="id")
    CustomSlug = fields.Function(lambda label: slug(label.name), metadata=TEXT)
    Priority = constant(0)
    Description = constant("")


class LabelEntitySchema(LabelSchema):
    """A keyword after a change, with two times that strict clients require in addition."""

    PublishedAt = never()
    DeletedAt = never()


class _NamedEditSchema(AnyCaseSchema):
    """Changes of a person or label: the name, and the mark as a favourite."""

    Name = Line(limits.NAME, least=1, attribute="name", metadata={"example": "Ada Lovelace"})
    Favorite = Flag(attribute="favorite")


class SubjectEditSchema(_NamedEditSchema):
    """Changes of a person: the name, the birth date, and the marks as a favourite and as hidden."""

    Hidden = Flag(attribute="hidden", metadata=about("True leaves the person out of lists, facets and suggestions."))
    BirthDate = _Date(attribute="birth_date", metadata=_BIRTH_DATE)


class _LabelName(Line):
    """A name without commas, because commas separate keywords."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:  # noqa: ANN401
        text = super()._deserialize(value, attr, data, **kwargs)
        if "," in text:
            raise ValidationError("send a name without commas")
        return text


class LabelEditSchema(_NamedEditSchema):
    """Changes of a label: the name, and the mark as a favourite."""

    Name = _LabelName(limits.KEYWORD, least=1, attribute="name", metadata={"example": "Boat"})


class PhotoLabelEditSchema(AnyCaseSchema):
    """A label that is added to a photo or removed from it."""

    Name = _LabelName(
        limits.KEYWORD,
        least=1,
        attribute="name",
        allow_none=True,
        load_default=None,
        metadata={"example": "Boat"},
    )
    Uncertainty = fields.Integer(
        attribute="uncertainty",
        allow_none=True,
        load_default=None,
        validate=validate.Range(0, 100),
        metadata=about("100 takes the label from the photo, another number confirms it."),
    )


class MarkerEditSchema(AnyCaseSchema):
    """Changes of a marked area: the name, or its removal."""

    Name = Line(
        limits.NAME,
        attribute="name",
        allow_none=True,
        metadata=about("Empty: the area has no name; null: the name in the file.", "Ada Lovelace"),
    )
    Invalid = Flag(attribute="invalid", metadata=about("True removes an area that a person added."))


class NewMarkerSchema(AnyCaseSchema):
    """An area that a person adds to a file; lengths are relative to the upright picture, from the top left."""

    FileUID = fields.String(attribute="file_uid", required=True, metadata={"example": FILE_UID})
    Name = Line(
        limits.NAME,
        attribute="name",
        load_default="",
        metadata=about("The person; empty: without a name.", "Ada Lovelace"),
    )
    Type = fields.String(
        attribute="kind",
        load_default="face",
        validate=validate.OneOf(["face", ""]),
        metadata=about("Empty for an area that is no face."),
    )
    X = _length("x", 0, 1 - _SMALLEST, 0.4)
    Y = _length("y", 0, 1 - _SMALLEST, 0.3)
    W = _length("w", _SMALLEST, 1, 0.1)
    H = _length("h", _SMALLEST, 1, 0.15)


class LabelSelectionSchema(AnyCaseSchema):
    """A selection of labels."""

    labels = texts("Label UIDs.", LABEL_UID, most=limits.ITEMS)
