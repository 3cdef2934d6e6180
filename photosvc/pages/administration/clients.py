"""Administration > Clients: the OAuth2 clients, and new ones."""

from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.oauth import clients
from photosvc.core.accounts import CLIENT, CLIENT_TOKEN_LIFETIME, CLIENT_TOKENS, NO_LIMIT, OPAQUE
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.pages import wording
from photosvc.pages.administration.frame import administration_page, chosen_scope, show_administration
from photosvc.pages.forms import read_form, read_number
from photosvc.web.actions import is_mounted
from photosvc.web.current import current_service
from photosvc.web.managing import managed_clients

#: Clients on the page; the search finds the others.
_MOST: Final = 200
_DONE: Final = {"deleted": "The client is deleted; its tokens are refused."}
_EMPTY: Final = {
    "role": CLIENT,
    "scope": wording.CLIENT_CHOICES[0].scope,
    "lifetime": str(CLIENT_TOKEN_LIFETIME),
    "limit": str(CLIENT_TOKENS),
    "token_format": OPAQUE,
}


def add_routes(pages: Blueprint) -> None:
    """Add the list of clients to the pages."""
    pages.add_url_rule("/administration/clients", "clients", list_clients, methods=["GET"])
    pages.add_url_rule("/administration/clients", view_func=add_client, methods=["POST"])


@administration_page("clients.list")
def list_clients() -> Response:
    """The clients by name, or those that the search finds."""
    return _clients()


@administration_page("clients.add")
def add_client() -> Response:
    """Register a client; this page alone shows its secret."""
    form = read_form()
    try:
        made = managed_clients.add_client(**client_values(form))
    except InvalidValueError as error:
        return _clients(error, given=form)
    return _clients(made=made)


def client_values(form: dict[str, str]) -> dict[str, Any]:
    """The properties of a client, as its form sends them.

    Raises:
        InvalidValueError: one is not a number.

    """
    return {
        "name": form.get("name", ""),
        "scope": chosen_scope(form),
        "role": form.get("role", ""),
        "lifetime": read_number(form, "lifetime"),
        "limit": read_number(form, "limit", empty=NO_LIMIT),
        "token_format": form.get("token_format", ""),
        "owner": form.get("owner", ""),
    }


def _clients(
    error: PhotosvcError | None = None,
    *,
    given: dict[str, str] | None = None,
    made: clients.Registered | None = None,
) -> Response:
    search = request.args.get("q", "").strip()
    with current_service().loading() as session:
        found = clients.list_clients(session, search=search, limit=_MOST + 1)
        return show_administration(
            "clients",
            "clients",
            error=error,
            told=_DONE,
            clients=found[:_MOST],
            more=len(found) > _MOST,
            search=search,
            given=given or _EMPTY,
            made=made,
            token_path=f"{url_for('.photos')}api/v1/oauth/token" if is_mounted("oauth.introspect") else "",
            wording=wording,
        )
