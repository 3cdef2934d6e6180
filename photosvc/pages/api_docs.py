"""The page of the API: each operation of the OpenAPI document with parameters, answers and an example command."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, reduce
from typing import Any, Final, NamedTuple

import orjson
from flask import Response, current_app, request, url_for
from jinja2 import Environment
from markupsafe import Markup

from photosvc.core.errors import NotFoundError
from photosvc.pages.api_samples import (
    ADDRESS,
    Kind,
    Row,
    Schema,
    curl,
    kind_of,
    limits_of,
    name_of,
    rows_of,
    within_quotes,
)
from photosvc.pages.layout import API_DOCUMENT, pages, public_page, show, templates
from photosvc.pages.signing_in import present
from photosvc.web.answers import revalidated
from photosvc.web.current import current_service
from photosvc.web.openapi import document

#: Operations with more parameters than this are searches; the parameters that they share are shown once for all.
_MANY: Final = 20
#: The most documents that are cached: they differ by address.
_KEPT: Final = 8
_LONGEST: Final = 200
_HOST: Final = re.compile(r"[\w.-]+(:\d+)?|\[[0-9a-fA-F:.]+\](:\d+)?")


class Body(NamedTuple):
    """The body of a request or an answer."""

    media_type: str
    kind: Kind
    rows: list[Row]
    """The rows of its properties; none if `kind` names a schema that has a table."""


class Answer(NamedTuple):
    """An answer of an operation, by its status."""

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
    """The place of each parameter: `path`, `query` or `header`."""
    shares: bool
    """True if it takes the shared parameters, too."""
    bodies: list[Body]
    answers: list[Answer]
    errors: list[tuple[str, str]]
    curl: str
    words: str
    """The text that the filter of the page searches."""


class Group(NamedTuple):
    """Operations of a tag."""

    name: str
    text: str
    """The description of the tag."""
    operations: list[Operation]

    @property
    def anchor(self) -> str:
        """Return the anchor of the group on the page."""
        return "group-" + self.name.replace(" ", "-")


class Docs(NamedTuple):
    """The OpenAPI document for the page."""

    title: str
    version: str
    text: str
    groups: list[Group]
    shared: list[Row]
    """The parameters that all searches share."""
    schemas: dict[str, list[Row]]
    scopes: dict[str, str]

    def matching(self, query: str) -> list[Group]:
        """Return the groups with the operations that contain all words of `query`."""
        wanted = query.casefold().split()
        found = (
            group._replace(operations=[one for one in group.operations if all(word in one.words for word in wanted)])
            for group in self.groups
        )
        return [group for group in found if group.operations]


@lru_cache(maxsize=_KEPT)
def read_docs(document: bytes) -> Docs:
    """Convert the OpenAPI document for the page."""
    whole = orjson.loads(document)
    known: Mapping[str, Schema] = whole["components"]["schemas"]
    described = [(path, method, one) for path, methods in whole["paths"].items() for method, one in methods.items()]
    shared = _shared([operation for _, _, operation in described])
    groups: dict[str, list[Operation]] = {}
    for path, method, one in described:
        groups.setdefault(one["tags"][0], []).append(_operation(path, method, one, known, shared))
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
    """Return the parameters that all operations with many parameters share."""
    many = [
        {parameter["name"]: parameter for parameter in operation["parameters"]}
        for operation in operations
        if len(operation["parameters"]) > _MANY
    ]
    if not many:
        return {}
    return reduce(lambda one, other: {name: one[name] for name in one if other.get(name) == one[name]}, many)


def _operation(
    path: str, method: str, one: Mapping[str, Any], known: Mapping[str, Schema], shared: Mapping[str, dict[str, Any]]
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
        curl=curl(path, method, one, known),
        words=f"{method} {path} {one['summary']} {text} {one['operationId']} {one['tags'][0]} {names}".casefold(),
    )


def _parameter(one: Mapping[str, Any]) -> Row:
    text = one.get("description", "")
    if "example" in one:
        text = f"{text} Example: `{one['example']}`".strip()
    schema = one["schema"]
    return Row(one["name"], kind_of(schema), one.get("required", False), limits_of(schema), text)


def _bodies(holder: Mapping[str, Any], known: Mapping[str, Schema], *, whole: bool) -> Iterator[Body]:
    """Yield the bodies of a request or answer; with `whole`, named schemas have rows of properties, too."""
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


class Parts(NamedTuple):
    """The parts of the page that take long to render; they are rendered once for each document."""

    operations: dict[str, Markup]
    """The rendered operations by anchor, with `ADDRESS` in their commands."""
    common: Markup
    """The parameters and schemas that operations share."""


@pages.get("/api-docs", endpoint="api_docs")
@public_page
def show_docs() -> Response:
    """Show the operations that contain all words of `q`."""
    who = present()
    if API_DOCUMENT not in current_app.view_functions:
        raise NotFoundError("this app does not mount the API")
    rule = next(current_app.url_map.iter_rules(API_DOCUMENT))
    described = document(str(rule).removesuffix("/openapi.json"))
    docs = read_docs(described)
    address, for_shell = _api_address()
    query = request.args.get("q", "").strip()[:_LONGEST]
    groups = docs.matching(query)
    answer = show(
        "api-docs",
        docs=docs,
        parts=_parts(templates(), described),
        groups=groups,
        query=query,
        number=sum(len(group.operations) for group in groups),
        address=address,
        for_shell=for_shell,
        mark=ADDRESS,
        download=url_for(API_DOCUMENT),
    )
    if who is not None:
        return answer
    answer.headers["Cache-Control"] = "private, no-cache"
    return revalidated(answer)


@lru_cache(maxsize=_KEPT)
def _parts(environment: Environment, described: bytes) -> Parts:
    docs = read_docs(described)
    macros: Any = environment.get_template("photosvc/api-docs-parts.html").module
    operations = (one for group in docs.groups for one in group.operations)
    return Parts({one.anchor: macros.operation(one, docs) for one in operations}, macros.common(docs))


def _api_address() -> tuple[str, str]:
    """Return the address of the API as this browser reaches it, and the same escaped for a shell's double quotes.

    Without a public address, it is built from the `Host` header of this request. Shared caches do not store the
    answer, so a forged header changes only the page of the client that sent it.
    """
    address = current_service().address_of(request, "/api/v1")
    if not address.startswith("/"):
        return address, within_quotes(address)
    host = request.environ.get("HTTP_HOST", "")
    if _HOST.fullmatch(host):
        return f"{request.scheme}://{host}{address}", within_quotes(f"{request.scheme}://{host}{address}")
    return address, f"$URL{within_quotes(address)}"
