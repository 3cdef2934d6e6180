"""The OpenAPI document, put together."""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import current_app

from photosvc import __version__
from photosvc.api.openapi.operations import operations
from photosvc.api.openapi.shapes import BODIES, RECORDS, record_name
from photosvc.auth.scope_names import SCOPES
from photosvc.records.fields import Moment, Timestamp
from photosvc.records.photo import OPTIONAL
from photosvc.web.current import current_service

_DESCRIPTION = "A photo library that PhotoPrism clients can talk to: search, accounts, credentials and OAuth2."

_ERROR = {
    "type": "object",
    "required": ["code", "error"],
    "properties": {
        "code": {"type": "integer", "description": "The status, but where clients tell cases apart by it."},
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
    """The document for the routes below `root`, the path that the API hangs at in this app."""
    base_url = current_service().settings.base_url
    marshmallow = MarshmallowPlugin(schema_name_resolver=record_name)
    spec = APISpec(
        title=current_service().settings.site_name,
        version=__version__,
        openapi_version="3.1.0",
        plugins=[marshmallow],
        info={"description": _DESCRIPTION},
        servers=[{"url": f"{base_url}/api/v1"}],
    )
    for kind, types in ((Timestamp, "string"), (Moment, ["string", "null"])):
        marshmallow.map_to_openapi_type(kind, types, "date-time")  # type: ignore[no-untyped-call]
    for schema in (*RECORDS, *BODIES):
        spec.components.schema(record_name(schema), schema=schema)
    spec.components.schema("Error", _ERROR)
    spec.components.schema("OAuthError", _OAUTH_ERROR)
    for name, scheme in _security_schemes(base_url).items():
        spec.components.security_scheme(name, scheme)
    for path, method, operation in operations(current_app.url_map, current_app.view_functions, root):
        spec.path(path=path, operations={method: operation})
    document = spec.to_dict()
    for schema in RECORDS:  # all fields are always there, but those that are left out when they say nothing
        described = document["components"]["schemas"][record_name(schema)]
        described["required"] = [name for name in described["properties"] if name not in OPTIONAL]
        described.pop("additionalProperties", None)  # later versions may send more
    return document


def _security_schemes(base_url: str) -> dict[str, dict[str, Any]]:
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
                    "scopes": {scope.name: scope.description for scope in SCOPES},
                }
            },
        },
    }
