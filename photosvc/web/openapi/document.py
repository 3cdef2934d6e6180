"""The whole document, made once for each address of the API."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import orjson
from flask import current_app, request
from marshmallow import fields

from photosvc import __version__
from photosvc.auth.policy import scopes_in_use
from photosvc.auth.scopes import SCOPES
from photosvc.records.fields import NullableTimestamp, Timestamp
from photosvc.records.photos.photo import OPTIONAL
from photosvc.web.actions import mounted_actions
from photosvc.web.contract import TEXT, json_object
from photosvc.web.current import current_service
from photosvc.web.openapi.operations import component_name, is_schema, operations
from photosvc.web.openapi.tags import described_tags
from photosvc.web.service.addresses import address_of

#: In the extensions of an app: its documents.
_DOCUMENTS: Final = "photosvc_openapi"
#: Mounts of one app whose documents are kept; a server may serve it at several.
_MOUNTS: Final = 8

_DESCRIPTION = "A photo library that PhotoPrism clients can talk to: search, accounts, credentials and OAuth2."

_ERROR = json_object(
    "code error",
    code={"type": "integer", "description": "The status, except where clients tell cases apart by it."},
    error={"type": "string", "description": "What was wrong and what to do."},
    details={"type": "array", "items": json_object("field message", field=TEXT, message=TEXT)},
)
_OAUTH_ERROR = {**json_object("error", error=TEXT, error_description=TEXT), "description": "RFC 6749 section 5.2."}


def document(root: str) -> bytes:
    """The document as JSON, with the address by which the client of this request reaches the API.

    Args:
        root: the path of the API as the routes of this app have it.

    """
    known = current_app.extensions.setdefault(_DOCUMENTS, lru_cache(maxsize=_MOUNTS)(_describe))
    described: bytes = known(root, address_of(current_service(), request, "/api/v1"))
    return described


def _describe(root: str, address: str) -> bytes:
    """The document, as JSON, for the routes below `root`, the path of the API in this app.

    Args:
        root: as the routes have it.
        address: as clients have it.

    """
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
    for name in dumped:
        record = made["components"]["schemas"][name]
        record["required"] = [field for field in record["properties"] if field not in OPTIONAL]
        record.pop("additionalProperties", None)  # later versions may send more
    return orjson.dumps(made)


def _names(schema: Any) -> Iterator[str]:  # noqa: ANN401 - a Marshmallow schema
    """The names of a schema and of those within it."""
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
