"""The contract of a view: its right, parameters, body, answers and errors, declared by decorators beside the view.

`@takes` also reads the body: a JSON object whose values a schema checks. The other decorators only set an attribute,
which costs a request nothing. Parameters that are like a known one are reported in a header: clients misspell them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from itertools import islice
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

import orjson
from flask import current_app, request
from marshmallow import Schema, ValidationError
from marshmallow.exceptions import SCHEMA
from werkzeug.exceptions import RequestEntityTooLarge

from photosvc.auth import policy
from photosvc.core.errors import Detail, InvalidValueError
from photosvc.core.message import of_field
from photosvc.core.text import names_like
from photosvc.query.filters import BOOLEANS

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])
#: The attribute of a view that names the action of the policy it requires.
ACTION = "photosvc_action"
#: The attribute of a view that names further actions which it decides on by itself.
USES = "photosvc_uses"
#: The attribute of a view that answers requests without a credential too, in another way.
ANONYMOUS = "photosvc_anonymous"
#: The attribute of a view that limits visitors of public links, and guests, to the photos shared with them.
VISITORS = "photosvc_visitors"
#: The action of views that need no credential.
PUBLIC = "public"
#: The longest body that most routes accept, in bytes.
MAX_BODY = 64 * 1024
#: The longest body with a whole record or with many names, in bytes: 20,000 hashes take 860 KB.
LONG_BODY: Final = 1 << 20
#: The JSON Schema and the meaning of each parameter.
Parameters: TypeAlias = Mapping[str, tuple[dict[str, Any], str]]
#: Our parameters, by their names in other services.
_ELSEWHERE: Final = {
    "desc": "reverse", "descending": "reverse", "limit": "count", "max": "count", "num": "count", "order_by": "order",
    "orderby": "order", "page": "offset", "page_size": "count", "pagesize": "count", "per_page": "count",
    "query": "q", "search": "q", "skip": "offset", "sort": "order", "sort_by": "order", "sortby": "order",
    "start": "offset", "text": "q",
}  # fmt: skip
#: Names that a header may quote; others are left out.
_NAME: Final = re.compile(r"[\w.-]{1,40}", re.ASCII)
_MOST: Final = 10
#: A Marshmallow schema or a JSON Schema.
Shape: TypeAlias = type[Schema] | dict[str, Any]
#: The attribute of a view that holds its contract.
CONTRACT = "photosvc_contract"
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
BINARY = {"type": "string", "format": "binary"}


def public(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run without a credential."""
    setattr(view, ACTION, PUBLIC)
    return view


def uses(*actions: str) -> Callable[[View], View]:
    """Declare that a view, or an app that it mounts, asks the policy about `actions` by itself."""
    if unknown := set(actions) - policy.RULES.keys():
        raise LookupError(f"the policy has no action {', '.join(sorted(unknown))}")

    def mark(view: View) -> View:
        setattr(view, USES, actions)
        return view

    return mark


def for_visitors(view: View) -> View:
    """Open a view to visitors of public links, and to guests: it limits itself to the photos shared with them.

    Put it directly above the function. All other views refuse visitors, whatever the policy allows them.
    """
    setattr(view, VISITORS, True)
    return view


def is_for_visitors() -> bool:
    """Return whether the view of the current request is open to visitors of public links, and to guests."""
    view = current_app.view_functions.get(request.endpoint or "")
    return bool(getattr(view, VISITORS, False))


def required_action() -> str:
    """Return the action of the policy that the view of the current request requires; empty if none."""
    view = current_app.view_functions.get(request.endpoint or "")
    action: str = getattr(view, ACTION, PUBLIC)
    return "" if action == PUBLIC else action


def mounted_actions() -> frozenset[str]:
    """Return the actions of the policy that the routes of the current app use."""
    views = current_app.view_functions.values()
    required = {getattr(view, ACTION, PUBLIC) for view in views} - {PUBLIC}
    return frozenset(required).union(*(getattr(view, USES, ()) for view in views))


def is_mounted(action: str) -> bool:
    """Return whether a route of the current app uses `action` of the policy."""
    return action in mounted_actions()


def roles_of(action: str) -> frozenset[str]:
    """Return the roles whose users may do `action`; none when no route of the current app uses it."""
    return policy.RULES[action].roles if is_mounted(action) else frozenset()


class InvalidBodyError(InvalidValueError):
    """The body is not valid."""

    def __init__(self, message: str, details: list[Detail] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


def read_body(most: int) -> bytes:
    """Return the request's body, of at most `most` bytes.

    Raises:
        RequestEntityTooLarge: it is longer.
    """
    # Of a body in chunks, Werkzeug returns as many bytes as are allowed, as if there were no more.
    request.max_content_length = most + 1
    body = request.get_data()
    if len(body) > most:
        raise RequestEntityTooLarge
    return body


def read_json(
    schema: Schema, *, any_type: bool = False, quoted: bool = False, max_body: int = MAX_BODY
) -> dict[str, Any]:
    """Return the request's JSON object as loaded by `schema`.

    Args:
        any_type: ignore the `Content-Type`; three known clients log in with another type, or without one.
        quoted: also read a JSON text that holds the object, which a known client sends.
        max_body: longest body in bytes.

    Raises:
        InvalidBodyError: it is not JSON or not an object, or a value is not valid; the message says which.
        RequestEntityTooLarge: it is longer than `max_body`.
    """
    if not any_type and request.mimetype != "application/json":
        raise InvalidBodyError("send JSON, with the header Content-Type: application/json")
    try:
        text: bytes | str = read_body(max_body) or b"{}"
        body = orjson.loads(text)
        if quoted and isinstance(body, str):
            text = body
            body = orjson.loads(text)
        json.loads(text, object_pairs_hook=_check_names, parse_int=float)
    except (orjson.JSONDecodeError, RecursionError):
        raise InvalidBodyError("the body is not valid JSON") from None
    if not isinstance(body, dict):
        raise InvalidBodyError("the body must be a JSON object")
    return load_values(schema, body)


def _check_names(members: list[tuple[str, Any]]) -> None:
    """Refuse an object with two members of one name: readers differ in which of them counts (RFC 8259 section 4)."""
    names = set[str]()
    for name, _ in members:
        if name in names:
            detail: Detail = {"field": name[:40], "message": "is given twice"}
            raise InvalidBodyError(of_field(detail["field"], detail["message"]), [detail])
        names.add(name)


def load_values(schema: Schema, values: dict[str, Any]) -> dict[str, Any]:
    """Return values as loaded by `schema`, or raise `InvalidBodyError`, whose message names the first wrong value."""
    try:
        loaded: dict[str, Any] = schema.load(values)
    except ValidationError as error:
        raise _refused(error) from None
    return loaded


def _refused(error: ValidationError) -> InvalidBodyError:
    details: list[Detail] = [{"field": field, "message": message} for field, message in _named(error.messages_dict)]
    first = details[0]
    return InvalidBodyError(of_field(first["field"], first["message"]), details)


def _named(messages: Mapping[Any, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field with its message: fields of inner objects as `Details.Artist`, lists by their own name."""
    for name, inner in messages.items():
        field = within if within and name == SCHEMA else f"{within}.{name}".lstrip(".")
        if isinstance(inner, list):
            yield field, inner[0] if len(inner) == 1 else " ".join(map(str, inner))
        elif all(isinstance(key, str) for key in inner):
            yield from _named(inner, field)
        else:
            yield field, "is not valid"


def describe(parameters: Parameters) -> list[dict[str, Any]]:
    """Return the parameters as OpenAPI describes them."""
    return [
        {"name": name, "in": "query", "description": meaning, "schema": schema}
        for name, (schema, meaning) in parameters.items()
    ]


def read_switch(name: str) -> bool:
    """Return whether the request turns a switch on, no if it is absent or empty; raise `InvalidValueError`."""
    text = request.args.get(name, "").strip().lower()
    if text and text not in BOOLEANS:
        raise InvalidValueError(f"{name} is true or false", field=name)
    return bool(text) and BOOLEANS[text]


@lru_cache(maxsize=256)
def unknown_parameters(names: tuple[str, ...], known: frozenset[str]) -> str:
    """Return the header `X-Unknown-Parameters`: unknown names, each with a similar known one; empty if none.

    Names that resemble no parameter are left out: clients may add parameters of their own, which is no error.
    """
    return ", ".join(islice(_alike(names, known), _MOST))


def _alike(names: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if name not in known and _NAME.fullmatch(name):
            meant = _ELSEWHERE.get(name.lower()) or next(iter(names_like(name, sorted(known))), "")
            if meant:
                yield f"{name} ({meant})"


class Header(NamedTuple):
    """A response header."""

    kind: str
    """`string` or `integer`."""
    meaning: str
    action: str = ""
    """For tokens: the action that the token serves; a route must use the action before the token opens anything."""


#: Response headers by name.
Headers: TypeAlias = Mapping[str, Header]
#: The header in the contract of a view whose answers are tagged.
ETAG = {"ETag": Header("string", "The state of the answer; send it back as `If-None-Match`.")}


def json_object(required: str = "", /, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object; `required` names the properties that are always present, by default all."""
    return {"type": "object", "required": required.split() or [*properties], "properties": properties}


def outcome(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of the answer of an action, with its message and these properties."""
    return json_object(code=NUMBER, message=TEXT, **properties)


#: The answer of actions that have no other result.
MESSAGE = outcome()


@dataclass(frozen=True, slots=True)
class Contract:
    """The body, answers and errors of a view."""

    answer: Shape | None = None
    many: bool = False
    """True if the answer is a list of `answer`."""
    meaning: str = ""
    status: int = 200
    answer_type: str = _JSON
    headers: Headers = field(default_factory=dict)
    body: Shape | None = None
    body_type: str = _JSON
    parameters: Callable[[], list[dict[str, Any]]] = list
    other: "Contract | None" = None
    """Another answer with which the view can succeed."""
    errors: tuple[int, ...] = ()
    """Statuses of errors, in addition to statuses that every view can answer."""
    error: str = "Error"
    """The component of the OpenAPI document that describes errors."""
    security: tuple[dict[str, list[str]], ...] = ()
    """For views that need no token: other ways to authenticate, as OpenAPI names them."""
    documented: bool = True


def answers(
    answer: Shape | None,
    meaning: str,
    status: int = 200,
    *,
    many: bool = False,
    media_type: str = _JSON,
    headers: Headers | None = None,
    refuses: tuple[int, ...] = (),
) -> Callable[[View], View]:
    """Declare the answer of the view when it succeeds, and its error statuses.

    Args:
        answer: the body; None for an answer without one.
        meaning: a sentence for the reader of the OpenAPI document.
        headers: the headers that a client can use.
        refuses: statuses of errors, in addition to statuses that every view can answer.
    """
    return _with(
        answer=answer,
        meaning=meaning,
        status=status,
        many=many,
        answer_type=media_type,
        headers=headers or {},
        errors=refuses,
    )


def or_answers(other: Contract) -> Callable[[View], View]:
    """Declare another answer, with another status, of the view when it succeeds."""
    return _with(other=other)


def takes(
    schema: type[Schema], *, any_type: bool = False, quoted: bool = False, max_body: int = MAX_BODY
) -> Callable[[Callable[Concatenate[dict[str, Any], Args], Answer]], Callable[Args, Answer]]:
    """Read the request's JSON object as `read_json` does, and pass it to the view as the first argument."""
    loader = schema()

    def reading(view: Callable[Concatenate[dict[str, Any], Args], Answer]) -> Callable[Args, Answer]:
        @wraps(view)
        def read(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
            return view(read_json(loader, any_type=any_type, quoted=quoted, max_body=max_body), *args, **kwargs)

        return _with(body=schema)(read)

    return reading


def takes_client_form(form: dict[str, Any]) -> Callable[[View], View]:
    """Declare that the view reads a form with a client's credentials, and that its errors have the form of RFC 6749."""
    return _with(body=form, body_type=_FORM, error="OAuthError", security=({"client": []}, {}))


def takes_files(meaning: str) -> Callable[[View], View]:
    """Declare that the view reads a form with files."""
    form = json_object(files={"type": "array", "items": BINARY, "description": meaning})
    return _with(body=form, body_type="multipart/form-data")


def takes_bytes(media_type: str) -> Callable[[View], View]:
    """Declare that the view reads a body of this type unchanged."""
    return _with(body=BINARY, body_type=media_type)


def takes_headers(**headers: str) -> Callable[[View], View]:
    """Declare the headers that the view reads: their names, with underscores, and their meanings."""
    parameters = [
        {"name": name.replace("_", "-"), "in": "header", "description": meaning, "schema": TEXT}
        for name, meaning in headers.items()
    ]
    return _with(parameters=lambda: parameters)


def takes_query(parameters: Callable[[], list[dict[str, Any]]]) -> Callable[[View], View]:
    """Declare the parameters that the view reads from the query string, as OpenAPI describes them."""
    return _with(parameters=parameters)


def undocumented(view: View) -> View:
    """Leave the view out of the OpenAPI document."""
    return _with(documented=False)(view)


def contract_of(view: Callable[..., Any]) -> Contract:
    """Return the contract that the decorators of `view` declare, or raise `LookupError` if there is none."""
    contract: Contract | None = getattr(view, CONTRACT, None)
    if contract is None:
        raise LookupError(f"the view {view.__name__} has no contract")
    return contract


def _with(**parts: Any) -> Callable[[View], View]:  # noqa: ANN401
    def extend(view: View) -> View:
        setattr(view, CONTRACT, replace(getattr(view, CONTRACT, Contract()), **parts))
        return view

    return extend
