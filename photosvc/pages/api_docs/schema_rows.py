"""JSON Schemas as rows of a table: a property each, with its type and limits in words."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

#: As the document has it.
Schema: TypeAlias = Mapping[str, Any]

_REFERENCE: Final = "#/components/schemas/"
#: Objects within objects that are shown in one table.
_DEPTH: Final = 6


class Kind(NamedTuple):
    """What a value is: words, the named schema in the middle that they speak of, and words again."""

    before: str
    schema: str = ""
    after: str = ""

    def within(self, before: str, after: str = "") -> "Kind":
        """The same with words around it."""
        return Kind(f"{before} {self.before}".strip(), self.schema, f"{self.after}{after}")


class Row(NamedTuple):
    """A property, parameter or header."""

    name: str
    kind: Kind
    required: bool
    limits: str
    text: str


def name_of(schema: Schema) -> str:
    """The name of the schema in the document that this refers to; empty for one without a name."""
    return str(schema.get("$ref", "")).removeprefix(_REFERENCE)


def kind_of(schema: Schema) -> Kind:
    """What a value of this schema is."""
    if "$ref" in schema:
        return Kind("", name_of(schema))
    if "allOf" in schema:
        return kind_of(schema["allOf"][0]).within("", " and more")
    if choices := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        *others, last = sorted(choices, key=lambda choice: choice.get("type") == "null")
        return kind_of(others[0]).within("", f" or {_words(kind_of(last))}") if others else kind_of(last)
    if "const" in schema:
        return Kind(_text(schema["const"]))
    types = schema.get("type", "any value")
    first, *more = types if isinstance(types, list) else [types]
    after = "".join(f" or {other}" for other in more)
    if first == "array":
        return kind_of(schema.get("items", {})).within("list of", after)
    if first == "object" and isinstance(inner := schema.get("additionalProperties"), dict):
        return kind_of(inner).within("object with values:", after)
    return Kind(f"{schema.get('format', '')} {first}".strip() + after)


def limits_of(schema: Schema) -> str:
    """The values that are allowed, and the one that an absent value stands for."""
    found = []
    if "enum" in schema:
        found.append("one of " + ", ".join(map(_text, schema["enum"])))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        found.append(f"{low:,} to {high:,}")
    elif low is not None or high is not None:
        found.append(f"at least {low:,}" if high is None else f"at most {high:,}")
    if schema.get("minLength"):
        found.append(f"at least {schema['minLength']:,} characters")
    if "maxLength" in schema:
        found.append(f"at most {schema['maxLength']:,} characters")
    if "maxItems" in schema:
        found.append(f"at most {schema['maxItems']:,} items")
    if "pattern" in schema:
        found.append(f"matches {schema['pattern']}")
    if schema.get("default") not in (None, ""):
        found.append(f"{_text(schema['default'])} by default")
    if inner := limits_of(schema["items"]) if isinstance(schema.get("items"), dict) else "":
        found.append(f"each {inner}")
    return "; ".join(found)


def rows_of(schema: Schema, known: Mapping[str, Schema], before: str = "", depth: int = 0) -> Iterator[Row]:
    """A row for each property of an object, also of objects without a name within it; none for other schemas.

    Args:
        schema: of the object, or of a list of them.
        known: the named schemas of the document; one that is referred to by a property has a table of its own.
        before: what stands before the names.
        depth: objects around it.

    """
    if depth > _DEPTH:
        return
    if (name := name_of(schema)) and depth == 0:
        yield from rows_of(known.get(name, {}), known, before, 1)
    elif schema.get("type") == "array" and depth == 0:
        yield from rows_of(schema.get("items", {}), known, f"{before}[].", 1 if "$ref" not in schema["items"] else 7)
    elif parts := schema.get("allOf"):
        yield from chain.from_iterable(rows_of(part, known, before, 0) for part in parts)
    else:
        yield from _properties(schema, known, before, depth)


def _properties(schema: Schema, known: Mapping[str, Schema], before: str, depth: int) -> Iterator[Row]:
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        yield Row(before + name, kind_of(one), name in required, limits_of(one), one.get("description", ""))
        inner, dots = (one.get("items", {}), "[].") if "items" in one else (one, ".")
        if "properties" in inner:
            yield from rows_of(inner, known, f"{before}{name}{dots}", depth + 1)


def _words(kind: Kind) -> str:
    return f"{kind.before} {kind.schema}".strip() + kind.after


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
