"""Metadata documents of the service: RFC 8414, OpenID Connect Discovery and RFC 9728.

The documents name only features that work. Addresses begin with the configured base address, not with the host that a
request names.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from photosvc.auth.grants import AUTH_METHODS, GRANT_TYPES

API = "/api/v1"
WELL_KNOWN = "/.well-known"
AUTHORIZATION_SERVER, OPENID = "oauth-authorization-server", "openid-configuration"
PROTECTED_RESOURCE, JWKS = "oauth-protected-resource", "jwks.json"
#: RFC 8414 section 2 and OpenID Connect Discovery section 3 require this claim, and RFC 8414 section 3.2 forbids empty
#: lists. Without an authorization endpoint the only response type to name is the registered `none` (OAuth 2.0
#: Multiple Response Type Encoding Practices, section 4), which returns neither a code nor a token.
_RESPONSE_TYPES = ("none",)
Metadata = dict[str, Any]


def server_metadata(base_url: str, scopes: Sequence[str]) -> Metadata:
    """Return the authorization server's metadata (RFC 8414 section 2)."""
    return {**_common(base_url, scopes), "protected_resources": [base_url]}


def openid_configuration(base_url: str, scopes: Sequence[str]) -> Metadata:
    """Return the implemented part of OpenID Connect Discovery.

    No ID tokens are issued, so the claims about their algorithms are left out.
    """
    return {
        **_common(base_url, scopes),
        "subject_types_supported": ["public"],
        "request_uri_parameter_supported": False,  # the default is true
    }


def resource_metadata(base_url: str, scopes: Sequence[str], name: str) -> Metadata:
    """Return the metadata of the API as a protected resource (RFC 9728 section 2)."""
    return {
        "resource": base_url,
        "resource_name": name,
        "authorization_servers": [base_url],
        "scopes_supported": sorted(scopes),
        "bearer_methods_supported": ["header"],
    }


def well_known_url(base_url: str, name: str) -> str:
    """Return the address of a well-known document: its path precedes the issuer's path (RFC 8414 section 3.1)."""
    parts = urlsplit(base_url)
    return parts._replace(path=f"{WELL_KNOWN}/{name}{parts.path}").geturl()


def _common(base_url: str, scopes: Sequence[str]) -> Metadata:
    return {
        "issuer": base_url,
        "token_endpoint": f"{base_url}{API}/oauth/token",
        "token_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "revocation_endpoint": f"{base_url}{API}/oauth/revoke",
        "revocation_endpoint_auth_methods_supported": [*AUTH_METHODS, "none"],
        "introspection_endpoint": f"{base_url}{API}/oauth/introspect",
        "introspection_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "jwks_uri": f"{base_url}{WELL_KNOWN}/{JWKS}",
        "scopes_supported": sorted(scopes),
        "response_types_supported": list(_RESPONSE_TYPES),
        "grant_types_supported": list(GRANT_TYPES),
    }
