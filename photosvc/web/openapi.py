"""The OpenAPI document, made once for each address of the API: operations, tags and schemas.

There is one operation for each method of a route. Its tag is the resource at the beginning of its path, under the name
that people use.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
from flask import current_app, request
from marshmallow import Schema, fields
from werkzeug.routing import Map, Rule

from photosvc import __version__
from photosvc.auth.policy import RULES, scopes_in_use
from photosvc.auth.scopes import SCOPES
from photosvc.models import CLIENT_TOKEN
from photosvc.records.fields import NullableTimestamp, Timestamp
from photosvc.records.photos import OPTIONAL, OPTIONAL_OF_FILES
from photosvc.web.contract import (
    ACTION,
    ANONYMOUS,
    BINARY,
    PUBLIC,
    TEXT,
    Contract,
    Header,
    Shape,
    contract_of,
    is_mounted,
    json_object,
    mounted_actions,
)
from photosvc.web.service import current_service

_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
#: Ways to send a token; a request needs one of them.
_TOKEN: tuple[dict[str, list[str]], ...] = ({"bearer": []}, {"authToken": []}, {"sessionID": []})
_ERRORS: Mapping[int, str] = {
    400: "A value is not valid.",
    401: "The token or secret is missing, expired or not valid.",
    403: "The credential may not do this.",
    404: "It does not exist, or the credential may not see it.",
    405: "The method is not allowed here; `Allow` lists those that are.",
    409: "It already exists, or its state does not allow this.",
    410: "The file differs from the indexed one, so an index run is due; or the upload was not continued in time.",
    412: "A precondition in the headers is not met.",
    413: "The body is too long, or the request asks for too much at once.",
    414: "The address is longer than the server accepts; `svc run` accepts 8,190 bytes.",
    415: "The media type of the body, or of the file to convert, is not supported.",
    416: "No requested range overlaps the file.",
    422: "The file cannot be shown or added; the message says why.",
    423: "Another request is writing to the upload.",
    429: "Too many failed attempts or simultaneous transfers; `Retry-After` has the seconds to wait.",
    503: "The search took too long, and `details` name its costly parts; or the service is busy or its database cannot "
    "be reached, and `Retry-After` says in how many seconds to try again.",
    507: "A folder of this service is full or cannot be written, or the account may not upload so much.",
}
#: The documents of an app: their key in its `extensions`.
_DOCUMENTS: Final = "photosvc_openapi"
#: Mounts of one app for which the document is cached; a server may serve the app at several.
_MOUNTS: Final = 8
_DESCRIPTION = "A photo library that PhotoPrism clients can talk to: search, accounts, credentials and OAuth2."
_ERROR = json_object(
    "code error",
    code={"type": "integer", "description": "The status, or another number where clients distinguish cases by it."},
    error={"type": "string", "description": "Error and remedy."},
    details={"type": "array", "items": json_object(field=TEXT, message=TEXT)},
    photos={"type": "integer", "description": "If a batch stopped: the number of photos that it had changed."},
    change={"type": ["integer", "null"], "description": "If an edit stopped: its number, for undo."},
    left={
        "type": "integer",
        "description": "If an undo stopped: the number of photos left alone because they changed since.",
    },
)
_OAUTH_ERROR = {**json_object("error", error=TEXT, error_description=TEXT), "description": "RFC 6749 section 5.2."}


class Tag(NamedTuple):
    """A group of operations."""

    name: str
    text: str
    """The subject of the operations."""
    parts: tuple[str, ...]
    """Beginnings of the paths of its operations; the longest match counts."""


TAGS: Final = (
    Tag("accounts", "Accounts, with their sessions, app passwords and two-factor authentication.", ("users",)),
    Tag("albums", "Albums of people, and the months, folders and regions of the library.", ("albums",)),
    Tag("batch", "Changes of many photos, albums or labels at once.", ("batch",)),
    Tag("downloads", "Originals, one by one or many as a zip archive.", ("dl", "zip")),
    Tag("folders", "Folders of the originals, and of files that wait to be imported.", ("folders",)),
    Tag("import", "Bringing files from the import folder into the originals.", ("import",)),
    Tag("index", "Index runs, the files that they could not read, and jobs of any kind.", ("index", "errors", "jobs")),
    Tag("labels", "Labels: subjects of photos.", ("labels",)),
    Tag("OAuth2", "Tokens of OAuth2 clients.", ("oauth",)),
    Tag("people", "People, and the faces that were found in photos.", ("subjects", "faces", "markers")),
    Tag("photos", "Search, timeline and map; one photo, its values, files and history.", (
        "photos", "files", "suggest", "geo", "moments", "memories", "places",
    )),
    Tag("security log", "Who signed in, was refused, or changed accounts and credentials.", ("audit",)),
    Tag("service", "Settings for clients, health, figures, and this document.", (
        "config", "settings", "services", "healthz", "readyz", "status", "metrics", "credential", "openapi.json",
    )),
    Tag("sessions", "Signing in and out.", ("session", "sessions")),
    Tag("shared albums", "Albums that others share with the own account.", ("shared",)),
    Tag("thumbnails", "Pictures in the sizes that screens need.", ("t",)),
    Tag("trash", "Deleted originals, which can be restored.", ("trash",)),
    Tag("uploads", "New files, whole or in pieces that can be continued.", ("uploads", "users/{user_uid}/upload")),
    Tag("videos", "Videos in formats that browsers play.", ("videos",)),
)  # fmt: skip
_NAMES: Final = {part: tag.name for tag in TAGS for part in tag.parts}


def tag_of(path: str) -> str:
    """Return the name of the tag of a path relative to the API, or raise `LookupError` if `TAGS` has none."""
    part = path.removeprefix("/")
    while part and part not in _NAMES:
        part = part.rpartition("/")[0]
    return _NAMES[part]


def described_tags(names: Collection[str]) -> list[dict[str, str]]:
    """Return the tags with these names as the document describes them."""
    return [{"name": tag.name, "description": tag.text} for tag in TAGS if tag.name in names]


class DescribedOperation(NamedTuple):
    """A method of a route."""

    path: str
    """Relative to the path of the API."""
    method: str
    contract: Contract
    description: dict[str, Any]


def operations(routes: Map, views: Mapping[str, Callable[..., Any]], root: str) -> Iterator[DescribedOperation]:
    """Yield the documented operations of photosvc's routes below `root`.

    Raises:
        LookupError: a view has no contract, or its path has no tag.
    """
    for rule in routes.iter_rules():
        view = views[rule.endpoint]
        if rule.rule.startswith(f"{root}/") and hasattr(view, ACTION) and contract_of(view).documented:
            path = _ARGUMENT.sub(r"{\1}", rule.rule.removeprefix(root))
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield DescribedOperation(path, method.lower(), contract_of(view), _description(rule, view, path))


def component_name(schema: Any) -> str:  # noqa: ANN401 - a class or an instance, as apispec passes it
    """Return the name of a schema in the document."""
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def is_schema(shape: Shape | None) -> bool:
    """Return whether `shape` is a Marshmallow schema."""
    return isinstance(shape, type) and issubclass(shape, Schema)


def _description(rule: Rule, view: Callable[..., Any], path: str) -> dict[str, Any]:
    contract, action = contract_of(view), getattr(view, ACTION)
    summary, _, more = (view.__doc__ or "").partition("\n")
    parts = [" ".join(more.split()), *_needs(action)]
    arguments = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in sorted(rule.arguments)]
    operation: dict[str, Any] = {
        "operationId": rule.endpoint.rpartition(".")[2],
        "summary": summary,
        "tags": [tag_of(path)],
        "security": list(contract.security) if action == PUBLIC else _security(action, view),
        "parameters": [*arguments, *contract.parameters()],
        "responses": {str(contract.status): _answer(contract), **_errors(rule, contract, action)},
    }
    if contract.other is not None:
        operation["responses"][str(contract.other.status)] = _answer(contract.other)
    if text := " ".join(filter(None, parts)):
        operation["description"] = text
    if contract.body is not None:
        operation["requestBody"] = {"required": True, "content": _content(contract.body, contract.body_type)}
    return operation


def _needs(action: str) -> list[str]:
    if action == PUBLIC:
        return []
    rule = RULES[action]
    roles = [*sorted(rule.roles), *(["the account's owner"] if rule.own else [])]
    return [f"Needs the scope `{rule.scope}`; for {', '.join(roles)}."]


def _security(action: str, view: Callable[..., Any]) -> list[dict[str, list[str]]]:
    rule = RULES[action]
    without: list[dict[str, list[str]]] = [{}] if getattr(view, ANONYMOUS, False) else []
    return [*_TOKEN, *([{"oauth2": [rule.resource]}] if CLIENT_TOKEN in rule.kinds else []), *without]


def _answer(contract: Contract) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": contract.meaning}
    if contract.answer is not None:
        answer["content"] = _content(contract.answer, contract.answer_type, many=contract.many)
        if contract.answer is BINARY:  # generators of clients leave out types that they do not know, but not this one
            answer["content"] |= _content(BINARY, "application/octet-stream")
    if contract.headers:
        answer["headers"] = {
            name: {"description": _meaning(header), "schema": {"type": header.kind}}
            for name, header in contract.headers.items()
        }
    return answer


def _meaning(header: Header) -> str:
    if header.action and not is_mounted(header.action):
        return "Reserved: no route of this service reads it."
    return header.meaning


def _errors(rule: Rule, contract: Contract, action: str) -> dict[str, Any]:
    """Return the errors that a client must expect: by the contract, and of every view."""
    statuses = {400, 503, *contract.errors}
    if action != PUBLIC:
        statuses |= {401, 403, 429}
    if rule.arguments:
        statuses.add(404)
    if contract.body is not None:
        statuses.add(413)
    if any(parameter["in"] == "query" for parameter in contract.parameters()):
        statuses.add(414)
    form = {"application/json": {"schema": {"$ref": f"#/components/schemas/{contract.error}"}}}
    described: dict[str, Any] = {
        str(status): {"description": _ERRORS[status], "content": form} for status in sorted(statuses)
    }
    if "ETag" in contract.headers:
        described["304"] = {"description": "The answer that the client has cached is still valid."}
    return described


def _content(shape: Shape, media_type: str, *, many: bool = False) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{component_name(shape)}"} if is_schema(shape) else shape
    return {media_type: {"schema": {"type": "array", "items": schema} if many else schema}}


def document(root: str) -> bytes:
    """Return the document as JSON for the routes below `root`, with the address of the API for this client."""
    known = current_app.extensions.setdefault(_DOCUMENTS, lru_cache(maxsize=_MOUNTS)(_describe))
    described: bytes = known(root, current_service().address_of(request, "/api/v1"))
    return described


def _describe(root: str, address: str) -> bytes:
    """Return the document as JSON for the routes below `root`, the path of the API that clients reach at `address`."""
    from apispec import APISpec  # only this view needs it
    from apispec.ext.marshmallow import MarshmallowPlugin

    marshmallow = MarshmallowPlugin(schema_name_resolver=component_name)
    spec = APISpec(
        title=current_service().settings.site_name,
        version=__version__,
        openapi_version="3.1.0",
        plugins=[marshmallow],
        info={"description": _DESCRIPTION},
        servers=[{"url": address}],
    )
    for kind, types in ((Timestamp, "string"), (NullableTimestamp, ["string", "null"])):
        marshmallow.map_to_openapi_type(kind, types, "date-time")  # type: ignore[no-untyped-call]
    described = [*operations(current_app.url_map, current_app.view_functions, root)]
    contracts = [operation.contract for operation in described]
    loaded = {name for contract in contracts if is_schema(contract.body) for name in _names(contract.body)}
    for schema in (shape for contract in contracts for shape in (contract.body, contract.answer) if is_schema(shape)):
        if component_name(schema) not in spec.components.schemas:  # apispec adds schemas that others nest
            spec.components.schema(component_name(schema), schema=schema)
    dumped = spec.components.schemas.keys() - loaded
    spec.components.schema("Error", _ERROR)
    spec.components.schema("OAuthError", _OAUTH_ERROR)
    for name, scheme in _security_schemes(address).items():
        spec.components.security_scheme(name, scheme)
    for tag in described_tags({name for operation in described for name in operation.description["tags"]}):
        spec.tag(tag)
    for operation in described:
        spec.path(path=operation.path, operations={operation.method: operation.description})
    made = spec.to_dict()
    for record in made["components"]["schemas"].values():
        for described_field in record.get("properties", {}).values():
            if described_field.get("default", ...) is None:  # generated clients would send it, or refuse it as a text
                del described_field["default"]
    optional = {*OPTIONAL, *OPTIONAL_OF_FILES}
    for name in dumped:
        record = made["components"]["schemas"][name]
        record["required"] = [field for field in record["properties"] if field not in optional]
        record.pop("additionalProperties", None)  # later versions may send more
    return orjson.dumps(made)


def _names(schema: Any) -> Iterator[str]:  # noqa: ANN401 - a Marshmallow schema
    """Yield the names of a schema and of the schemas within it."""
    yield component_name(schema)
    for field in schema().fields.values():
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            yield from _names(type(inner.schema))


def _security_schemes(address: str) -> dict[str, dict[str, Any]]:
    used = scopes_in_use(mounted_actions())
    return {
        "bearer": {"type": "http", "scheme": "bearer"},
        "authToken": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"},
        "sessionID": {"type": "apiKey", "in": "header", "name": "X-Session-ID"},
        "client": {"type": "http", "scheme": "basic", "description": "Client id and secret."},
        "oauth2": {
            "type": "oauth2",
            "flows": {
                "clientCredentials": {
                    "tokenUrl": f"{address}/oauth/token",
                    "scopes": {scope.name: scope.description for scope in SCOPES if scope.name in used},
                }
            },
        },
    }
