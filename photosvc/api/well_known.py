"""The metadata below /.well-known, by which clients discover the service."""

from urllib.parse import unquote, urlsplit

from flask import Blueprint, Response, request

from photosvc.auth import discovery
from photosvc.auth.policy import scopes_in_use
from photosvc.web.begin import add_hooks
from photosvc.web.contract import answers, mounted_actions, public
from photosvc.web.cors import add_cors_headers
from photosvc.web.errors import register_errors
from photosvc.web.parts import OwnBlueprint
from photosvc.web.responses import add_security_headers, json_answer
from photosvc.web.service import current_service

_CACHED = "public, max-age=300"
_OBJECT = {"type": "object"}


def create_well_known() -> Blueprint:
    """Create the blueprint of the documents below `/.well-known` of the service."""
    blueprint = _blueprint("photosvc_well_known")
    blueprint.add_url_rule(f"/{discovery.JWKS}", view_func=jwks)
    return blueprint


def create_inserted(issuer: str) -> Blueprint | None:
    """Create the blueprint of the documents below `/.well-known` of the host, for an issuer, or its path alone.

    RFC 8414 section 3.1 inserts `/.well-known` before that path. Without a path the addresses are the service's own:
    return None.
    """
    path = unquote(urlsplit(issuer).path)
    return _blueprint("photosvc_well_known_inserted", path) if path else None


@public
@answers(_OBJECT, "RFC 8414 metadata.")
def authorization_server() -> Response:
    """Show the metadata of the authorization server (RFC 8414)."""
    return _document(discovery.server_metadata(current_service().issuer(), _scopes()))


@public
@answers(_OBJECT, "The metadata.")
def openid_configuration() -> Response:
    """Show the metadata of OpenID Connect Discovery, limited to the implemented parts."""
    return _document(discovery.openid_configuration(current_service().issuer(), _scopes()))


@public
@answers(_OBJECT, "RFC 9728 metadata.")
def protected_resource() -> Response:
    """Show the metadata of the API as a protected resource (RFC 9728)."""
    service = current_service()
    return _document(discovery.resource_metadata(service.issuer(), _scopes(), service.settings.site_name))


@public
@answers(_OBJECT, "An RFC 7517 key set.")
def jwks() -> Response:
    """Show the public keys that verify signatures of the service (RFC 7517)."""
    service = current_service()
    service.require_schema()
    return _document({"keys": [key.public() for key in service.signing_keys.published()]})


def _blueprint(name: str, path: str = "") -> Blueprint:
    blueprint = OwnBlueprint(name, __name__)
    blueprint.add_url_rule(f"/{discovery.AUTHORIZATION_SERVER}{path}", view_func=authorization_server)
    blueprint.add_url_rule(f"/{discovery.OPENID}{path}", view_func=openid_configuration)
    blueprint.add_url_rule(f"/{discovery.PROTECTED_RESOURCE}{path}", view_func=protected_resource)
    register_errors(blueprint)

    add_hooks(
        blueprint,
        add_headers=lambda answer: add_cors_headers(add_security_headers(answer)),
        needs_database=lambda _endpoint: False,
    )
    return blueprint


def _scopes() -> list[str]:
    return scopes_in_use(mounted_actions())


def _document(document: discovery.Metadata) -> Response:
    answer = json_answer(document)
    answer.headers["Cache-Control"] = _CACHED
    answer.add_etag()
    answer.make_conditional(request)
    return answer
