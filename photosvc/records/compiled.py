"""Marshmallow schemas compiled for dumping by the thousand: the same output, several times as fast."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from marshmallow import Schema, fields

#: Kinds whose Python values are JSON as they are; anything else keeps its field's own way of writing.
_PLAIN = (fields.String, fields.Integer, fields.Boolean)


def compile_schema(schema: Schema) -> Callable[[Any], dict[str, Any]]:
    """A function that dumps one object as `schema.dump` does, for objects whose attributes have the fields' types.

    One `attrgetter` reads all attributes; only fields that change their value are asked. Hooks are not run.
    """
    names = tuple(schema.dump_fields)
    read = attrgetter(*(field.attribute or name for name, field in schema.dump_fields.items()))
    changed = [(name, field._serialize) for name, field in schema.dump_fields.items() if type(field) not in _PLAIN]  # noqa: SLF001 - what Schema.dump itself calls

    def dump(thing: Any) -> dict[str, Any]:  # noqa: ANN401
        record = dict(zip(names, read(thing), strict=True))
        for name, write in changed:
            record[name] = write(record[name], None, None)
        return record

    return dump
