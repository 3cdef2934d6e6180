"""Access tokens that others can read: JWTs in the form of RFC 9068.

Here they are as good as opaque ones and no better: found by the digest of the whole token, capped, revoked at once.
Nothing in them is trusted by this service, so no forged, foreign or unsigned JWT ever gets as far as being parsed.
"""

import secrets
from datetime import datetime

from photosvc.auth.oauth.client_authentication import AuthenticatedClient
from photosvc.auth.oauth.signing_keys import SigningKey
from photosvc.auth.scopes import Scope

#: The media type of RFC 9068 section 2.1: no other JWT can pass for an access token.
KIND = "at+jwt"


def new_jwt_token(key: SigningKey, issuer: str, client: AuthenticatedClient, scope: Scope, now: datetime) -> str:
    """A signed access token for the service itself, `issuer`, with all claims that RFC 9068 section 2.2 asks for."""
    issued_at = int(now.timestamp())
    claims = {
        "iss": issuer,
        "aud": issuer,
        "sub": client.uid,
        "client_id": client.uid,
        "scope": str(scope),
        "iat": issued_at,
        "exp": issued_at + client.token_lifetime,
        "jti": secrets.token_urlsafe(16),
    }
    return key.sign(claims, kind=KIND)
