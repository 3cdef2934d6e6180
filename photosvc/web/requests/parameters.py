"""Parameters of a query string: their description in the OpenAPI document, and reading switches."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from flask import request

from photosvc.core.errors import InvalidValueError
from photosvc.query.values.expected import BOOLEANS

#: The JSON Schema and the meaning of each parameter.
Parameters: TypeAlias = Mapping[str, tuple[dict[str, Any], str]]


def describe(parameters: Parameters) -> list[dict[str, Any]]:
    """The parameters as OpenAPI has them."""
    return [
        {"name": name, "in": "query", "description": meaning, "schema": schema}
        for name, (schema, meaning) in parameters.items()
    ]


def read_switch(name: str) -> bool:
    """Whether the request turns this on; a parameter that is absent or empty is false.

    Raises:
        InvalidValueError: the value is neither true nor false.

    """
    given = request.args.get(name, "").strip().lower()
    if given and given not in BOOLEANS:
        msg = f"{name} is true or false"
        raise InvalidValueError(msg, field=name)
    return bool(given) and BOOLEANS[given]
