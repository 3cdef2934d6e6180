"""The password again: what Administration asks for after an hour."""

from flask import Blueprint, Response, request

from photosvc.auth.errors import LoginError, ThrottledError
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form
from photosvc.pages.layout import page, see_other
from photosvc.pages.signing_in.return_path import safe_path
from photosvc.web.protector import principal
from photosvc.web.sessions import own_account


def add_routes(pages: Blueprint) -> None:
    """Add the page that asks for the password."""
    pages.add_url_rule("/administration/confirm", "confirm", show_confirm, methods=["GET"])
    pages.add_url_rule("/administration/confirm", view_func=send_password, methods=["POST"])


@page("session.confirm")
def show_confirm() -> Response:
    """The form."""
    return _form(safe_path(request.args.get("next", "")), unsent=request.args.get("unsent") == "1")


@page("session.confirm")
def send_password() -> Response:
    """Check the password, and lead back to the page that asked for it."""
    form = read_form()
    target = safe_path(form.get("next", ""))
    try:
        own_account.confirm_password(principal().user_uid or "", form.get("password", ""))
    except (InvalidValueError, LoginError, ThrottledError) as error:
        return _form(target, error)
    return see_other(target)


def _form(target: str, error: PhotosvcError | None = None, *, unsent: bool = False) -> Response:
    return show_form("administration/confirm", error, next=target, unsent=unsent)
