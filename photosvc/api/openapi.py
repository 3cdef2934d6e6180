"""GET /openapi.json: a description of the API for programs that generate clients, forms and tests."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from flask import Blueprint, Response, current_app, request
from marshmallow import Schema
from werkzeug.routing import Map, Rule

from photosvc import __version__
from photosvc.auth.policy import RULES, scopes_in_use
from photosvc.auth.scopes import SCOPES
from photosvc.models import CLIENT_TOKEN
from photosvc.records.fields import NullableTimestamp, Timestamp
from photosvc.records.photo import OPTIONAL
from photosvc.web.answers.answer import json_text
from photosvc.web.contract import TEXT, Contract, Header, Shape, answers, contract_of, json_object
from photosvc.web.current import current_service
from photosvc.web.protector import ACTION, PUBLIC, is_mounted, mounted_actions, public
from photosvc.web.service.addresses import address_of

#: Seconds a client may cache it; it changes with the version and the settings only.
_MAX_AGE = 300
#: Mounts of one app whose documents are kept; a server may serve it at several.
_MOUNTS = 8

_DESCRIPTION = "A photo library that PhotoPrism clients can talk to: search, accounts, credentials and OAuth2."

_ERROR = json_object(
    "code error",
    code={"type": "integer", "description": "The status, except where clients tell cases apart by it."},
    error={"type": "string", "description": "What was wrong and what to do."},
    details={"type": "array", "items": json_object("field message", field=TEXT, message=TEXT)},
)
_OAUTH_ERROR = {**json_object("error", error=TEXT, error_description=TEXT), "description": "RFC 6749 section 5.2."}

_ARGUMENT = re.compile(r"<(?:path:)?(\w+)>")

#: Ways to send a token; a request needs one of them.
_TOKEN: tuple[dict[str, list[str]], ...] = ({"bearer": []}, {"authToken": []}, {"sessionID": []})

_ERRORS: Mapping[int, str] = {
    400: "A value is not valid.",
    401: "The token or secret is missing, expired or not valid.",
    403: "The credential may not do this.",
    404: "It does not exist, or the credential may not see it.",
    405: "This service does not offer the method; `Allow` names those it does.",
    409: "It exists already, or the state does not allow this.",
    410: "The file is not as the library knows it, and an index run is due; or the upload was not continued in time.",
    412: "A precondition in the headers does not hold.",
    413: "The body is too long, or the request asks for too much at once.",
    415: "The body, or the file to convert, is of a kind that this service does not take.",
    416: "No range that was asked for overlaps the file.",
    422: "The file cannot be shown or added; the message says why.",
    423: "Another request is writing to the upload.",
    429: "Too many failed tries, or transfers at once; `Retry-After` says in how many seconds the next is accepted.",
    460: "The checksum is not that of the piece, which was dropped.",
    503: "The search took too long, and `details` name its costly parts; or the service is busy or its database cannot "
    "be reached, and `Retry-After` says in how many seconds to try again.",
    507: "A folder of this service is full or cannot be written, or the account may not upload so much.",
}


def add_routes(api: Blueprint) -> None:
    """Add the description to the API it describes."""
    document = lru_cache(maxsize=_MOUNTS)(_describe)  # one cache for each app

    @public
    @answers({"type": "object"}, "This document.")
    def openapi() -> Response:
        """The API as an OpenAPI 3.1 document, generated from its routes, policy, filters and records."""
        address = address_of(current_service(), request, "/api/v1")
        answer = json_text(document(str(request.url_rule).removesuffix("/openapi.json"), address))
        answer.headers["Cache-Control"] = f"public, max-age={_MAX_AGE}"
        return answer

    api.add_url_rule("/openapi.json", view_func=openapi, methods=["GET"])


def _describe(root: str, address: str) -> bytes:
    """The document, as JSON, for the routes below `root`, the path of the API in this app.

    Args:
        root: as the routes have it.
        address: as clients have it.

    """
    from apispec import APISpec  # only this view needs it
    from apispec.ext.marshmallow import MarshmallowPlugin

    marshmallow = MarshmallowPlugin(schema_name_resolver=_component_name)
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
    described = [*_operations(current_app.url_map, current_app.view_functions, root)]
    contracts = [operation.contract for operation in described]
    loaded = {_component_name(contract.body) for contract in contracts if _is_schema(contract.body)}
    for schema in (shape for contract in contracts for shape in (contract.body, contract.answer) if _is_schema(shape)):
        if _component_name(schema) not in spec.components.schemas:  # apispec adds schemas that others nest
            spec.components.schema(_component_name(schema), schema=schema)
    dumped = spec.components.schemas.keys() - loaded
    spec.components.schema("Error", _ERROR)
    spec.components.schema("OAuthError", _OAUTH_ERROR)
    for name, scheme in _security_schemes(address).items():
        spec.components.security_scheme(name, scheme)
    for operation in described:
        spec.path(path=operation.path, operations={operation.method: operation.description})
    document = spec.to_dict()
    for name in dumped:
        record = document["components"]["schemas"][name]
        record["required"] = [field for field in record["properties"] if field not in OPTIONAL]
        record.pop("additionalProperties", None)  # later versions may send more
    return orjson.dumps(document)


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


class _Operation(NamedTuple):
    """A method of a route."""

    path: str
    """Below the path of the API."""
    method: str
    contract: Contract
    description: dict[str, Any]


def _operations(routes: Map, views: Mapping[str, Callable[..., Any]], root: str) -> Iterator[_Operation]:
    """The operations of each route below `root` that is ours and documented.

    Raises:
        LookupError: a view has no contract.

    """
    for rule in routes.iter_rules():
        view = views[rule.endpoint]
        if rule.rule.startswith(f"{root}/") and hasattr(view, ACTION) and contract_of(view).documented:
            path = _ARGUMENT.sub(r"{\1}", rule.rule.removeprefix(root))
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield _Operation(path, method.lower(), contract_of(view), _description(rule, view))


def _component_name(schema: Any) -> str:  # noqa: ANN401 - a class or an instance, as apispec passes it
    """The name of a schema in the document."""
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def _is_schema(shape: Shape | None) -> bool:
    """Whether `shape` is a Marshmallow schema."""
    return isinstance(shape, type) and issubclass(shape, Schema)


def _description(rule: Rule, view: Callable[..., Any]) -> dict[str, Any]:
    contract, action = contract_of(view), getattr(view, ACTION)
    summary, _, more = (view.__doc__ or "").partition("\n")
    parts = [" ".join(more.split()), *_needs(action)]
    operation: dict[str, Any] = {
        "operationId": rule.endpoint.rpartition(".")[2],
        "summary": summary,
        "tags": [rule.rule.rpartition("/api/v1/")[2].partition("/")[0]],
        "security": list(contract.security) if action == PUBLIC else _security(action),
        "parameters": [*map(_argument, sorted(rule.arguments)), *contract.parameters()],
        "responses": {str(contract.status): _answer(contract), **_errors(rule, contract, action)},
    }
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


def _security(action: str) -> list[dict[str, list[str]]]:
    rule = RULES[action]
    return [*_TOKEN, *([{"oauth2": [rule.resource]}] if CLIENT_TOKEN in rule.kinds else [])]


def _argument(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _answer(contract: Contract) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": contract.meaning}
    if contract.answer is not None:
        answer["content"] = _content(contract.answer, contract.answer_type, many=contract.many)
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
    """The errors a client must expect: those of the contract and those that every view can answer."""
    statuses = {400, 503, *contract.errors}
    if action != PUBLIC:
        statuses |= {401, 403, 429}
    if rule.arguments:
        statuses.add(404)
    if contract.body is not None:
        statuses.add(413)
    form = {"application/json": {"schema": {"$ref": f"#/components/schemas/{contract.error}"}}}
    found: dict[str, Any] = {
        str(status): {"description": _ERRORS[status], "content": form} for status in sorted(statuses)
    }
    if "ETag" in contract.headers:
        found["304"] = {"description": "The answer that the client has cached is still valid."}
    return found


def _content(shape: Shape, media_type: str, *, many: bool = False) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{_component_name(shape)}"} if _is_schema(shape) else shape
    return {media_type: {"schema": {"type": "array", "items": schema} if many else schema}}
