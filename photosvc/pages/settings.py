"""Settings: name, address, password, app passwords, sessions, two-factor, and the ways of data in and out."""

from typing import Any, Final

from flask import Response, url_for

from photosvc.auth import accounts, credentials, second_factor
from photosvc.auth.accounts import find_user
from photosvc.auth.errors import AppPasswordLimitError, LoginError, SecondFactorStateError, ThrottledError
from photosvc.auth.policy import may
from photosvc.auth.second_factor import Enrolment
from photosvc.core.accounts import CREDENTIAL_LIFETIME
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.models import APP_PASSWORD, LOGIN_SESSION
from photosvc.pages import wording
from photosvc.pages.administration.frame import chosen_scope
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.language import LANGUAGES, N_, choose_language, chosen_language
from photosvc.pages.layout import form_page, page, pages, see_other, show
from photosvc.web import own_account
from photosvc.web.auditing import operating
from photosvc.web.protector import principal
from photosvc.web.service import current_service

_DONE: Final = {
    "name": N_("Your name is changed."),
    "language": N_("The language is saved in this browser."),
    "password": N_("Your password is changed. All other browsers are signed out; app passwords stay valid."),
}
_MOST: Final = 1000
_APPS_DONE: Final = {"revoked": N_("App password revoked."), "ended": N_("Signed out.")}
_TWO_FACTOR_DONE: Final = {"off": N_("Two-factor authentication is off.")}
_REFUSED: Final = (InvalidValueError, LoginError, ThrottledError, SecondFactorStateError)


@pages.get("/settings")
@page("users.view", own=True)
def settings() -> Response:
    """Lead to the first page of the settings."""
    return see_other(url_for(".account"))


@pages.get("/settings/data")
@page("users.view", own=True)
def data() -> Response:
    """Explain the ways in and out, and offer the photos with their details to those who may download them."""
    address = url_for("photosvc.downloads.select_files")
    return show("data", may_download=may(principal(), "photos.download"), zip_address=address)


@pages.post("/settings/account/name")
@page("users.change", own=True)
def change_name() -> Response:
    """Change the displayed name and the address."""
    form = read_form()
    names = {"display_name": form.get("display_name", ""), "email": form.get("email", "")}
    try:
        with operating() as operation:
            accounts.change(operation, own_uid(), display_name=names["display_name"], email=names["email"])
    except InvalidValueError as error:
        return _account(error, values=names)
    return see_other(url_for(".account", done="name"))


@pages.post("/settings/account/password")
@page("users.password", own=True)
def change_password() -> Response:
    """Change the password; other sessions end."""
    form = read_form()
    try:
        new = typed_twice(form, "new")
        own_account.change_password(own_uid(), old=form.get("old", ""), new=new, code=form.get("code") or None)
    except (InvalidValueError, LoginError, ThrottledError) as error:
        return _account(error)
    return see_other(url_for(".account", done="password"))


@pages.post("/settings/account/language")
@page("users.view", own=True)
def change_language() -> Response:
    """Choose the language of the pages in this browser, or leave it to the browser."""
    answer = see_other(url_for(".account", done="language"))
    choose_language(answer, read_form().get("language", ""))
    return answer


def own_uid() -> str:
    """Return the UID of the account that is signed in."""
    return principal().user_uid or ""


@form_page("/settings/account", "account", page("users.view", own=True))
def _account(error: PhotosvcError | None = None, *, values: dict[str, str] | None = None) -> Response:
    """Show the account of the user."""
    with current_service().reading(orm=True) as session:
        user = find_user(session, own_uid())
        names = values or {"display_name": user.display_name, "email": user.email}
        return show_form(
            "account", error, done_texts=_DONE, user=user, names=names, languages=LANGUAGES, chosen=chosen_language()
        )


@pages.post("/settings/account/apps")
@page("users.app_passwords.add", own=True)
def add_app() -> Response:
    """Create an app password; only this page shows it."""
    form = read_form()
    try:
        made = own_account.add_app_password(
            own_uid(),
            name=form.get("name", "").strip(),
            scope=chosen_scope(form),
            lifetime=_lifetime(form.get("lifetime", "")),
            password=form.get("password", ""),
            code=form.get("code") or None,
        )
    except (InvalidValueError, LoginError, ThrottledError, AppPasswordLimitError) as error:
        return _apps(error, values=form)
    return _apps(made=made)


@pages.post("/settings/account/apps/<credential>/revoke")
@page("users.app_passwords.remove", own=True)
def revoke_app(credential: str) -> Response:
    """Revoke an app password."""
    with operating() as operation:
        credentials.revoke_owned(operation, find_user(operation.session, own_uid()), APP_PASSWORD, credential)
    return see_other(url_for(".apps", done="revoked"))


@pages.post("/settings/account/sessions/<credential>/end")
@page("users.sessions.end", own=True)
def end_session(credential: str) -> Response:
    """End a session."""
    with operating() as operation:
        credentials.revoke_owned(operation, find_user(operation.session, own_uid()), LOGIN_SESSION, credential)
    return see_other(url_for(".apps", done="ended"))


@pages.post("/settings/account/sessions/end-others")
@page("users.sessions.end", own=True)
def end_other_sessions() -> Response:
    """End all sessions except this browser's."""
    with operating() as operation:
        credentials.end_sessions(operation, find_user(operation.session, own_uid()))
    return see_other(url_for(".apps", done="ended"))


def _lifetime(text: str) -> int:
    known = {str(seconds): seconds for seconds, _ in wording.LIFETIMES}
    if text not in known:
        raise InvalidValueError(N_("choose an expiry"), field="lifetime")
    return known[text]


@form_page("/settings/account/apps", "apps", page("users.app_passwords.list", own=True))
def _apps(
    error: PhotosvcError | None = None, *, values: dict[str, str] | None = None, made: dict[str, Any] | None = None
) -> Response:
    """Show the app passwords and sessions."""
    import segno

    service, now = current_service(), current_service().now()
    with service.reading(orm=True) as session:
        user = find_user(session, own_uid())
        apps = credentials.list_credentials(session, user=user, kinds=[APP_PASSWORD], limit=_MOST)
        return show_form(
            "apps",
            error,
            done_texts=_APPS_DONE,
            asks_code=user.totp_confirmed,
            apps=sorted(apps, key=lambda app: app.created_at, reverse=True),
            sessions=credentials.list_sessions(session, user, now),
            present=principal().credential_id,
            wording=wording,
            now=now,
            values=values or {"scope": wording.CHOICES[0].scope, "lifetime": str(CREDENTIAL_LIFETIME)},
            made=made,
            qr=segno.make(made["secret"], error="m", micro=False).svg_inline(scale=4, border=2) if made else "",
        )


@pages.post("/settings/account/two-factor/start")
@page("users.passcode", own=True)
def start_two_factor() -> Response:
    """Begin to set up two-factor authentication; only this page shows the key for an authenticator app."""
    try:
        password = read_form().get("password", "")
        enrolment = own_account.with_password(own_uid(), password, second_factor.enrol)
    except _REFUSED as error:
        return _two_factor(error)
    return _two_factor(enrolment=enrolment, starting=True)


@pages.post("/settings/account/two-factor/confirm")
@page("users.passcode", own=True)
def confirm_two_factor() -> Response:
    """Turn two-factor authentication on with a first code; only this page shows the recovery codes."""
    try:
        codes = own_account.confirm_second_factor(own_uid(), read_form().get("code", ""))
    except _REFUSED as error:
        return _two_factor(error, starting=not isinstance(error, SecondFactorStateError))
    return _two_factor(codes=codes)


@pages.post("/settings/account/two-factor/end")
@page("users.passcode", own=True)
def end_two_factor() -> Response:
    """Turn two-factor authentication off."""
    form = read_form()
    try:
        own_account.end_second_factor(own_uid(), password=form.get("password", ""), code=form.get("code") or None)
    except _REFUSED as error:
        return _two_factor(error)
    return see_other(url_for(".two_factor", done="off"))


@form_page("/settings/account/two-factor", "two_factor", page("users.view", own=True))
def _two_factor(
    error: PhotosvcError | None = None,
    *,
    enrolment: Enrolment | None = None,
    starting: bool = False,
    codes: tuple[str, ...] = (),
) -> Response:
    """Show whether two-factor authentication is on, and the form to change it."""
    with current_service().reading(orm=True) as session:
        on = find_user(session, own_uid()).totp_confirmed
    return show_form(
        "two-factor", error, done_texts=_TWO_FACTOR_DONE, on=on, enrolment=enrolment, starting=starting, codes=codes
    )
