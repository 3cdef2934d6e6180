"""Types of the API's records for scripts, from the schemas: `python -m tools.script_types > records.d.ts`.

The type checker of `make lint` compares the names of fields in scripts with them.
"""

from typing import Any, Final

from marshmallow import Schema, fields

from photosvc.records.edits import ChangeSchema
from photosvc.records.fields import Timestamp
from photosvc.records.photos import PhotoSchema

#: The schemas of the records that scripts read; nested schemas follow.
_ROOTS: Final = (PhotoSchema, ChangeSchema)
_TYPES: Final = {fields.Boolean: "boolean", fields.Number: "number", fields.String: "string", Timestamp: "string"}

#: Types of fields that a function computes, by their types in the OpenAPI document.
_JSON_TYPES: Final = {"boolean": "boolean", "number": "number", "integer": "number", "string": "string"}


def interfaces() -> str:
    """Return a TypeScript interface for each schema, named like it without `Schema`."""
    texts: dict[type[Schema], str] = {}
    waiting = list(_ROOTS)
    while waiting:
        schema = waiting.pop()
        if schema not in texts:
            texts[schema] = _interface(schema, waiting)
    return "\n".join(texts.values())


def _interface(schema: type[Schema], waiting: list[type[Schema]]) -> str:
    lines = [f"  {name}: {_type(field, waiting)};" for name, field in schema().fields.items()]
    return "\n".join([f"interface {_name(schema)} {{", *lines, "}", ""])


def _type(field: fields.Field[Any], waiting: list[type[Schema]]) -> str:
    if isinstance(field, fields.List):
        return f"{_type(field.inner, waiting)}[]"
    if isinstance(field, fields.Nested):
        waiting.append(type(field.schema))
        return _name(type(field.schema)) + ("[]" if field.many else "")
    known = next((name for kind, name in _TYPES.items() if isinstance(field, kind)), None)
    return known or _JSON_TYPES.get(str(field.metadata.get("type")), "any")


def _name(schema: type[Schema]) -> str:
    return schema.__name__.strip("_").removesuffix("Schema") + "Record"


if __name__ == "__main__":
    print(interfaces(), end="")  # noqa: T201 - the output of the command
