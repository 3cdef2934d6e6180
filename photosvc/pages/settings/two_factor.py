"""Settings > Account > Two-factor log-in: set up with a QR code, recovery codes, and the way back."""

from typing import Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.accounts import users
from photosvc.auth.accounts.second_factor import Enrolment
from photosvc.auth.errors import LoginError, SecondFactorStateError, ThrottledError
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form
from photosvc.pages.layout import page, see_other
from photosvc.pages.settings.account import own_uid
from photosvc.web.current import current_service
from photosvc.web.sessions import own_account

_DONE: Final = {"off": "Two-factor log-in is off."}
_REFUSED: Final = (InvalidValueError, LoginError, ThrottledError, SecondFactorStateError)


def add_routes(pages: Blueprint) -> None:
    """Add two-factor log-in to the pages."""
    path = "/settings/account/two-factor"
    pages.add_url_rule(path, "two_factor", show_two_factor, methods=["GET"])
    pages.add_url_rule(f"{path}/start", view_func=start_two_factor, methods=["POST"])
    pages.add_url_rule(f"{path}/confirm", view_func=confirm_two_factor, methods=["POST"])
    pages.add_url_rule(f"{path}/end", view_func=end_two_factor, methods=["POST"])


@page("users.view", own=True)
def show_two_factor() -> Response:
    """Whether it is on, and how to change that."""
    return _two_factor(done=_DONE.get(request.args.get("done", ""), ""))


@page("users.passcode", own=True)
def start_two_factor() -> Response:
    """Show what an authenticator app needs; this page alone shows it."""
    try:
        enrolment = own_account.start_second_factor(own_uid(), read_form().get("password", ""))
    except _REFUSED as error:
        return _two_factor(error)
    return _two_factor(enrolment=enrolment, starting=True)


@page("users.passcode", own=True)
def confirm_two_factor() -> Response:
    """Turn it on with a first code; show the recovery codes, which no other page does."""
    try:
        codes = own_account.confirm_second_factor(own_uid(), read_form().get("code", ""))
    except _REFUSED as error:
        return _two_factor(error, starting=not isinstance(error, SecondFactorStateError))
    return _two_factor(codes=codes)


@page("users.passcode", own=True)
def end_two_factor() -> Response:
    """Turn it off."""
    form = read_form()
    try:
        own_account.end_second_factor(own_uid(), password=form.get("password", ""), code=form.get("code") or None)
    except _REFUSED as error:
        return _two_factor(error)
    return see_other(url_for(".two_factor", done="off"))


def _two_factor(
    error: PhotosvcError | None = None,
    *,
    enrolment: Enrolment | None = None,
    starting: bool = False,
    codes: tuple[str, ...] = (),
    done: str = "",
) -> Response:
    with current_service().loading() as session:
        on = users.find_user(session, own_uid()).totp_confirmed
    return show_form("two-factor", error, on=on, enrolment=enrolment, starting=starting, codes=codes, done=done)
