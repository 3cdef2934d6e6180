"""Settings > Account: name, address and password of the own account."""

from typing import Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.accounts import users
from photosvc.auth.errors import LoginError, ThrottledError
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.layout import page, see_other
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.sessions import own_account

_DONE: Final = {
    "name": "Your name is changed.",
    "password": "Your password is changed. All other browsers are signed out; app passwords stay valid.",
}


def add_routes(pages: Blueprint) -> None:
    """Add the settings of the own account to the pages."""
    pages.add_url_rule("/settings", view_func=settings, methods=["GET"])
    pages.add_url_rule("/settings/account", "account", show_account, methods=["GET"])
    pages.add_url_rule("/settings/account/name", view_func=change_name, methods=["POST"])
    pages.add_url_rule("/settings/account/password", view_func=change_password, methods=["POST"])


@page("users.view", own=True)
def settings() -> Response:
    """The first page of the settings."""
    return see_other(url_for(".account"))


@page("users.view", own=True)
def show_account() -> Response:
    """The own account."""
    return _account(done=_DONE.get(request.args.get("done", ""), ""))


@page("users.change", own=True)
def change_name() -> Response:
    """Change the displayed name and the address."""
    form = read_form()
    names = {"display_name": form.get("display_name", ""), "email": form.get("email", "")}
    try:
        own_account.change_names(own_uid(), **names)
    except InvalidValueError as error:
        return _account(error, given=names)
    return see_other(url_for(".account", done="name"))


@page("users.password", own=True)
def change_password() -> Response:
    """Change the password; other sessions end."""
    form = read_form()
    try:
        new = typed_twice(form, "new")
        own_account.change_own_password(own_uid(), old=form.get("old", ""), new=new, code=form.get("code") or None)
    except (InvalidValueError, LoginError, ThrottledError) as error:
        return _account(error)
    return see_other(url_for(".account", done="password"))


def own_uid() -> str:
    """The UID of the account that is signed in."""
    return principal().user_uid or ""


def _account(error: PhotosvcError | None = None, *, given: dict[str, str] | None = None, done: str = "") -> Response:
    with current_service().loading() as session:
        user = users.find_user(session, own_uid())
        names = given or {"display_name": user.display_name, "email": user.email}
        return show_form("account", error, user=user, names=names, done=done)
