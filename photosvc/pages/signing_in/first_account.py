"""The first account of a library, made in the browser of the person who started the service."""

from flask import Blueprint, Response, request, url_for
from sqlalchemy.orm import Session

from photosvc.auth.accounts import first_account, users
from photosvc.auth.audit.events import Event
from photosvc.auth.errors import BusyError, InvalidCredentialsError, LoginError, ThrottledError
from photosvc.auth.throttle.attempts import LOGIN_BY_ADDRESS, by_address
from photosvc.core.accounts import ADMIN
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.models import User
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.layout import public_page, see_other
from photosvc.web.auditing import record
from photosvc.web.current import Service, current_service
from photosvc.web.requests.client_address import client_address
from photosvc.web.sessions.logging_in import log_in
from photosvc.web.sessions.session_cookie import set_cookie


def add_routes(pages: Blueprint) -> None:
    """Add the making of the first account to the pages."""
    pages.add_url_rule("/welcome", view_func=welcome, methods=["GET", "POST"])


@public_page
def welcome() -> Response:
    """The form for the first account, and what it sends; where there is an account, the sign-in page."""
    service = current_service()
    with service.reading() as connection:
        closed = first_account.has_accounts(connection)
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
    # By address alone: a bucket for all would let strangers keep the owner from it, and the code is too long to guess.
    with service.throttle.guarded(service.now(), [by_address(LOGIN_BY_ADDRESS, address)]) as settle:
        if not first_account.is_code(service.instance, form.get("code", "")):
            msg = "This is not the code. It is printed where `svc run` was started."
            raise InvalidCredentialsError(msg, field="code")
        password = typed_twice(form)
        user = users.new_user(service.now(), name=name, password=password, role=ADMIN)
        with service.changing() as session:
            made = _add(session, service, user)
            settle(session)
    first_account.withdraw(service.instance)
    if not made:
        return see_other(url_for(".sign_in"))
    login = log_in(service, name, password, None)
    answer = see_other(url_for(".photos"))
    set_cookie(answer, request, login.secret, login.principal, stay=True)
    return answer


def _add(session: Session, service: Service, user: User) -> bool:
    """Store the account, unless another one was stored before."""
    if first_account.has_accounts(session) or not first_account.is_offered(service.instance):
        return False
    users.add_user(session, user)
    record(session, Event.USER_ADDED, subject=user, detail=f"role {user.role}, the first account")
    return True


def _form(service: Service, error: PhotosvcError | None = None, *, name: str = "") -> Response:
    offered = first_account.is_offered(service.instance)
    return show_form("welcome", error, offered=offered, name=name)
