"""Puts the OpenAPI document together."""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import current_app

from photosvc import __version__
from photosvc.api.openapi.operations import component_name, is_schema, operations
from photosvc.auth.policy import scopes_in_use
from photosvc.auth.scopes import SCOPES
from photosvc.records.fields import NullableTimestamp, Timestamp
from photosvc.records.photo import OPTIONAL
from photosvc.web.current import current_service
from photosvc.web.protector import mounted_actions

_DESCRIPTION = "A photo library that PhotoPrism clients can talk to: search, accounts, credentials and OAuth2."

_ERROR = {
    "type": "object",
    "required": ["code", "error"],
    "properties": {
        "code": {"type": "integer", "description": "The status, except where clients tell cases apart by it."},
        "error": {"type": "string", "description": "What was wrong and what to do."},
        "details": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_OAUTH_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}, "error_description": {"type": "string"}},
    "description": "RFC 6749 section 5.2.",
}


def describe(root: str) -> dict[str, Any]:
    """The document for the routes below `root`, the path of the API in this app."""
    base_url = current_service().settings.base_url
    marshmallow = MarshmallowPlugin(schema_name_resolver=component_name)
    spec = APISpec(
        title=current_service().settings.site_name,
        version=__version__,
        openapi_version="3.1.0",
        plugins=[marshmallow],
        info={"description": _DESCRIPTION},
        servers=[{"url": f"{base_url}/api/v1"}],
    )
    for kind, types in ((Timestamp, "string"), (NullableTimestamp, ["string", "null"])):
        marshmallow.map_to_openapi_type(kind, types, "date-time")  # type: ignore[no-untyped-call]
    described = [*operations(current_app.url_map, current_app.view_functions, root)]
    contracts = [operation.contract for operation in described]
    loaded = {component_name(contract.body) for contract in contracts if is_schema(contract.body)}
    for schema in (shape for contract in contracts for shape in (contract.body, contract.answer) if is_schema(shape)):
        if component_name(schema) not in spec.components.schemas:  # apispec adds schemas that others nest
            spec.components.schema(component_name(schema), schema=schema)
    dumped = spec.components.schemas.keys() - loaded
    spec.components.schema("Error", _ERROR)
    spec.components.schema("OAuthError", _OAUTH_ERROR)
    for name, scheme in _security_schemes(base_url).items():
        spec.components.security_scheme(name, scheme)
    for operation in described:
        spec.path(path=operation.path, operations={operation.method: operation.description})
    document = spec.to_dict()
    for name in dumped:
        record = document["components"]["schemas"][name]
        record["required"] = [field for field in record["properties"] if field not in OPTIONAL]
        record.pop("additionalProperties", None)  # later versions may send more
    return document


def _security_schemes(base_url: str) -> dict[str, dict[str, Any]]:
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
                    "tokenUrl": f"{base_url}/api/v1/oauth/token",
                    "scopes": {scope.name: scope.description for scope in SCOPES if scope.name in used},
                }
            },
        },
    }
