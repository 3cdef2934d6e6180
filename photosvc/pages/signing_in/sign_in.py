"""Signing in and out: a password and, where the account has one, a code; the session is in a cookie."""

from http import HTTPStatus

from flask import Blueprint, Response, g, request, url_for

from photosvc.auth.accounts import first_account
from photosvc.auth.audit.events import Event
from photosvc.auth.credentials import half_login, login_sessions
from photosvc.auth.errors import (
    BusyError,
    InvalidPasscodeError,
    InvalidTokenError,
    LoginError,
    PasscodeRequiredError,
    ThrottledError,
)
from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.core.errors import PermissionDeniedError, PhotosvcError
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form
from photosvc.pages.layout import public_page, see_other, show
from photosvc.pages.signing_in.return_path import safe_path
from photosvc.web.actions import uses
from photosvc.web.auditing import record
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal
from photosvc.web.sessions.logging_in import finish_log_in, log_in, sweep_sessions
from photosvc.web.sessions.session_cookie import clear_cookie, set_cookie


def add_routes(pages: Blueprint) -> None:
    """Add signing in and out to the pages."""
    pages.add_url_rule("/sign-in", view_func=sign_in, methods=["GET", "POST"])
    pages.add_url_rule("/sign-out", view_func=sign_out, methods=["POST"])


@public_page
@uses("session.create")
def sign_in() -> Response:
    """The form, and what it sends."""
    if request.method == "POST":
        return _signed_in()
    target = safe_path(request.args.get("next", ""))
    if present() is not None:
        return see_other(target)
    with current_service().reading() as connection:
        if not first_account.has_accounts(connection):
            return see_other(url_for(".welcome"))
    return show("sign-in", next=target, half="", stay=True, name="", unsent=request.args.get("unsent") == "1")


def _signed_in() -> Response:
    service, form = current_service(), read_form()
    target, stay = safe_path(form.get("next", "")), form.get("stay") == "1"
    half, name = form.get("half", ""), form.get("name", "")
    before = present()
    try:
        if half:
            login = finish_log_in(service, half, form.get("code", ""))
        else:
            login = log_in(service, name, form.get("password", ""), None)
    except PasscodeRequiredError as error:
        half = half or half_login.begin(service.settings, service.now(), error)
        return show("sign-in", next=target, half=half, stay=stay, name=name)
    except (LoginError, PermissionDeniedError, ThrottledError, BusyError) as error:
        return _refused(error, target, half, name, stay=stay)
    _end(service, before)
    answer = see_other(target)
    set_cookie(answer, request, login.secret, login.principal, stay=stay)
    sweep_sessions(service)
    return answer


def _refused(error: PhotosvcError, target: str, half: str, name: str, *, stay: bool) -> Response:
    """The form again, with the reason as the API tells it; the code again where only that was wrong."""
    code_again = half if isinstance(error, InvalidPasscodeError | ThrottledError) else ""
    message = error.message if half == code_again else "That took too long, or the password has changed: sign in again."
    context = {"next": target, "half": code_again, "stay": stay, "name": name, "message": message}
    return show_form("sign-in", error, unauthorized=HTTPStatus.FORBIDDEN, **context)


@public_page
def sign_out() -> Response:
    """End the session of this browser."""
    _end(current_service(), present())
    answer = see_other(url_for(".sign_in"))
    clear_cookie(answer, request)
    if request.is_secure:  # over http browsers do not know the header, and log an error
        answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def present() -> Principal | None:
    """Who is signed in."""
    try:
        return principal()
    except InvalidTokenError:
        return None


def _end(service: Service, who: Principal | None) -> None:
    if who is not None and may(who, "session.end"):
        with service.writing() as session:
            login_sessions.log_out(session, who)
            record(session, Event.LOGOUT, target=who.credential_uid, by=who)
    g.pop("photosvc_principal", None)
