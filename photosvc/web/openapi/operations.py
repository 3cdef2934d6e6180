"""The operations of the API as the OpenAPI document has them: one for each method of a route."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from marshmallow import Schema
from werkzeug.routing import Map, Rule

from photosvc.auth.policy import RULES
from photosvc.models import CLIENT_TOKEN
from photosvc.web.actions import ACTION, PUBLIC, is_mounted
from photosvc.web.contract import Contract, Header, Shape, contract_of
from photosvc.web.openapi.tags import tag_of

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


class Operation(NamedTuple):
    """A method of a route."""

    path: str
    """Below the path of the API."""
    method: str
    contract: Contract
    description: dict[str, Any]


def operations(routes: Map, views: Mapping[str, Callable[..., Any]], root: str) -> Iterator[Operation]:
    """The operations of each route below `root` that is ours and documented.

    Raises:
        LookupError: a view has no contract, or its path no tag.

    """
    for rule in routes.iter_rules():
        view = views[rule.endpoint]
        if rule.rule.startswith(f"{root}/") and hasattr(view, ACTION) and contract_of(view).documented:
            path = _ARGUMENT.sub(r"{\1}", rule.rule.removeprefix(root))
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield Operation(path, method.lower(), contract_of(view), _description(rule, view, path))


def component_name(schema: Any) -> str:  # noqa: ANN401 - a class or an instance, as apispec passes it
    """The name of a schema in the document."""
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def is_schema(shape: Shape | None) -> bool:
    """Whether `shape` is a Marshmallow schema."""
    return isinstance(shape, type) and issubclass(shape, Schema)


def _description(rule: Rule, view: Callable[..., Any], path: str) -> dict[str, Any]:
    contract, action = contract_of(view), getattr(view, ACTION)
    summary, _, more = (view.__doc__ or "").partition("\n")
    parts = [" ".join(more.split()), *_needs(action)]
    operation: dict[str, Any] = {
        "operationId": rule.endpoint.rpartition(".")[2],
        "summary": summary,
        "tags": [tag_of(path)],
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
    schema = {"$ref": f"#/components/schemas/{component_name(shape)}"} if is_schema(shape) else shape
    return {media_type: {"schema": {"type": "array", "items": schema} if many else schema}}
