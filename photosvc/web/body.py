"""Request bodies: JSON objects, loaded by a schema."""

from typing import Any

import orjson
from flask import request
from marshmallow import Schema, ValidationError

from photosvc.core.errors import InvalidValueError

#: The longest body that is accepted, in bytes.
MAX_BODY = 64 * 1024


class InvalidBodyError(InvalidValueError):
    """The body is not valid."""

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


def read_json(schema: Schema, *, any_type: bool = False) -> dict[str, Any]:
    """The request's JSON object, as `schema` loads it.

    Args:
        schema: what loads the body.
        any_type: read JSON whatever the `Content-Type` says; three known clients log in with another, or none.

    Raises:
        InvalidBodyError: it is not JSON, not an object, or a value is not valid; says which.
        RequestEntityTooLarge: it is longer than `MAX_BODY`.

    """
    request.max_content_length = MAX_BODY
    if not any_type and request.mimetype != "application/json":
        msg = "send JSON, with the header Content-Type: application/json"
        raise InvalidBodyError(msg)
    try:
        body = orjson.loads(request.get_data(cache=True) or b"{}")
    except orjson.JSONDecodeError:
        msg = "the body is not valid JSON"
        raise InvalidBodyError(msg) from None
    if not isinstance(body, dict):
        msg = "the body must be a JSON object"
        raise InvalidBodyError(msg)
    try:
        loaded: dict[str, Any] = schema.load(body)
    except ValidationError as error:
        raise _refused(error) from None
    return loaded


def _refused(error: ValidationError) -> InvalidBodyError:
    messages = error.messages_dict
    details = [
        {"field": str(field), "message": " ".join(map(str, said)) if isinstance(said, list) else "is not valid"}
        for field, said in messages.items()
    ]
    first = details[0]
    return InvalidBodyError(f"{first['field']}: {first['message']}", details)
