"""Administration > Clients: the list of OAuth2 clients with a form for new ones, and the page of each client."""

from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth import clients
from photosvc.auth.grants import use_of_tokens
from photosvc.core.accounts import CLIENT, CLIENT_TOKEN_LIFETIME, CLIENT_TOKENS, NO_LIMIT, OPAQUE
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.models import Client
from photosvc.pages import wording
from photosvc.pages.forms import read_form, read_number
from photosvc.pages.frame import TYPED, administration_page, chosen_scope, show_administration
from photosvc.pages.layout import see_other
from photosvc.web import managing
from photosvc.web.actions import is_mounted
from photosvc.web.current import current_service

#: The most clients on the page; the search finds the others.
_MOST: Final = 200
_DONE: Final = {"deleted": "Client deleted. Token format refused."}
_EMPTY: Final = {
    "role": CLIENT,
    "scope": wording.CLIENT_CHOICES[0].scope,
    "lifetime": str(CLIENT_TOKEN_LIFETIME),
    "limit": str(CLIENT_TOKENS),
    "token_format": OPAQUE,
}
_CLIENT_DONE: Final = {
    "saved": "Client saved. Tokens beyond its present rights are refused.",
    "disabled": "Client disabled. It gets no tokens, and its existing ones are refused.",
    "enabled": "Client enabled.",
}


def add_routes(pages: Blueprint) -> None:
    """Add the list and the pages of clients."""
    pages.add_url_rule("/administration/clients", "clients", list_clients, methods=["GET"])
    pages.add_url_rule("/administration/clients", view_func=add_client, methods=["POST"])
    path = "/administration/clients/<client>"
    pages.add_url_rule(path, "client_page", show_client, methods=["GET"])
    pages.add_url_rule(f"{path}/change", view_func=change_client, methods=["POST"])
    pages.add_url_rule(f"{path}/disable", view_func=disable_client, methods=["POST"])
    pages.add_url_rule(f"{path}/enable", view_func=enable_client, methods=["POST"])
    pages.add_url_rule(f"{path}/secret", view_func=rotate_client_secret, methods=["POST"])
    pages.add_url_rule(f"{path}/delete", view_func=delete_client, methods=["POST"])


@administration_page("clients.list")
def list_clients() -> Response:
    """List the clients by name, or those that the search finds."""
    return _clients()


@administration_page("clients.add")
def add_client() -> Response:
    """Register a client; only this page shows its secret."""
    form = read_form()
    try:
        made = managing.add_client(**client_values(form))
    except InvalidValueError as error:
        return _clients(error, given=form)
    return _clients(made=made)


def client_values(form: dict[str, str]) -> dict[str, Any]:
    """Return the properties of a client from its form.

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


@administration_page("clients.list")
def show_client(client: str) -> Response:
    """Show the client."""
    return _client(client)


@administration_page("clients.change")
def change_client(client: str) -> Response:
    """Change the properties of the client."""
    form = read_form()
    try:
        values = client_values(form)
        scope, owner = values.pop("scope"), values.pop("owner")
        managing.change_client(client, clients.Changes(**values), scope=scope, owner=owner)
    except InvalidValueError as error:
        return _client(client, error, given=form)
    return _done(client, "saved")


@administration_page("clients.change")
def disable_client(client: str) -> Response:
    """Disable the client: issue it no tokens, and refuse those that it has."""
    managing.change_client(client, clients.Changes(enabled=False))
    return _done(client, "disabled")


@administration_page("clients.change")
def enable_client(client: str) -> Response:
    """Enable the client again."""
    managing.change_client(client, clients.Changes(enabled=True))
    return _done(client, "enabled")


@administration_page("clients.change")
def rotate_client_secret(client: str) -> Response:
    """Give the client a new secret, which only this page shows."""
    return _client(client, secret=managing.rotate_secret(client))


@administration_page("clients.remove")
def delete_client(client: str) -> Response:
    """Delete the client with its tokens."""
    managing.remove_client(client)
    return see_other(url_for(".clients", done="deleted"))


def _done(client: str, what: str) -> Response:
    return see_other(url_for(".client_page", client=client, done=what))


def _client(
    client: str, error: PhotosvcError | None = None, *, given: dict[str, str] | None = None, secret: str = ""
) -> Response:
    service = current_service()
    with service.loading() as session:
        found = clients.find_client(session, client)
        number, used = use_of_tokens(session, found.id, service.now())
        return show_administration(
            "client",
            "clients",
            error=error,
            told=_CLIENT_DONE,
            client=found,
            tokens=number,
            used=used,
            given=given or _values(found),
            secret=secret,
            wording=wording,
        )


def _values(client: Client) -> dict[str, str]:
    """Return the values of the client's form."""
    words = set(client.scope.split())
    usual = next((choice.scope for choice in wording.CLIENT_CHOICES if set(choice.scope.split()) == words), None)
    return {
        "name": client.name,
        "scope": usual or TYPED,
        "scopes": "" if usual else client.scope,
        "role": client.role,
        "lifetime": str(client.token_lifetime),
        "limit": "" if client.token_limit == NO_LIMIT else str(client.token_limit),
        "token_format": client.token_format,
        "owner": client.user.name if client.user else "",
    }
