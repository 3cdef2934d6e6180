"""The JSON object in the body of a request, and the values in it that a schema refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from flask import request
from marshmallow import Schema, ValidationError
from marshmallow.exceptions import SCHEMA

from photosvc.core.errors import Detail, InvalidValueError

#: The longest body that most routes accept, in bytes.
MAX_BODY = 64 * 1024


class InvalidBodyError(InvalidValueError):
    """The body is not valid."""

    def __init__(self, message: str, details: list[Detail] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


def read_json(
    schema: Schema, *, any_type: bool = False, quoted: bool = False, max_body: int = MAX_BODY
) -> dict[str, Any]:
    """The request's JSON object, as `schema` loads it.

    Args:
        schema: what loads the body.
        any_type: read JSON without regard to the `Content-Type`; three known clients log in with another, or none.
        quoted: also read a JSON text that holds the object.
        max_body: bytes.

    Raises:
        InvalidBodyError: it is not JSON, not an object, or a value is not valid; says which.
        RequestEntityTooLarge: it is longer than `max_body`.

    """
    request.max_content_length = max_body
    if not any_type and request.mimetype != "application/json":
        msg = "send JSON, with the header Content-Type: application/json"
        raise InvalidBodyError(msg)
    try:
        body = orjson.loads(request.get_data(cache=True) or b"{}")
        if quoted and isinstance(body, str):
            body = orjson.loads(body)
    except orjson.JSONDecodeError:
        msg = "the body is not valid JSON"
        raise InvalidBodyError(msg) from None
    if not isinstance(body, dict):
        msg = "the body must be a JSON object"
        raise InvalidBodyError(msg)
    return load_values(schema, body)


def load_values(schema: Schema, given: dict[str, Any]) -> dict[str, Any]:
    """Values, as `schema` loads them.

    Raises:
        InvalidBodyError: one is not valid; says which.

    """
    try:
        loaded: dict[str, Any] = schema.load(given)
    except ValidationError as error:
        raise _refused(error) from None
    return loaded


def _refused(error: ValidationError) -> InvalidBodyError:
    details: list[Detail] = [{"field": field, "message": message} for field, message in _named(error.messages_dict)]
    first = details[0]
    return InvalidBodyError(f"{first['field']}: {first['message']}", details)


def _named(messages: Mapping[Any, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """Each field with its message; those of an inner object as `Details.Artist`, lists by their own name."""
    for name, found in messages.items():
        field = within if within and name == SCHEMA else f"{within}.{name}".lstrip(".")
        if isinstance(found, list):
            yield field, " ".join(map(str, found))
        elif all(isinstance(key, str) for key in found):
            yield from _named(found, field)
        else:
            yield field, "is not valid"
