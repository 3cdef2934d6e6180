"""People and labels as the API sends them, and what people send to change them."""

import re
from typing import Any, Final

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate

from photosvc.core.clock import ZERO_TIME
from photosvc.records.examples import LABEL_UID
from photosvc.records.fields import AnyCaseSchema, rfc3339
from photosvc.records.photos.entity import slug

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_TEXT, _FLAG, _NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
_LONGEST: Final = 160
#: As keywords in the metadata of files.
_LONGEST_LABEL: Final = 255


def _text(value: str = "") -> fields.Constant[str]:
    return fields.Constant(value, metadata=_TEXT)


def _no() -> fields.Constant[bool]:
    return fields.Constant(False, metadata=_FLAG)


def _never() -> fields.Constant[str]:
    return fields.Constant(rfc3339(ZERO_TIME), metadata={**_TEXT, "format": "date-time"})


class _NamedSchema(Schema):
    UID = fields.String(attribute="uid")
    Slug = fields.Function(lambda thing: slug(thing.name), metadata=_TEXT)
    Name = fields.String(attribute="name")
    Thumb = _text()
    ThumbSrc = _text()
    Notes = _text()
    Favorite = fields.Boolean(attribute="favorite")
    PhotoCount = fields.Integer(attribute="photo_count")
    CreatedAt = _never()
    UpdatedAt = _never()
    DeletedAt: fields.Field[Any] = fields.Constant(None, metadata={"type": ["string", "null"]})


class SubjectSchema(_NamedSchema):
    """Dumps a person."""

    Type = _text("person")
    Src = _text("marker")
    Alias = _text()
    About = _text()
    Hidden = _no()
    Private = _no()
    Excluded = _no()
    FileCount = fields.Function(lambda person: person.photo_count, metadata=_NUMBER)


class LabelSchema(_NamedSchema):
    """Dumps a keyword."""

    ID = fields.Integer(attribute="id")
    CustomSlug = fields.Function(lambda label: slug(label.name), metadata=_TEXT)
    Priority = fields.Constant(0, metadata=_NUMBER)
    Description = _text()


class LabelEntitySchema(LabelSchema):
    """Dumps a keyword that was changed: strict clients read two times more."""

    PublishedAt = _never()
    DeletedAt = _never()


class _Name(fields.String):
    """A name without control characters and blanks around it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:  # noqa: ANN401
        text: str = super()._deserialize(value, attr, data, **kwargs)
        return _CONTROL.sub("", text).strip()


class SubjectEditSchema(AnyCaseSchema):
    """Loads the new name of a person, and whether they are a favourite."""

    class Meta:
        """Unknown fields are ignored: clients send the whole record back."""

        unknown = EXCLUDE

    Name = _Name(attribute="name", validate=validate.Length(1, _LONGEST), metadata={"example": "Ada Lovelace"})
    Favorite = fields.Boolean(attribute="favorite", truthy={True}, falsy={False})


class _LabelName(_Name):
    """A name without commas, which separate keywords."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:  # noqa: ANN401
        text = super()._deserialize(value, attr, data, **kwargs)
        if "," in text:
            msg = "send a name without commas"
            raise ValidationError(msg)
        return text


class LabelEditSchema(SubjectEditSchema):
    """Loads the new name of a label, and whether it is a favourite."""

    Name = _LabelName(attribute="name", validate=validate.Length(1, _LONGEST_LABEL), metadata={"example": "Boat"})


class PhotoLabelEditSchema(AnyCaseSchema):
    """Loads a label of a photo."""

    class Meta:
        """Unknown fields are ignored: clients send a priority too."""

        unknown = EXCLUDE

    Name = _LabelName(
        attribute="name",
        validate=validate.Length(1, _LONGEST_LABEL),
        allow_none=True,
        load_default=None,
        metadata={"example": "Boat"},
    )
    Uncertainty = fields.Integer(
        attribute="uncertainty",
        allow_none=True,
        load_default=None,
        validate=validate.Range(0, 100),
        metadata={"description": "100 takes the label from the photo, another number confirms it."},
    )


class MarkerEditSchema(AnyCaseSchema):
    """Loads the name of a marked area."""

    class Meta:
        """Unknown fields are ignored: clients send the whole record back."""

        unknown = EXCLUDE

    Name = _Name(
        attribute="name",
        required=True,
        allow_none=True,
        validate=validate.Length(0, _LONGEST),
        metadata={
            "description": "Empty: the area has no name; null: the one that the file says.",
            "example": "Ada Lovelace",
        },
    )


class LabelSelectionSchema(Schema):
    """Loads a selection of labels."""

    class Meta:
        """Unknown fields are ignored: clients send selections of every kind."""

        unknown = EXCLUDE

    labels = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=1000),
        metadata={"description": "Label UIDs.", "example": [LABEL_UID]},
    )
