"""A view's contract: decorators that say beside the view what it takes, answers and refuses.

`@takes` also reads the body. The others only set an attribute, which costs a request nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from marshmallow import Schema

from photosvc.web.requests.json_body import MAX_BODY, read_json

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
        any_type: read JSON without regard to the `Content-Type`.
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
