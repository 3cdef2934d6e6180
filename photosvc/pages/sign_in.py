"""Signing in and out, and the first account of a library, which the person who started the service makes.

Signing in takes a password and, with two-factor authentication, a code. A cookie holds the session.
"""

from http import HTTPStatus
from typing import Any

from flask import Response, g, request, url_for
from sqlalchemy.orm import Session

from photosvc.auth import accounts, first_account
from photosvc.auth import login as login_sessions
from photosvc.auth.errors import (
    BusyError,
    InvalidCredentialsError,
    InvalidPasscodeError,
    InvalidTokenError,
    LoginError,
    PasscodeRequiredError,
    ThrottledError,
)
from photosvc.auth.login import Login, Proof
from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.auth.throttle import FIRST_ACCOUNT_BY_ADDRESS, by_address
from photosvc.core.accounts import ADMIN
from photosvc.core.errors import InvalidValueError, PermissionDeniedError, PhotosvcError
from photosvc.models import User
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.language import N_
from photosvc.pages.layout import pages, public_page, safe_path, see_other, show
from photosvc.web.auditing import operating, operation_in
from photosvc.web.contract import for_visitors, uses
from photosvc.web.cookie import clear_cookie, set_cookie
from photosvc.web.own_account import finish_log_in, log_in, sweep_sessions
from photosvc.web.protector import principal
from photosvc.web.proxies import client_address, origin_of
from photosvc.web.service import Service, current_service


@pages.route("/welcome", methods=["GET", "POST"])
@public_page
def welcome() -> Response:
    """Show the form for the first account, or make it. Once an account exists, lead to the sign-in page."""
    service = current_service()
    with service.reading() as connection:
        closed = accounts.has_accounts(connection)
    if closed:
        return see_other(url_for(".sign_in"))
    if request.method != "POST":
        return _form(service)
    form = read_form()
    try:
        return _made(service, form)
    except (InvalidValueError, LoginError, ThrottledError, BusyError) as error:
        return _form(service, error, name=form.get("name", ""))


def _made(service: Service, form: dict[str, str]) -> Response:
    name = form.get("name", "")
    address = client_address(request)
    # Only by address: a limit for all addresses would let strangers lock the owner out; the code is too long to guess.
    with service.throttle.guarded(service.now(), [by_address(FIRST_ACCOUNT_BY_ADDRESS, address)]) as settle:
        if not first_account.is_code(service.instance, form.get("code", "")):
            msg = N_("Wrong code. Only the one that `svc run` printed at its last start is valid.")
            raise InvalidCredentialsError(msg, field="code")
        password = typed_twice(form)
        user = accounts.new_user(service.now(), name=name, password=password, role=ADMIN)
        with service.writing(library=True) as session:
            login = _add(session, service, user)
            settle(session)
    first_account.withdraw(service.instance)
    if login is None:
        return see_other(url_for(".sign_in"))
    answer = see_other(url_for(".photos", welcome=1))
    set_cookie(answer, request, login.secret, login.principal, stay=True)
    return answer


def _add(session: Session, service: Service, user: User) -> Login | None:
    """Store the account and open its session, unless another account was stored before.

    The session is opened without a log-in, which could be refused after failures of others from this address.
    """
    if accounts.has_accounts(session) or not first_account.is_offered(service.instance):
        return None
    operation = operation_in(session)
    accounts.add(operation, user, remark=", the first account")
    proof = Proof(user_id=user.id, password_version=user.password_version)
    return login_sessions.log_in(operation, proof, origin_of(request))


def _form(service: Service, error: PhotosvcError | None = None, *, name: str = "") -> Response:
    offered = first_account.is_offered(service.instance)
    return show_form("welcome", error, offered=offered, name=name)


@pages.route("/sign-in", methods=["GET", "POST"])
@public_page
@uses("session.create")
@for_visitors
def sign_in() -> Response:
    """Show the form, or sign in with it."""
    if request.method == "POST":
        return _signed_in()
    target = safe_path(request.args.get("next", ""))
    if present() is not None:
        return see_other(target)
    with current_service().reading() as connection:
        if not accounts.has_accounts(connection):
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
        half = half or login_sessions.sign_proof(service.settings, service.now(), error)
        return show("sign-in", next=target, half=half, stay=stay, name=name)
    except (LoginError, PermissionDeniedError, ThrottledError, BusyError) as error:
        return _refused(error, target, half, name, stay=stay)
    _end(before)
    answer = see_other(target)
    set_cookie(answer, request, login.secret, login.principal, stay=stay)
    sweep_sessions(service)
    return answer


def _refused(error: PhotosvcError, target: str, half: str, name: str, *, stay: bool) -> Response:
    """Show the form again with the API's reason; ask only for the code again if only the code was wrong."""
    code_again = half if isinstance(error, InvalidPasscodeError | ThrottledError) else ""
    message = (
        error.message
        if half == code_again
        else N_("The code came too late, or the password has changed: sign in again.")
    )
    context: dict[str, Any] = {"next": target, "half": code_again, "stay": stay, "name": name, "message": message}
    return show_form("sign-in", error, unauthorized=HTTPStatus.FORBIDDEN, **context)


@pages.post("/sign-out")
@public_page
@for_visitors
def sign_out() -> Response:
    """End the session of this browser."""
    _end(present())
    answer = see_other(url_for(".sign_in"))
    clear_cookie(answer, request)
    if request.is_secure:  # over http browsers do not know the header, and log an error
        answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def present() -> Principal | None:
    """Return the principal of the session; None without a valid session."""
    try:
        return principal()
    except InvalidTokenError:
        return None


def _end(who: Principal | None) -> None:
    if who is not None and may(who, "session.end"):
        with operating() as operation:
            login_sessions.log_out(operation, who)
    g.pop("photosvc_principal", None)
