"""Requests to OAuth endpoints, read strictly: one form in the body, nothing twice, nothing from the query string.

Authlib's own reader merges query and body, takes the first of repeated parameters, and fails on bytes that are not
UTF-8. RFC 6749 sections 2.3, 3.2 and appendix B say otherwise.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Request
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from flask import Request

from photosvc.auth.oauth.client_assertions import ASSERTION_TYPE
from photosvc.auth.oauth.client_authentication import refused
from photosvc.web.requests.json_body import MAX_BODY

_FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 50
_NAMES = frozenset(
    {
        *("grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type"),
        *("scope", "resource", "token", "token_type_hint", "username", "password"),
    }
)
#: Authlib refuses plain http but for localhost; behind a proxy, or at home, that is for the owner to decide.
_ADDRESS = "https://localhost/"


class ClientCredentials(NamedTuple):
    """What most clients show to say who they are."""

    client_id: str
    secret: str


class ClientAssertion(NamedTuple):
    """What a client with a key shows instead (RFC 7523 section 2.2)."""

    assertion: str
    client_id: str | None


class OAuthRequest(OAuth2Request):  # type: ignore[misc] # Authlib has no types
    """A request as Authlib's grants and endpoints want it.

    Raises:
        InvalidRequestError: it is malformed.
        InvalidClientError: its Basic credentials are.
        RequestEntityTooLarge: the body is longer than any of ours.

    """

    def __init__(self, request: Request) -> None:
        super().__init__(request.method, _ADDRESS, headers=request.headers)
        pairs = read_form(request)
        self.resources = [value for name, value in pairs if name == "resource" and value]
        self._parameters = {name: value for name, value in pairs if value and name != "resource"}
        self.payload = BasicOAuth2Payload(self._parameters)
        self.credentials = shown_credentials(request.headers.get("Authorization", ""), self._parameters)

    @property
    def form(self) -> Mapping[str, str]:
        """The parameters of the body."""
        return self._parameters


def read_form(request: Request) -> list[tuple[str, str]]:
    """The body's parameters; only `resource` may be repeated (RFC 8707 section 2).

    Raises:
        InvalidRequestError: another content type, bad UTF-8, more than 50 fields, a repeated parameter, or one in the
            query string.
        RequestEntityTooLarge: the body is longer than `MAX_BODY`.

    """
    request.max_content_length = MAX_BODY
    if _NAMES & request.args.keys():
        raise InvalidRequestError("Send parameters in the body, not in the query string")
    if request.mimetype != _FORM:
        raise InvalidRequestError(f"Send the header Content-Type: {_FORM}")
    try:
        body = request.get_data(cache=False).decode("ascii")
        pairs = parse_qsl(body, keep_blank_values=True, errors="strict")
    except ValueError:
        raise InvalidRequestError("The body is not a form in UTF-8") from None
    if len(pairs) > _MAX_FIELDS:
        raise InvalidRequestError(f"The form has more than {_MAX_FIELDS} fields")
    names = [name for name, _ in pairs if name != "resource"]
    if len(set(names)) < len(names):
        raise InvalidRequestError("A parameter is repeated")
    return pairs


def shown_credentials(authorization: str, form: Mapping[str, str]) -> ClientCredentials | ClientAssertion | None:
    """The client's credentials, by one of the `AUTH_METHODS`; None when it shows none.

    Raises:
        InvalidRequestError: two methods at once (section 2.3), two different client ids, or an assertion of another
            type.
        InvalidClientError: the Authorization header cannot be read, or has another scheme.

    """
    client_id, secret = form.get("client_id"), form.get("client_secret")
    assertion, assertion_type = form.get("client_assertion"), form.get("client_assertion_type")
    if assertion or assertion_type:
        if authorization.strip() or secret:
            raise InvalidRequestError("Two ways to authenticate the client at once; use one")
        if not assertion or assertion_type != ASSERTION_TYPE:
            raise InvalidRequestError(f"Send client_assertion with client_assertion_type={ASSERTION_TYPE}")
        return ClientAssertion(assertion, client_id)
    if not authorization.strip():
        return ClientCredentials(client_id, secret) if client_id and secret else None
    if secret:
        raise InvalidRequestError("Two ways to authenticate the client at once; use one")
    basic = _read_basic(authorization)
    if client_id and client_id != basic.client_id:
        raise InvalidRequestError("Two different client ids")
    return basic


def _read_basic(authorization: str) -> ClientCredentials:
    """Both parts are form-encoded before they are joined (section 2.3.1)."""
    scheme, _, encoded = authorization.strip().partition(" ")
    try:
        if scheme.lower() != "basic":
            raise refused()
        decoded = base64.b64decode(encoded.strip().encode("ascii"), validate=True)
        client_id, colon, secret = decoded.partition(b":")
        shown = ClientCredentials(_form_decoded(client_id), _form_decoded(secret))
    except (binascii.Error, UnicodeError):
        raise refused() from None
    if not (colon and shown.client_id and shown.secret):
        raise refused()
    return shown


def _form_decoded(part: bytes) -> str:
    return unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8")
