"""JSON Schemas as tables, a row for each property with type and limits in words, and example bodies and commands."""

import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

#: A JSON Schema from the OpenAPI document.
Schema: TypeAlias = Mapping[str, Any]
_REFERENCE: Final = "#/components/schemas/"
#: The most levels of nested objects in one table.
_DEPTH: Final = 6
#: The placeholder in commands for the address of the API, which depends on the browser that shows them.
ADDRESS: Final = "{ADDRESS}"
#: The number of values in the example of an object that requires none.
_OPTIONAL: Final = 2
_NAME: Final = re.compile(r"\{(\w+)\}")
#: Characters with a meaning for shells within double quotes.
_READ: Final = re.compile(r'([\\$`"])')
_PLAIN: Final = {"string": "text", "integer": 1, "number": 1, "boolean": True}
_ENDINGS: Final = {"image/jpeg": "jpg", "video/mp4": "mp4", "application/zip": "zip", "text/x-yaml": "yml"}


class Kind(NamedTuple):
    """The type of a value in words: words before a named schema, its name, and words after it."""

    before: str
    schema: str = ""
    after: str = ""

    def within(self, before: str, after: str = "") -> "Kind":
        """Return the same type with words around it."""
        return Kind(f"{before} {self.before}".strip(), self.schema, f"{self.after}{after}")


class Row(NamedTuple):
    """A property, parameter or header."""

    name: str
    kind: Kind
    required: bool
    limits: str
    text: str


def name_of(schema: Schema) -> str:
    """Return the name of the schema that this one refers to; empty for a schema without a name."""
    return str(schema.get("$ref", "")).removeprefix(_REFERENCE)


def kind_of(schema: Schema) -> Kind:
    """Return the type of a schema's values in words."""
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
    """Return the allowed values and the default in words."""
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
    """Yield a row for each property of an object and of unnamed objects within it; none for other schemas.

    Args:
        known: the named schemas of the document; a named schema within another has a table of its own.
        before: the prefix of all names.
        depth: the number of objects around it.
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


def sample_of(schema: Schema, known: Mapping[str, Schema], depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Return an example value; an object has its required properties and those with examples, else its first ones."""
    if "example" in schema:
        return schema["example"]
    if depth > _DEPTH:
        return None
    if name := name_of(schema):
        return sample_of(known.get(name, {}), known, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if choices := schema.get(key):
            return sample_of(choices[0], known, depth + 1)
    for key in ("const", "default"):
        if schema.get(key) not in (None, ""):
            return schema[key]
    if values := schema.get("enum"):
        return values[0]
    types = schema.get("type", "string")
    kind = types[0] if isinstance(types, list) else types
    if kind == "array":
        return [sample_of(schema.get("items", {}), known, depth + 1)]
    if kind == "object":
        properties, required = schema.get("properties", {}), schema.get("required", ())
        chosen = [name for name, one in properties.items() if name in required or "example" in one]
        return {name: sample_of(properties[name], known, depth + 1) for name in chosen or [*properties][:_OPTIONAL]}
    return schema.get("minimum", _PLAIN.get(kind))


def curl(path: str, method: str, operation: Mapping[str, Any], known: Mapping[str, Schema]) -> str:
    """Return a shell command that calls an operation, with variables such as `$TOKEN`, and `ADDRESS` as placeholder.

    Args:
        path: the path of the operation, below that address.
        known: the named schemas of the document.
    """
    parts = ["curl -sS", *_arguments(method, operation, known)]
    asked = [
        f"{parameter['name']}={parameter.get('example', sample_of(parameter['schema'], known))}"
        for parameter in operation["parameters"]
        if parameter["in"] == "query" and parameter.get("required")
    ]
    target = within_quotes(path + ("?" + "&".join(asked) if asked else ""))
    parts.append(f'"{ADDRESS}' + _NAME.sub(lambda name: _variable(name[1]), target) + '"')
    return " \\\n  ".join(parts)


def within_quotes(text: str) -> str:
    """Escape a text for use between double quotes in a shell."""
    return _READ.sub(r"\\\1", text)


def _arguments(method: str, operation: Mapping[str, Any], known: Mapping[str, Schema]) -> Iterator[str]:
    ways = {name for way in operation["security"] for name in way}
    if "bearer" in ways:
        yield '-H "Authorization: Bearer $TOKEN"'
    elif "client" in ways:
        yield '-u "$CLIENT_ID:$CLIENT_SECRET"'
    for parameter in operation["parameters"]:
        if parameter["in"] == "header":
            yield f'-H "{parameter["name"]}: {_variable(parameter["name"])}"'
    content: Mapping[str, Any] = operation.get("requestBody", {}).get("content", {})
    if method != "get" and (method != "post" or not content):
        yield f"-X {method.upper()}"
    for media_type, body in content.items():
        yield from _body(media_type, body["schema"], known)
    for status, answer in operation["responses"].items():
        for media_type, body in answer.get("content", {}).items() if status.startswith("2") else ():
            if body["schema"].get("format") == "binary":
                yield f"-o answer.{_ENDINGS.get(media_type, 'bin')}"


def _body(media_type: str, schema: Schema, known: Mapping[str, Schema]) -> Iterator[str]:
    if schema.get("format") == "binary":
        yield f"-H {shlex.quote(f'Content-Type: {media_type}')}"
        yield "--data-binary @photo.jpg"
    elif media_type == "multipart/form-data":
        for name in schema.get("required", ()):
            yield f"-F {shlex.quote(f'{name}=@photo.jpg')}"
    elif media_type == "application/x-www-form-urlencoded":
        for name in schema.get("required", ()):
            value = schema["properties"][name].get("const", _variable(name))
            yield f'--data-urlencode "{name}={value}"'
    else:
        yield f"--json {shlex.quote(orjson.dumps(sample_of(schema, known)).decode())}"


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name).upper()
