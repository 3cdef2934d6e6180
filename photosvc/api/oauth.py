"""/oauth: tokens for registered clients (spec section 4.4), their revocation and introspection."""

from flask import Blueprint, Response

from photosvc.web.current import current_service
from photosvc.web.oauth.errors import oauth_error, register_oauth_errors
from photosvc.web.protector import public


def add_routes(api: Blueprint) -> None:
    """Hang the OAuth endpoints on the API, as a blueprint of their own because their errors have another form."""
    oauth = Blueprint("oauth", __name__)
    register_oauth_errors(oauth)
    oauth.add_url_rule("/token", view_func=token, methods=["POST"])
    oauth.add_url_rule("/revoke", view_func=revoke, methods=["POST"])
    oauth.add_url_rule("/introspect", view_func=introspect, methods=["POST"])
    oauth.add_url_rule("/authorize", "authorize", not_implemented, methods=["GET", "POST"])
    oauth.add_url_rule("/userinfo", "userinfo", not_implemented, methods=["GET", "POST"])
    api.register_blueprint(oauth, url_prefix="/oauth")


@public
def token() -> Response:
    """Issue an access token to a client that shows its secret (RFC 6749 section 4.4)."""
    answer: Response = current_service().oauth.create_token_response()
    return answer


@public
def revoke() -> Response:
    """End a token (RFC 7009)."""
    answer: Response = current_service().oauth.create_endpoint_response("revocation")
    return answer


@public
def introspect() -> Response:
    """Tell a client about a token (RFC 7662)."""
    answer: Response = current_service().oauth.create_endpoint_response("introspection")
    return answer


@public
def not_implemented() -> Response:
    """A placeholder (spec section 1); the discovery metadata leaves it out."""
    return oauth_error(501, "not_implemented", "This service logs nobody in for others.")
