"""The operations of the API: a route with what it needs, takes and answers."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from werkzeug.routing import Map, Rule

from photosvc.api.openapi.shapes import ERRORS, SHAPES, Shape, content
from photosvc.auth.policy import RULES
from photosvc.models import CLIENT_TOKEN
from photosvc.web.protector import ACTION, PUBLIC

_ARGUMENT = re.compile(r"<(\w+)>")

#: Ways to show a token; the first that is known is used.
_TOKEN: tuple[dict[str, list[str]], ...] = ({"bearer": []}, {"authToken": []}, {"sessionID": []})


def operations(
    routes: Map, views: Mapping[str, Callable[..., Any]], root: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path below `root`, method and description of each route of the API.

    Raises:
        LookupError: a route's view has no row in `SHAPES`.

    """
    for rule in routes.iter_rules():
        view = views[rule.endpoint]
        is_ours = rule.rule.startswith(f"{root}/") and hasattr(view, ACTION)
        shape = SHAPES[view.__name__] if is_ours else None
        if shape is not None:
            path = _ARGUMENT.sub(r"{\1}", rule.rule.removeprefix(root))
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield path, method.lower(), _operation(rule, view, shape)


def _operation(rule: Rule, view: Callable[..., Any], shape: Shape) -> dict[str, Any]:
    summary, _, more = (view.__doc__ or "").partition("\n")
    action = getattr(view, ACTION)
    parts = [" ".join(more.split()), *_needs(action)]
    operation: dict[str, Any] = {
        "operationId": rule.endpoint.rpartition(".")[2],
        "summary": summary,
        "tags": [rule.rule.rpartition("/api/v1/")[2].partition("/")[0]],
        "security": shape.security if action == PUBLIC else _security(action),
        "parameters": [*map(_argument, sorted(rule.arguments)), *(shape.parameters() if shape.parameters else ())],
        "responses": {str(shape.status): _answer(shape), **_errors(rule, shape, action)},
    }
    if text := " ".join(filter(None, parts)):
        operation["description"] = text
    if shape.body is not None:
        operation["requestBody"] = {"required": True, "content": content(shape.body, shape.body_type)}
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


def _answer(shape: Shape) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": shape.meaning}
    if shape.answer is not None:
        answer["content"] = content(shape.answer, shape.answer_type)
    if shape.headers:
        answer["headers"] = {
            name: {"description": text, "schema": {"type": kind}} for name, (kind, text) in shape.headers.items()
        }
    return answer


def _errors(rule: Rule, shape: Shape, action: str) -> dict[str, Any]:
    """The errors a client has to count with, each in the form of its endpoint."""
    statuses = {400, 503, *shape.errors}
    if action != PUBLIC:
        statuses |= {401, 403}
    if rule.arguments:
        statuses.add(404)
    found: dict[str, Any] = {
        str(status): {
            "description": ERRORS[status],
            "content": content({"$ref": f"#/components/schemas/{shape.error}"}, "application/json"),
        }
        for status in sorted(statuses)
    }
    if "ETag" in shape.headers:
        found["304"] = {"description": "The answer the client has still holds."}
    return found
