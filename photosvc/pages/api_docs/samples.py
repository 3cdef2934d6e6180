"""Examples of what an operation takes: a body, and the command that sends it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from photosvc.pages.api_docs.schema_rows import Schema, name_of

#: In a command: where the address of the API belongs, which depends on the browser that reads it.
ADDRESS: Final = "{ADDRESS}"
#: Values of an object that requires none.
_OPTIONAL: Final = 2
_DEPTH: Final = 6
_NAME: Final = re.compile(r"\{(\w+)\}")
#: Characters that a shell reads within double quotes.
_READ: Final = re.compile(r'([\\$`"])')
_PLAIN: Final = {"string": "text", "integer": 1, "number": 1, "boolean": True}
_ENDINGS: Final = {"image/jpeg": "jpg", "video/mp4": "mp4", "application/zip": "zip", "text/x-yaml": "yml"}


def sample_of(schema: Schema, known: Mapping[str, Schema], depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """A value that the schema allows; an object has what is required or has an example, else its first values."""
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
    """A command for a shell, in which `$TOKEN` and the parts of the path are variables; `ADDRESS` stands in it.

    Args:
        path: of the operation, below that address.
        method: in lower case.
        operation: as the document has it.
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
    """The text as a shell reads it between double quotes."""
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
