"""Fields of records: types that Marshmallow does not have, names in any case, and schemas compiled for speed.

The UIDs in examples of the OpenAPI document are made up, in the form of real ones.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from marshmallow import EXCLUDE, Schema, fields, pre_load, validate

from photosvc.core.message import Message
from photosvc.core.text import clean_line, clean_lines
from photosvc.core.times import ZERO_TIME

_UP_TO_SECONDS: Final = len("0001-01-01T00:00:00")
#: Types whose Python values are JSON already; other fields convert their values.
_PLAIN = (fields.String, fields.Integer, fields.Boolean)
#: Types that read no single attribute.
_UNREAD = (fields.Function, fields.Constant)
#: The types of computed and constant fields in the OpenAPI document.
TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_TYPES: Final[dict[type, dict[str, str]]] = {str: TEXT, int: NUMBER, bool: FLAG}
Constant = TypeVar("Constant", str, int, bool)
PHOTO_UID: Final = "pt5m2xk4a8qzr1dw"
FILE_UID: Final = "ft5m2xk6e1pgw8ch"
ALBUM_UID: Final = "at5m2xk9h6wbj3su"
LABEL_UID: Final = "lt5m2xk7c3vnf9ey"


class LenientSchema(Schema):
    """A schema that ignores unknown fields: clients send whole records back, and fields of their own."""

    class Meta:
        """Options: ignore unknown fields."""

        unknown = EXCLUDE


class AnyCaseSchema(LenientSchema):
    """A lenient schema that loads names of fields in any case of letters, and with underscores.

    photoprism 0.1.0 sends `time_zone`, all others `TimeZone`.
    """

    @pre_load
    def _by_any_case(self, data: Any, **_: object) -> Any:  # noqa: ANN401 - a value that is no object is refused later
        if not isinstance(data, dict):
            return data
        names = {name.lower().replace("_", ""): name for name in self.fields}
        # Of several spellings of a name, the exact one counts, else the last one.
        spelled = {names.get(str(name).lower().replace("_", ""), name): value for name, value in data.items()}
        return spelled | {name: value for name, value in data.items() if name in self.fields}


class Length(validate.Length):
    """A check of a length whose messages keep their codes."""

    def _format_error(self, value: object, message: str) -> str:  # noqa: ARG002
        return Message(self.error or message, min=self.min, max=self.max)


class Line(fields.String):
    """A clean text of one line, of `least` to `most` characters."""

    def __init__(self, most: int, *, least: int | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        error = None if least else "At most {max} characters."
        super().__init__(validate=Length(least, most, error=error), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:  # noqa: ANN401
        return self.clean(super()._deserialize(value, attr, data, **kwargs))

    def clean(self, text: str) -> str:
        """Return the text as it is stored."""
        return clean_line(text)


class Lines(Line):
    """A clean text of several lines."""

    def clean(self, text: str) -> str:
        """Return the text as it is stored."""
        return clean_lines(text)


class Flag(fields.Boolean):
    """A flag of JSON: `true` or `false`, without the texts and numbers that Marshmallow also takes."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(truthy={True}, falsy={False}, **kwargs)


def about(description: str, example: object = None, **more: object) -> dict[str, Any]:
    """Return the metadata of a field for the OpenAPI document."""
    return {"description": description, **({} if example is None else {"example": example}), **more}


def constant(value: Constant) -> fields.Constant[Constant]:
    """Return a field that always has this text, number or flag."""
    return fields.Constant(value, metadata=_TYPES[type(value)])


def texts(
    description: str, example: str = "", *, most: int | None = None, longest: int | None = None
) -> fields.List[Any]:
    """Return a field of at most `most` texts, each of 1 to `longest` characters; it may be absent or null."""
    return fields.List(
        fields.String(validate=Length(1, longest) if longest else None),
        load_default=None,
        allow_none=True,
        validate=Length(max=most) if most else None,
        metadata=about(description, [example] if example else None),
    )


def whole_number_field(description: str, least: int, most: int | None = None, **metadata: object) -> fields.Integer:
    """Return a field of a whole number within these bounds; it may be absent or null."""
    return fields.Integer(
        load_default=None,
        allow_none=True,
        strict=True,
        validate=validate.Range(least, most),
        metadata=about(description, **metadata),
    )


class Timestamp(fields.Field[datetime]):
    """A time in UTC by RFC 3339, with whole seconds and `Z`; an unset time is the zero timestamp."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str:  # noqa: ANN401, ARG002
        return _timestamp(value)


class NullableTimestamp(fields.Field[datetime]):
    """A time in UTC by RFC 3339 like `Timestamp`, but null if it is unset."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:  # noqa: ANN401, ARG002
        return None if value is None else rfc3339(value)


def rfc3339(moment: datetime) -> str:
    """Return an aware time as RFC 3339 in UTC; the year has four digits even before 1000."""
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="seconds")[:_UP_TO_SECONDS] + "Z"


class Decimal(fields.Float):
    """A finite number, rounded to `places` decimal places."""

    def __init__(self, *, places: int, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.places = places

    def _serialize(self, value: float | None, attr: str | None, obj: Any, **kwargs: Any) -> float:  # noqa: ANN401, ARG002
        return round(value or 0.0, self.places)


def compile_schema(schema: Schema) -> Callable[[Any], dict[str, Any]]:
    """Return a faster `schema.dump` for single objects whose attributes have the types of the fields.

    One `attrgetter` reads all attributes, and only fields that convert their value are called. Hooks do not run.
    """
    declared = schema.dump_fields
    read_names = tuple(name for name, field in declared.items() if not isinstance(field, _UNREAD))
    read = _reader([declared[name].attribute or name for name in read_names])
    functions = ((name, field) for name, field in declared.items() if isinstance(field, fields.Function))
    computed = [(name, cast("Callable[[Any], Any]", field.serialize_func)) for name, field in functions]
    constants = {name: field.constant for name, field in declared.items() if isinstance(field, fields.Constant)}
    changed = [(name, _writer(name, declared[name])) for name in read_names if type(declared[name]) not in _PLAIN]
    in_order: dict[str, Any] = {name: constants.get(name) for name in declared}
    only_read = len(read_names) == len(declared)

    def dump(thing: Any) -> dict[str, Any]:  # noqa: ANN401
        record = dict(zip(read_names, read(thing), strict=True))
        if not only_read:
            record = in_order | record
            for name, compute in computed:
                record[name] = compute(thing)
        for name, write in changed:
            record[name] = write(record[name])
        return record

    return dump


def _reader(attributes: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads any number of attributes of an object."""
    if len(attributes) > 1:
        return attrgetter(*attributes)
    readers = [attrgetter(name) for name in attributes]
    return lambda thing: tuple(read(thing) for read in readers)


def _writer(name: str, field: fields.Field[Any]) -> Callable[[Any], Any]:
    """Return the function by which a field converts its value."""
    if type(field) is Timestamp:
        return _timestamp
    if type(field) is Decimal:
        places = field.places
        return lambda value: round(value or 0.0, places)
    if type(field) is fields.Nested and not field.many:
        return compile_schema(field.schema)
    if type(field) is fields.List and type(field.inner) is fields.Nested and not field.inner.many:
        dump = compile_schema(field.inner.schema)
        return lambda value: [dump(thing) for thing in value]
    return lambda value: field.serialize(name, value, lambda read, *_: read)  # the value has been read


def _timestamp(value: datetime | None) -> str:
    return rfc3339(value or ZERO_TIME)


def never() -> fields.Constant[str]:
    """Return the field of a time that this library does not record."""
    return fields.Constant(rfc3339(ZERO_TIME), metadata={"type": "string", "format": "date-time"})
