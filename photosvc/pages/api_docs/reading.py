"""The OpenAPI document as a page shows it: groups of operations, and what they share."""

from collections.abc import Iterator, Mapping
from functools import lru_cache, reduce
from typing import Any, Final, NamedTuple

import orjson

from photosvc.pages.api_docs.samples import curl
from photosvc.pages.api_docs.schema_rows import Kind, Row, Schema, kind_of, limits_of, name_of, rows_of

#: An operation with more parameters has many in common with others: these are shown once for all.
_MANY: Final = 20
#: Documents that are kept, by address.
_KEPT: Final = 8


class Body(NamedTuple):
    """What a request or an answer contains."""

    media_type: str
    kind: Kind
    rows: list[Row]
    """Of its properties; none where `kind` names a schema that has a table."""


class Answer(NamedTuple):
    """What an operation answers with a status."""

    status: str
    text: str
    bodies: list[Body]
    headers: list[Row]


class Operation(NamedTuple):
    """A method of a path."""

    anchor: str
    method: str
    path: str
    summary: str
    text: str
    is_public: bool
    parameters: list[Row]
    places: dict[str, str]
    """Where each parameter is: `path`, `query` or `header`."""
    shares: bool
    """Whether it takes the shared parameters, too."""
    bodies: list[Body]
    answers: list[Answer]
    errors: list[tuple[str, str]]
    curl: str
    words: str
    """What a filter looks into."""


class Group(NamedTuple):
    """Operations of a tag."""

    name: str
    text: str
    """What they are about."""
    operations: list[Operation]

    @property
    def anchor(self) -> str:
        """Where the page shows it."""
        return "group-" + self.name.replace(" ", "-")


class Docs(NamedTuple):
    """The whole document."""

    title: str
    version: str
    text: str
    groups: list[Group]
    shared: list[Row]
    """Parameters of all the searches."""
    schemas: dict[str, list[Row]]
    scopes: dict[str, str]

    def matching(self, query: str) -> list[Group]:
        """The groups, with the operations that contain all words of `query`."""
        wanted = query.casefold().split()
        found = (
            group._replace(operations=[one for one in group.operations if all(word in one.words for word in wanted)])
            for group in self.groups
        )
        return [group for group in found if group.operations]


@lru_cache(maxsize=_KEPT)
def read_docs(document: bytes) -> Docs:
    """The document as a page shows it.

    Args:
        document: as JSON.

    """
    whole = orjson.loads(document)
    known: Mapping[str, Schema] = whole["components"]["schemas"]
    described = [(path, method, one) for path, methods in whole["paths"].items() for method, one in methods.items()]
    shared = _shared([operation for _, _, operation in described])
    groups: dict[str, list[Operation]] = {}
    for path, method, one in described:
        command = curl(path, method, one, known)
        groups.setdefault(one["tags"][0], []).append(_operation(path, method, one, known, shared, command))
    flows = whole["components"]["securitySchemes"]["oauth2"]["flows"]
    return Docs(
        title=whole["info"]["title"],
        version=whole["info"]["version"],
        text=whole["info"]["description"],
        groups=[Group(tag["name"], tag["description"], groups[tag["name"]]) for tag in whole["tags"]],
        shared=[_parameter(one) for one in shared.values()],
        schemas={name: list(rows_of(known[name], known)) for name in sorted(known)},
        scopes=flows["clientCredentials"]["scopes"],
    )


def _shared(operations: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The parameters that all operations with many of them have in common."""
    many = [
        {parameter["name"]: parameter for parameter in operation["parameters"]}
        for operation in operations
        if len(operation["parameters"]) > _MANY
    ]
    if not many:
        return {}
    return reduce(lambda one, other: {name: one[name] for name in one if other.get(name) == one[name]}, many)


def _operation(
    path: str,
    method: str,
    one: Mapping[str, Any],
    known: Mapping[str, Schema],
    shared: Mapping[str, dict[str, Any]],
    command: str,
) -> Operation:
    own = [parameter for parameter in one["parameters"] if shared.get(parameter["name"]) != parameter]
    names = " ".join(parameter["name"] for parameter in one["parameters"])
    text = one.get("description", "")
    return Operation(
        anchor=one["operationId"],
        method=method.upper(),
        path=path,
        summary=one["summary"],
        text=text,
        is_public=not one["security"],
        parameters=[_parameter(parameter) for parameter in own],
        places={parameter["name"]: parameter["in"] for parameter in own},
        shares=len(own) < len(one["parameters"]),
        bodies=list(_bodies(one.get("requestBody", {}), known, whole=True)),
        answers=[_answer(status, answer, known) for status, answer in one["responses"].items() if status < "4"],
        errors=[(status, answer["description"]) for status, answer in one["responses"].items() if status >= "4"],
        curl=command,
        words=f"{method} {path} {one['summary']} {text} {one['operationId']} {one['tags'][0]} {names}".casefold(),
    )


def _parameter(one: Mapping[str, Any]) -> Row:
    text = one.get("description", "")
    if "example" in one:
        text = f"{text} Example: `{one['example']}`".strip()
    schema = one["schema"]
    return Row(one["name"], kind_of(schema), one.get("required", False), limits_of(schema), text)


def _bodies(holder: Mapping[str, Any], known: Mapping[str, Schema], *, whole: bool) -> Iterator[Body]:
    """The bodies of a request or answer; `whole`: also the properties of a schema with a name."""
    for media_type, content in holder.get("content", {}).items():
        schema = content["schema"]
        rows = list(rows_of(schema, known)) if whole or not name_of(schema) else []
        yield Body(media_type, kind_of(schema), rows)


def _answer(status: str, answer: Mapping[str, Any], known: Mapping[str, Schema]) -> Answer:
    headers = [
        Row(name, kind_of(header["schema"]), False, "", header.get("description", ""))
        for name, header in answer.get("headers", {}).items()
    ]
    return Answer(status, answer["description"], list(_bodies(answer, known, whole=False)), headers)
