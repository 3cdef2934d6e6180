"""The OAuth endpoints below /oauth: tokens for registered clients, their revocation and introspection."""

from flask import Response

from photosvc.web.actions import OwnBlueprint, public, uses
from photosvc.web.contract import FLAG, NUMBER, TEXT, answers, json_object, refuses, takes_client_form, undocumented
from photosvc.web.errors import oauth_error, register_errors, render_oauth
from photosvc.web.oauth import current_oauth_server

_CLIENT = dict.fromkeys(("client_id", "client_secret"), TEXT)
_TOKEN_REQUEST = json_object(
    "grant_type", grant_type={"const": "client_credentials"}, scope=TEXT, resource=TEXT, **_CLIENT
)
_TOKEN = json_object(
    "access_token token_type expires_in scope",
    access_token=TEXT,
    token_type={"const": "Bearer"},
    expires_in=NUMBER,
    scope=TEXT,
)
_NAMED_TOKEN = json_object("token", token=TEXT, token_type_hint=TEXT, **_CLIENT)


#: Its errors have the form of RFC 6749. Extensions of a host app see it only by the name `oauth`.
oauth = OwnBlueprint("oauth", __name__, url_prefix="/oauth")
register_errors(oauth, render_oauth)


@oauth.post("/token")
@public
@takes_client_form(_TOKEN_REQUEST)
@answers(_TOKEN, "The access token.")
@refuses(401, 403, 429)
def token() -> Response:
    """Issue an access token to a client that shows its secret (RFC 6749 section 4.4)."""
    answer: Response = current_oauth_server().create_token_response()
    return answer


@oauth.post("/revoke")
@public
@takes_client_form(_NAMED_TOKEN)
@answers(None, "The token is revoked, or never existed.")
@refuses(401, 403, 429)
def revoke() -> Response:
    """Revoke a token (RFC 7009)."""
    answer: Response = current_oauth_server().create_endpoint_response("revocation")
    return answer


@oauth.post("/introspect")
@public
@uses("oauth.introspect")
@takes_client_form(_NAMED_TOKEN)
@answers(json_object("active", active=FLAG), "The state of the token.")
@refuses(401, 403, 429)
def introspect() -> Response:
    """Show whether a token is valid, and for which scope (RFC 7662)."""
    answer: Response = current_oauth_server().create_endpoint_response("introspection")
    return answer


@oauth.route("/authorize", methods=["GET", "POST"], endpoint="authorize")
@oauth.route("/userinfo", methods=["GET", "POST"], endpoint="userinfo")
@public
@undocumented
def not_implemented() -> Response:
    """Refuse OpenID Connect log-ins, which clients may try although the metadata do not name these addresses."""
    return oauth_error(501, "not_implemented", "This service does not implement OpenID Connect log-ins.")
