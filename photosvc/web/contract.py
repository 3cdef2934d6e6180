"""A view's contract: decorators that say beside the view what it takes, answers and refuses.

`@takes` also reads the body. The others only set an attribute, which costs a request nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

import orjson
from flask import request
from marshmallow import Schema, ValidationError
from marshmallow.exceptions import SCHEMA

from photosvc.core.errors import Detail, InvalidValueError

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])

#: A Marshmallow schema or a JSON Schema.
Shape: TypeAlias = type[Schema] | dict[str, Any]


class Header(NamedTuple):
    """A response header."""

    kind: str
    """`string` or `integer`."""
    meaning: str
    action: str = ""
    """Of a token: the action of the policy that it is for, and that a route must use before it opens anything."""


#: Response headers by name.
Headers: TypeAlias = Mapping[str, Header]

#: The header in the contract of a view whose answers are tagged.
ETAG = {"ETag": Header("string", "The state of the answer; send it back as `If-None-Match`.")}

#: The attribute of a view that holds its contract.
CONTRACT = "photosvc_contract"
#: The longest body that most routes accept, in bytes.
MAX_BODY = 64 * 1024
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def json_object(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object; `required` names the properties that are always present."""
    return {"type": "object", "required": required.split(), "properties": properties}


#: What actions answer that have nothing else to say.
MESSAGE = json_object("code message", code=NUMBER, message=TEXT)


@dataclass(frozen=True, slots=True)
class Contract:
    """What a view takes, answers and refuses."""

    answer: Shape | None = None
    many: bool = False
    """Whether the answer is a list of `answer`."""
    meaning: str = ""
    status: int = 200
    answer_type: str = _JSON
    headers: Headers = field(default_factory=dict)
    body: Shape | None = None
    body_type: str = _JSON
    parameters: Callable[[], list[dict[str, Any]]] = list
    errors: tuple[int, ...] = ()
    """Statuses that it answers in addition to those that every view can answer."""
    error: str = "Error"
    """The component of the OpenAPI document that errors have the form of."""
    security: tuple[dict[str, list[str]], ...] = ()
    """Of views that need no token: other ways to authenticate, as OpenAPI names them."""
    documented: bool = True


def answers(
    answer: Shape | None,
    meaning: str,
    status: int = 200,
    *,
    many: bool = False,
    media_type: str = _JSON,
    headers: Headers | None = None,
) -> Callable[[View], View]:
    """Say what the view answers when it succeeds.

    Args:
        answer: the body; None for an answer without one.
        meaning: a sentence for the reader of the OpenAPI document.
        status: of the answer.
        many: whether the body is a list of `answer`.
        media_type: of the body.
        headers: those that a client can use.

    """
    return _with(
        answer=answer, meaning=meaning, status=status, many=many, answer_type=media_type, headers=headers or {}
    )


def takes(
    schema: type[Schema], *, any_type: bool = False, quoted: bool = False, max_body: int = MAX_BODY
) -> Callable[[Callable[Concatenate[dict[str, Any], Args], Answer]], Callable[Args, Answer]]:
    """Read the request's JSON object by `schema` and give it to the view as its first argument.

    Args:
        schema: what loads the body.
        any_type: read JSON whatever the `Content-Type` says.
        quoted: also read a JSON text that holds the object, which a known client sends.
        max_body: bytes.

    The view raises what `read_json` raises.

    """
    loader = schema()

    def reading(view: Callable[Concatenate[dict[str, Any], Args], Answer]) -> Callable[Args, Answer]:
        @wraps(view)
        def read(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
            return view(read_json(loader, any_type=any_type, quoted=quoted, max_body=max_body), *args, **kwargs)

        return _with(body=schema)(read)

    return reading


def takes_client_form(form: dict[str, Any]) -> Callable[[View], View]:
    """Say that the view reads a form with a client's credentials, and that its errors have the form of RFC 6749."""
    return _with(body=form, body_type=_FORM, error="OAuthError", security=({"client": []}, {}))


def takes_files(meaning: str) -> Callable[[View], View]:
    """Say that the view reads a form with files."""
    file = {"type": "string", "format": "binary"}
    form = json_object("files", files={"type": "array", "items": file, "description": meaning})
    return _with(body=form, body_type="multipart/form-data")


def takes_bytes(media_type: str) -> Callable[[View], View]:
    """Say that the view reads a body of this type as it comes."""
    return _with(body={"type": "string", "format": "binary"}, body_type=media_type)


def takes_headers(**headers: str) -> Callable[[View], View]:
    """Say which headers the view reads: their names, with low lines, and what they say."""
    parameters = [
        {"name": name.replace("_", "-"), "in": "header", "description": meaning, "schema": TEXT}
        for name, meaning in headers.items()
    ]
    return _with(parameters=lambda: parameters)


def takes_query(parameters: Callable[[], list[dict[str, Any]]]) -> Callable[[View], View]:
    """Say which parameters the view reads from the query string, as OpenAPI has them."""
    return _with(parameters=parameters)


def refuses(*errors: int) -> Callable[[View], View]:
    """Say which error statuses the view answers in addition to those that every view can answer."""
    return _with(errors=errors)


def undocumented(view: View) -> View:
    """Leave the view out of the OpenAPI document."""
    return _with(documented=False)(view)


def contract_of(view: Callable[..., Any]) -> Contract:
    """What the decorators of `view` say.

    Raises:
        LookupError: it has none of them.

    """
    found: Contract | None = getattr(view, CONTRACT, None)
    if found is None:
        msg = f"the view {view.__name__} has no contract"
        raise LookupError(msg)
    return found


def _with(**parts: Any) -> Callable[[View], View]:  # noqa: ANN401
    def extend(view: View) -> View:
        setattr(view, CONTRACT, replace(getattr(view, CONTRACT, Contract()), **parts))
        return view

    return extend


class InvalidBodyError(InvalidValueError):
    """The body is not valid."""

    def __init__(self, message: str, details: list[Detail] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


def read_json(
    schema: Schema, *, any_type: bool = False, quoted: bool = False, max_body: int = MAX_BODY
) -> dict[str, Any]:
    """The request's JSON object, as `schema` loads it.

    Args:
        schema: what loads the body.
        any_type: read JSON whatever the `Content-Type` says; three known clients log in with another, or none.
        quoted: also read a JSON text that holds the object.
        max_body: bytes.

    Raises:
        InvalidBodyError: it is not JSON, not an object, or a value is not valid; says which.
        RequestEntityTooLarge: it is longer than `max_body`.

    """
    request.max_content_length = max_body
    if not any_type and request.mimetype != "application/json":
        msg = "send JSON, with the header Content-Type: application/json"
        raise InvalidBodyError(msg)
    try:
        body = orjson.loads(request.get_data(cache=True) or b"{}")
        if quoted and isinstance(body, str):
            body = orjson.loads(body)
    except orjson.JSONDecodeError:
        msg = "the body is not valid JSON"
        raise InvalidBodyError(msg) from None
    if not isinstance(body, dict):
        msg = "the body must be a JSON object"
        raise InvalidBodyError(msg)
    return load_values(schema, body)


def load_values(schema: Schema, given: dict[str, Any]) -> dict[str, Any]:
    """Values, as `schema` loads them.

    Raises:
        InvalidBodyError: one is not valid; says which.

    """
    try:
        loaded: dict[str, Any] = schema.load(given)
    except ValidationError as error:
        raise _refused(error) from None
    return loaded


def _refused(error: ValidationError) -> InvalidBodyError:
    details: list[Detail] = [{"field": field, "message": message} for field, message in _named(error.messages_dict)]
    first = details[0]
    return InvalidBodyError(f"{first['field']}: {first['message']}", details)


def _named(messages: Mapping[Any, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """Each field with its message; those of an inner object as `Details.Artist`, lists by their own name."""
    for name, found in messages.items():
        field = within if within and name == SCHEMA else f"{within}.{name}".lstrip(".")
        if isinstance(found, list):
            yield field, " ".join(map(str, found))
        elif all(isinstance(key, str) for key in found):
            yield from _named(found, field)
        else:
            yield field, "is not valid"
