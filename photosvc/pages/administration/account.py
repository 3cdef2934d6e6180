"""Administration > Accounts > one: role, names, password, second factor, sessions, app passwords, and its end."""

from typing import Final

from flask import Blueprint, Response, url_for
from sqlalchemy.orm import Session

from photosvc.auth.accounts import users
from photosvc.auth.credentials import bearer, open_sessions
from photosvc.auth.errors import LastAdminError, OwnSecondFactorError
from photosvc.core.errors import ConflictError, InvalidValueError, PhotosvcError
from photosvc.models import APP_PASSWORD, Credential, User
from photosvc.pages import wording
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.layout import see_other
from photosvc.web.current import current_service
from photosvc.web.managing import managed_accounts
from photosvc.web.protector import principal
from photosvc.web.sessions import own_account

_SECTION: Final = "accounts"
#: App passwords on the page.
_MOST: Final = 1000
_DONE: Final = {
    "made": "The account is made.",
    "saved": "The account is changed.",
    "disabled": "The account is disabled: nothing of it signs in any more.",
    "enabled": "The account is enabled.",
    "password": "The password is changed. The account is signed out everywhere; its app passwords stay valid.",
    "factor": "Two-factor log-in is off.",
    "ended": "Signed out there.",
    "revoked": "The app password is revoked.",
}


class OwnPasswordError(ConflictError):
    """Your own password is changed in Settings, with the present one."""


def add_routes(pages: Blueprint) -> None:
    """Add the page of an account to the pages."""
    path = "/administration/accounts/<account>"
    pages.add_url_rule(path, "account_page", show_account, methods=["GET"])
    pages.add_url_rule(f"{path}/change", view_func=change_account, methods=["POST"])
    pages.add_url_rule(f"{path}/disable", view_func=disable_account, methods=["POST"])
    pages.add_url_rule(f"{path}/enable", view_func=enable_account, methods=["POST"])
    pages.add_url_rule(f"{path}/password", view_func=set_password, methods=["POST"])
    pages.add_url_rule(f"{path}/two-factor/reset", view_func=reset_two_factor, methods=["POST"])
    pages.add_url_rule(f"{path}/sessions/end", view_func=end_sessions_of, methods=["POST"])
    pages.add_url_rule(f"{path}/sessions/<credential>/end", view_func=end_session_of, methods=["POST"])
    pages.add_url_rule(f"{path}/apps/<credential>/revoke", view_func=revoke_app_of, methods=["POST"])
    pages.add_url_rule(f"{path}/delete", "confirm_deletion", confirm_deletion, methods=["GET"])
    pages.add_url_rule(f"{path}/delete", view_func=delete_account, methods=["POST"])


@administration_page("users.view")
def show_account(account: str) -> Response:
    """The account."""
    return _account(account)


@administration_page("users.change")
def change_account(account: str) -> Response:
    """Change its role, displayed name and address."""
    form = read_form()
    try:
        managed_accounts.change_account(
            account, role=form.get("role"), display_name=form.get("display_name"), email=form.get("email")
        )
    except (InvalidValueError, LastAdminError) as error:
        return _account(account, error, given=form)
    return _done(account, "saved")


@administration_page("users.change")
def disable_account(account: str) -> Response:
    """Refuse all of its credentials until it is enabled again."""
    return _disable(account, disabled=True)


@administration_page("users.change")
def enable_account(account: str) -> Response:
    """Let it in again."""
    return _disable(account, disabled=False)


@administration_page("users.password")
def set_password(account: str) -> Response:
    """Give it another password; it is signed out everywhere."""
    form = read_form()
    try:
        new = typed_twice(form, "new")
        managed_accounts.set_password(_find_other(account), new)
    except (InvalidValueError, OwnPasswordError) as error:
        return _account(account, error)
    return _done(account, "password")


@administration_page("users.passcode.reset")
def reset_two_factor(account: str) -> Response:
    """Turn its two-factor log-in off."""
    try:
        managed_accounts.reset_second_factor(account)
    except OwnSecondFactorError:
        return _account(account, OwnSecondFactorError("Your own two-factor log-in is turned off in Settings."))
    return _done(account, "factor")


@administration_page("users.sessions.end")
def end_sessions_of(account: str) -> Response:
    """End all of its sessions but that of this browser."""
    own_account.end_other_sessions(account)
    return _done(account, "ended")


@administration_page("users.sessions.end")
def end_session_of(account: str, credential: str) -> Response:
    """End one of its sessions."""
    own_account.end_session(account, credential)
    return _done(account, "ended")


@administration_page("users.app_passwords.remove")
def revoke_app_of(account: str, credential: str) -> Response:
    """Revoke one of its app passwords."""
    own_account.remove_app_password(account, credential)
    return _done(account, "revoked")


@administration_page("users.remove")
def confirm_deletion(account: str) -> Response:
    """What goes with the account, before it does."""
    return _deletion(account)


@administration_page("users.remove")
def delete_account(account: str) -> Response:
    """Delete it with all of its credentials."""
    try:
        managed_accounts.remove_account(account)
    except LastAdminError as error:
        return _deletion(account, error)
    return see_other(url_for(".accounts", done="deleted"))


def _disable(account: str, *, disabled: bool) -> Response:
    try:
        managed_accounts.change_account(account, disabled=disabled)
    except LastAdminError as error:
        return _account(account, error)
    return _done(account, "disabled" if disabled else "enabled")


def _done(account: str, what: str) -> Response:
    return see_other(url_for(".account_page", account=account, done=what))


def _find_other(account: str) -> User:
    with current_service().loading() as session:
        user = users.find_user(session, account)
    if user.uid == principal().user_uid:
        raise OwnPasswordError
    return user


def _account(account: str, error: PhotosvcError | None = None, *, given: dict[str, str] | None = None) -> Response:
    with current_service().loading() as session:
        user = users.find_user(session, account)
        apps, sessions = _credentials(session, user)
        names = {"role": user.role, "display_name": user.display_name, "email": user.email}
        return show_administration(
            "account",
            _SECTION,
            error=error,
            told=_DONE,
            account=user,
            own=user.uid == principal().user_uid,
            given=names | (given or {}),
            apps=apps,
            sessions=sessions,
            present=principal().credential_id,
            wording=wording,
        )


def _deletion(account: str, error: PhotosvcError | None = None) -> Response:
    with current_service().loading() as session:
        user = users.find_user(session, account)
        apps, sessions = _credentials(session, user)
        return show_administration(
            "account-deletion",
            _SECTION,
            error=error,
            account=user,
            own=user.uid == principal().user_uid,
            apps=len(apps),
            sessions=len(sessions),
        )


def _credentials(session: Session, user: User) -> tuple[list[Credential], list[Credential]]:
    """Its app passwords and open sessions."""
    apps = bearer.list_credentials(session, user=user, kinds=[APP_PASSWORD], limit=_MOST)
    return apps, open_sessions.list_sessions(session, user, current_service().now())
