"""Administration > Clients > one: its properties, whether it gets tokens, its secret, and its end."""

from typing import Final

from flask import Blueprint, Response, url_for

from photosvc.auth.oauth import clients
from photosvc.auth.oauth.client_tokens import use_of_tokens
from photosvc.core.accounts import NO_LIMIT
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.models import Client
from photosvc.pages import wording
from photosvc.pages.administration.clients import client_values
from photosvc.pages.administration.frame import TYPED, administration_page, show_administration
from photosvc.pages.forms import read_form
from photosvc.pages.layout import see_other
from photosvc.web.current import current_service
from photosvc.web.managing import managed_clients

_DONE: Final = {
    "saved": "The client is changed. Tokens that it could not get any more are refused.",
    "disabled": "The client is disabled: it gets no tokens, and those it has are refused.",
    "enabled": "The client is enabled.",
}


def add_routes(pages: Blueprint) -> None:
    """Add the page of a client to the pages."""
    path = "/administration/clients/<client>"
    pages.add_url_rule(path, "client_page", show_client, methods=["GET"])
    pages.add_url_rule(f"{path}/change", view_func=change_client, methods=["POST"])
    pages.add_url_rule(f"{path}/disable", view_func=disable_client, methods=["POST"])
    pages.add_url_rule(f"{path}/enable", view_func=enable_client, methods=["POST"])
    pages.add_url_rule(f"{path}/secret", view_func=rotate_client_secret, methods=["POST"])
    pages.add_url_rule(f"{path}/delete", view_func=delete_client, methods=["POST"])


@administration_page("clients.list")
def show_client(client: str) -> Response:
    """The client."""
    return _client(client)


@administration_page("clients.change")
def change_client(client: str) -> Response:
    """Change its properties."""
    form = read_form()
    try:
        values = client_values(form)
        scope, owner = values.pop("scope"), values.pop("owner")
        managed_clients.change_client(client, clients.Changes(**values), scope=scope, owner=owner)
    except InvalidValueError as error:
        return _client(client, error, given=form)
    return _done(client, "saved")


@administration_page("clients.change")
def disable_client(client: str) -> Response:
    """Give it no tokens, and refuse those it has."""
    managed_clients.change_client(client, clients.Changes(enabled=False))
    return _done(client, "disabled")


@administration_page("clients.change")
def enable_client(client: str) -> Response:
    """Give it tokens again."""
    managed_clients.change_client(client, clients.Changes(enabled=True))
    return _done(client, "enabled")


@administration_page("clients.change")
def rotate_client_secret(client: str) -> Response:
    """Give it another secret; this page alone shows it."""
    return _client(client, secret=managed_clients.rotate_secret(client))


@administration_page("clients.remove")
def delete_client(client: str) -> Response:
    """Delete it with its tokens."""
    managed_clients.remove_client(client)
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
            told=_DONE,
            client=found,
            tokens=number,
            used=used,
            given=given or _values(found),
            secret=secret,
            wording=wording,
        )


def _values(client: Client) -> dict[str, str]:
    """What its form shows."""
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
