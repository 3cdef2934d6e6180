"""Administration > Clients and > Devices: OAuth2 clients, and tokens of devices and programs without an account.

Clients have a list with a form for new ones, and a page each.
"""

from typing import Any, Final

from flask import Response, request, url_for
from sqlalchemy.orm import Session

from photosvc.auth import clients, credentials
from photosvc.auth.accounts import find_user
from photosvc.auth.grants import use_of_tokens
from photosvc.auth.scopes import parse_scope
from photosvc.core.accounts import CLIENT, CLIENT_TOKEN_LIFETIME, CLIENT_TOKENS, CREDENTIAL_LIFETIME, NO_LIMIT, OPAQUE
from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.models import ACCESS_TOKEN, Client, User
from photosvc.pages import wording
from photosvc.pages.administration.frame import TYPED, administration_page, chosen_scope, show_administration
from photosvc.pages.forms import read_form, read_number
from photosvc.pages.language import N_
from photosvc.pages.layout import form_page, pages, see_other
from photosvc.web.auditing import operating
from photosvc.web.contract import is_mounted
from photosvc.web.service import current_service

#: The most clients on the page; the search finds the others.
_MOST: Final = 200
_EMPTY: Final = {
    "role": CLIENT, "scope": wording.CLIENT_CHOICES[0].scope, "lifetime": str(CLIENT_TOKEN_LIFETIME),
    "limit": str(CLIENT_TOKENS), "token_format": OPAQUE,
}  # fmt: skip
_CLIENT_DONE: Final = {
    "saved": N_("Client saved. Tokens beyond its present rights are refused."),
    "disabled": N_("Client disabled. It gets no tokens, and its existing ones are refused."),
    "enabled": N_("Client enabled."),
}
_EMPTY_TOKEN: Final = {"scope": wording.TOKEN_CHOICES[0].scope, "lifetime": str(CREDENTIAL_LIFETIME)}


@pages.post("/administration/clients")
@administration_page("clients.add")
def add_client() -> Response:
    """Register a client; only this page shows its secret."""
    form = read_form()
    try:
        values = client_values(form)
        with operating() as operation:
            made = clients.register(operation, **values, user=_owner(operation.session, form))
            operation.session.expunge(made.client)
    except InvalidValueError as error:
        return _clients(error, values=form)
    return _clients(made=made)


def client_values(form: dict[str, str]) -> dict[str, Any]:
    """Return the properties of a client from its form, or raise `InvalidValueError`."""
    numbers = {"lifetime": read_number(form, "lifetime"), "limit": read_number(form, "limit", empty=NO_LIMIT)}
    scope, token_format = parse_scope(chosen_scope(form)), form.get("token_format", "")
    # The security log has changes in this order.
    return {
        "name": form.get("name", ""),
        "role": form.get("role", ""),
        "scope": scope,
        **numbers,
        "token_format": token_format,
    }


@form_page("/administration/clients", "clients", administration_page("clients.list"))
def _clients(
    error: PhotosvcError | None = None, *, values: dict[str, str] | None = None, made: clients.Registered | None = None
) -> Response:
    """List the clients that match the search, by name."""
    search = request.args.get("q", "").strip()
    with current_service().reading(orm=True) as session:
        rows = clients.list_clients(session, search=search, limit=_MOST + 1)
        return show_administration(
            "clients",
            "clients",
            error=error,
            done_texts={"deleted": N_("Client deleted. Its tokens are refused.")},
            clients=rows[:_MOST],
            more=len(rows) > _MOST,
            search=search,
            values=values or _EMPTY,
            made=made,
            token_path=f"{url_for('.photos')}api/v1/oauth/token" if is_mounted("oauth.introspect") else "",
        )


@pages.post("/administration/clients/<client>/change")
@administration_page("clients.change")
def change_client(client: str) -> Response:
    """Change the properties of the client."""
    form = read_form()
    try:
        values = client_values(form)
        with operating() as operation:
            user = _owner(operation.session, form)
            clients.change(operation, client, {**values, "user": user, "unbind": user is None})
    except InvalidValueError as error:
        return _client(client, error, values=form)
    return _done(client, "saved")


@pages.post("/administration/clients/<client>/disable")
@administration_page("clients.change")
def disable_client(client: str) -> Response:
    """Disable the client: issue no tokens to it, and refuse its existing tokens."""
    return _enable(client, enabled=False)


@pages.post("/administration/clients/<client>/enable")
@administration_page("clients.change")
def enable_client(client: str) -> Response:
    """Enable the client again."""
    return _enable(client, enabled=True)


@pages.post("/administration/clients/<client>/secret")
@administration_page("clients.change")
def rotate_client_secret(client: str) -> Response:
    """Give the client a new secret, which only this page shows."""
    with operating() as operation:
        secret = clients.change(operation, client, {}, new_secret=True).secret
    return _client(client, secret=secret)


@pages.post("/administration/clients/<client>/delete")
@administration_page("clients.remove")
def delete_client(client: str) -> Response:
    """Delete the client with its tokens."""
    with operating() as operation:
        clients.remove(operation, client)
    return see_other(url_for(".clients", done="deleted"))


def _enable(client: str, *, enabled: bool) -> Response:
    with operating() as operation:
        clients.change(operation, client, {"enabled": enabled})
    return _done(client, "enabled" if enabled else "disabled")


def _owner(session: Session, form: dict[str, str]) -> User | None:
    name = form.get("owner", "")
    try:
        return find_user(session, name) if name.strip() else None
    except NotFoundError as error:
        raise InvalidValueError(error.message, field="owner") from None


def _done(client: str, what: str) -> Response:
    return see_other(url_for(".client_page", client=client, done=what))


@form_page("/administration/clients/<client>", "client_page", administration_page("clients.list"))
def _client(
    client: str, error: PhotosvcError | None = None, *, values: dict[str, str] | None = None, secret: str = ""
) -> Response:
    """Show the client."""
    service = current_service()
    with service.reading(orm=True) as session:
        row = clients.find_client(session, client)
        number, used = use_of_tokens(session, row.id, service.now())
        return show_administration(
            "client",
            "clients",
            error=error,
            done_texts=_CLIENT_DONE,
            client=row,
            tokens=number,
            used=used,
            values=values or _values(row),
            secret=secret,
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


@pages.post("/administration/devices")
@administration_page("tokens.add")
def add_device() -> Response:
    """Make a token; only this page shows it."""
    form = read_form()
    name = form.get("name", "").strip()
    try:
        lifetime = read_number(form, "lifetime")
        wanted = parse_scope(chosen_scope(form))
        with operating() as operation:
            secret = credentials.issue(operation, name=name, scope=wanted, lifetime=lifetime).secret
    except InvalidValueError as error:
        return _devices(error, values=form)
    return _devices(name=name, secret=secret)


@pages.post("/administration/devices/<credential>/revoke")
@administration_page("tokens.remove")
def revoke_device(credential: str) -> Response:
    """Revoke a token."""
    with operating() as operation:
        credentials.revoke_owned(operation, None, ACCESS_TOKEN, credential)
    return see_other(url_for(".devices", done="revoked"))


@form_page("/administration/devices", "devices", administration_page("tokens.list"))
def _devices(
    error: PhotosvcError | None = None, *, values: dict[str, str] | None = None, name: str = "", secret: str = ""
) -> Response:
    """List the tokens that match the search, the most recently used first."""
    import segno

    search = request.args.get("q", "").strip()
    with current_service().reading(orm=True) as session:
        tokens = credentials.list_credentials(session, kinds=[ACCESS_TOKEN], search=search, limit=_MOST + 1)
        return show_administration(
            "devices",
            "devices",
            error=error,
            done_texts={"revoked": N_("Token revoked.")},
            tokens=tokens[:_MOST],
            more=len(tokens) > _MOST,
            search=search,
            values=values or _EMPTY_TOKEN,
            name=name,
            secret=secret,
            qr=segno.make(secret, error="m", micro=False).svg_inline(scale=4, border=2) if secret else "",
        )
