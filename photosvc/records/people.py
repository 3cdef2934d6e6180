"""People and labels as the API sends them, and what people send to rename somebody."""

import re
from typing import Any, Final

from marshmallow import EXCLUDE, Schema, fields, validate

from photosvc.core.clock import ZERO_TIME
from photosvc.records.entity import slug
from photosvc.records.fields import AnyCaseSchema, rfc3339

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_TEXT, _FLAG, _NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
_LONGEST: Final = 160


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
    Favorite = _no()
    PhotoCount = fields.Integer(attribute="photo_count")
    CreatedAt = _never()
    UpdatedAt = _never()
    DeletedAt: fields.Constant[None] = fields.Constant(None, metadata={"type": ["string", "null"]})


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


class _Name(fields.String):
    """A name without control characters and blanks around it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:  # noqa: ANN401
        text: str = super()._deserialize(value, attr, data, **kwargs)
        return _CONTROL.sub("", text).strip()


class SubjectEditSchema(AnyCaseSchema):
    """Loads the new name of a person."""

    class Meta:
        """Unknown fields are ignored: clients send the whole record back."""

        unknown = EXCLUDE

    Name = _Name(attribute="name", required=True, validate=validate.Length(1, _LONGEST))
