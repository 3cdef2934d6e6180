"""What each view takes and answers, as far as its code does not say so: a row for every view of the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from marshmallow import Schema

from photosvc.api.openapi.parameters import facet_parameters, search_parameters
from photosvc.records.credential import CredentialSchema, NewAppPasswordSchema
from photosvc.records.file import FileSchema, MarkerSchema
from photosvc.records.login import ClientConfigSchema, LoginSchema, LoginSessionSchema
from photosvc.records.photo import PhotoResultSchema
from photosvc.records.user import (
    EnrolmentSchema,
    NewUserSchema,
    PasscodeSchema,
    PasswordChangeSchema,
    PasswordSchema,
    UserChangesSchema,
    UserSchema,
)

_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

#: Records that are sent; those that others hold come first.
RECORDS: tuple[type[Schema], ...] = (
    MarkerSchema, FileSchema, PhotoResultSchema, UserSchema, EnrolmentSchema, CredentialSchema, ClientConfigSchema,
    LoginSessionSchema,
)  # fmt: skip
#: Bodies that are received.
BODIES: tuple[type[Schema], ...] = (
    LoginSchema, NewUserSchema, UserChangesSchema, PasswordChangeSchema, PasswordSchema, PasscodeSchema,
    NewAppPasswordSchema,
)  # fmt: skip

ERRORS: Mapping[int, str] = {
    400: "A value is not valid.",
    401: "The token or secret is missing, expired or not valid.",
    403: "The credential may not do this.",
    404: "There is no such thing, or it may not be seen.",
    409: "It exists already, or is needed.",
    429: "Too many failed tries; `Retry-After` says when the next is heard.",
    503: "The database is busy or cannot be reached; `Retry-After` says when to try again.",
}


def record_name(schema: Any) -> str:  # noqa: ANN401 - a class or an instance, as apispec has it
    """What the document calls a record."""
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def _object(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties}


def content(shape: type[Schema] | dict[str, Any], media_type: str) -> dict[str, Any]:
    """A body as OpenAPI tells of it."""
    named = isinstance(shape, type)
    return {media_type: {"schema": {"$ref": f"#/components/schemas/{record_name(shape)}"} if named else shape}}


def _list(schema: type[Schema]) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{record_name(schema)}"}}


_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_MESSAGE = _object("code message", code=_NUMBER, message=_TEXT)
_CACHED = {"ETag": ("string", "The state of the answer; send it back as `If-None-Match`.")}
_PAGE = {
    "X-Count": ("integer", "Files on this page."),
    "X-Limit": ("integer", "Files it could have had."),
    "X-Offset": ("integer", "Files before it."),
    "X-Total-Count": ("integer", "Files that match, if `total` was asked for."),
    "Link": ("string", "The next page, if this one is full (RFC 8288)."),
    "X-Preview-Token": ("string", "Opens thumbnails."),
    "X-Download-Token": ("string", "Opens originals, for an hour."),
}
_TOKEN_REQUEST = _object("grant_type", grant_type={"const": "client_credentials"}, scope=_TEXT, client_id=_TEXT,
                         client_secret=_TEXT)  # fmt: skip
_TOKEN = _object("access_token token_type expires_in scope", access_token=_TEXT, token_type={"const": "Bearer"},
                 expires_in=_NUMBER, scope=_TEXT)  # fmt: skip
_TOKEN_NAMED = _object("token", token=_TEXT, token_type_hint=_TEXT, client_id=_TEXT, client_secret=_TEXT)
_FACET = {"type": "array", "items": _object("value label count", value={"type": ["string", "integer"]}, label=_TEXT,
                                            count=_NUMBER)}  # fmt: skip
_NEW_CREDENTIAL = {"allOf": [{"$ref": "#/components/schemas/Credential"}, _object("secret", secret=_TEXT)]}
_CODES = _object("code recovery_codes", code=_NUMBER, recovery_codes={"type": "array", "items": _TEXT})


@dataclass(frozen=True, slots=True)
class Shape:
    """A view's body, answer, parameters and errors."""

    answer: type[Schema] | dict[str, Any] | None
    meaning: str
    status: int = 200
    answer_type: str = _JSON
    body: type[Schema] | dict[str, Any] | None = None
    body_type: str = _JSON
    parameters: Callable[[], list[dict[str, Any]]] | None = None
    headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    error: str = "Error"
    security: list[dict[str, list[str]]] = field(default_factory=list)
    """Of views that need no token."""


def _oauth(answer: dict[str, Any] | None, meaning: str, body: dict[str, Any]) -> Shape:
    return Shape(answer, meaning, body=body, body_type=_FORM, errors=(401, 429), error="OAuthError",
                 security=[{"client": []}, {}])  # fmt: skip


#: By the name of the view; None for what the document leaves out.
SHAPES: Mapping[str, Shape | None] = {
    "search_photos": Shape(_list(PhotoResultSchema), "A page of results.", parameters=search_parameters,
                           headers={**_PAGE, **_CACHED}, errors=(404,)),
    "count_facets": Shape({"type": "object", "additionalProperties": _FACET}, "Each filter's values, the commonest "
                          "first.", parameters=facet_parameters, headers=_CACHED, errors=(404,)),
    "log_in": Shape(LoginSessionSchema, "The login session.", body=LoginSchema, errors=(401, 403, 429)),
    "read": Shape(LoginSessionSchema, "The login session."),
    "log_out": Shape(_object("code status session_id", code=_NUMBER, status=_TEXT, session_id=_TEXT), "It is over."),
    "list_users": Shape(_list(UserSchema), "The accounts."),
    "add_user": Shape(UserSchema, "The account.", 201, body=NewUserSchema, errors=(409,)),
    "view_user": Shape(UserSchema, "The account."),
    "change_user": Shape(UserSchema, "The account.", body=UserChangesSchema, errors=(409,)),
    "remove_user": Shape(_MESSAGE, "It is gone.", errors=(409,)),
    "change_password": Shape(_MESSAGE, "It is changed.", body=PasswordChangeSchema, errors=(429,)),
    "list_app_passwords": Shape(_list(CredentialSchema), "The app passwords."),
    "add_app_password": Shape(_NEW_CREDENTIAL, "The app password and its secret.", 201, body=NewAppPasswordSchema,
                              errors=(429,)),
    "remove_app_password": Shape(_MESSAGE, "It is over."),
    "enrol": Shape(EnrolmentSchema, "The secret of the authenticator app.", body=PasswordSchema, errors=(409, 429)),
    "confirm": Shape(_CODES, "It is on.", body=PasscodeSchema, errors=(409, 429)),
    "disable": Shape(_MESSAGE, "It is off.", body=PasswordSchema, errors=(429,)),
    "reset": Shape(_MESSAGE, "It is off."),
    "token": _oauth(_TOKEN, "The access token.", _TOKEN_REQUEST),
    "revoke": _oauth(None, "The token is over, if it was one.", _TOKEN_NAMED),
    "introspect": _oauth(_object("active", active=_FLAG), "What the token is worth.", _TOKEN_NAMED),
    "not_implemented": None,
    "metrics": Shape(_TEXT, "Prometheus text format 0.0.4.", answer_type="text/plain"),
    "status": Shape(_object("status version", status=_TEXT, version=_TEXT), "It can answer."),
    "openapi": Shape({"type": "object"}, "This document."),
}  # fmt: skip
