"""Administration > Accounts: their list with a form for new ones, and the page of each; and > Security log."""

from typing import Final

from flask import Response, request, url_for
from sqlalchemy.orm import Session

from photosvc.auth import accounts, credentials, second_factor
from photosvc.auth.accounts import find_user
from photosvc.auth.errors import LastAdminError, OwnSecondFactorError, UserExistsError
from photosvc.auth.passwords import new_hash
from photosvc.core.accounts import USER
from photosvc.core.errors import ConflictError, InvalidValueError, PhotosvcError
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, Credential, User
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.language import N_
from photosvc.pages.layout import form_page, pages, see_other
from photosvc.web.auditing import operating
from photosvc.web.protector import principal
from photosvc.web.service import current_service

_SECTION: Final = "accounts"
#: The most app passwords on the page of an account.
_ACCOUNT_MOST: Final = 1000
_ACCOUNT_DONE: Final = {
    "made": N_("Account created."),
    "saved": N_("Account saved."),
    "disabled": N_("Account disabled. Its password, app passwords and sessions are refused."),
    "enabled": N_("Account enabled."),
    "password": N_("The password is changed. The account is signed out everywhere; its app passwords stay valid."),
    "factor": N_("Two-factor authentication is off."),
    "ended": N_("Signed out."),
    "revoked": N_("App password revoked."),
}
#: The most accounts on the page; the search finds the others.
_MOST: Final = 200
_FIELDS: Final = ("name", "display_name", "email", "role")


class OwnPasswordError(ConflictError):
    """Change your own password in Settings: that needs your current password."""


@pages.post("/administration/accounts/<account>/change")
@administration_page("users.change")
def change_account(account: str) -> Response:
    """Change role, displayed name and address of the account."""
    form = read_form()
    try:
        with operating() as operation:
            role, display_name, email = form.get("role"), form.get("display_name"), form.get("email")
            accounts.change(operation, account, role=role, display_name=display_name, email=email)
    except (InvalidValueError, LastAdminError) as error:
        return _account(account, error, values=form)
    return _done(account, "saved")


@pages.post("/administration/accounts/<account>/disable")
@administration_page("users.change")
def disable_account(account: str) -> Response:
    """Disable the account: refuse all of its credentials until it is enabled again."""
    return _disable(account, disabled=True)


@pages.post("/administration/accounts/<account>/enable")
@administration_page("users.change")
def enable_account(account: str) -> Response:
    """Enable the account again."""
    return _disable(account, disabled=False)


@pages.post("/administration/accounts/<account>/password")
@administration_page("users.password")
def set_password(account: str) -> Response:
    """Set the password of another account, and sign it out everywhere."""
    form = read_form()
    try:
        new = typed_twice(form, "new")
        user = _find_other(account)
        fresh = new_hash(new, user_name=user.name, field="new")
        with operating() as operation:
            accounts.set_password(operation, user.uid, fresh)
    except (InvalidValueError, OwnPasswordError) as error:
        return _account(account, error)
    return _done(account, "password")


@pages.post("/administration/accounts/<account>/two-factor/reset")
@administration_page("users.passcode.reset")
def reset_two_factor(account: str) -> Response:
    """Turn the account's two-factor authentication off."""
    try:
        with operating() as operation:
            second_factor.reset(operation, find_user(operation.session, account))
    except OwnSecondFactorError:
        return _account(account, OwnSecondFactorError(N_("Turn your own two-factor authentication off in Settings.")))
    return _done(account, "factor")


@pages.post("/administration/accounts/<account>/sessions/end")
@administration_page("users.sessions.end")
def end_sessions_of(account: str) -> Response:
    """End all sessions of the account except this browser's."""
    with operating() as operation:
        credentials.end_sessions(operation, find_user(operation.session, account))
    return _done(account, "ended")


@pages.post("/administration/accounts/<account>/sessions/<credential>/end")
@administration_page("users.sessions.end")
def end_session_of(account: str, credential: str) -> Response:
    """End a session of the account."""
    with operating() as operation:
        credentials.revoke_owned(operation, find_user(operation.session, account), LOGIN_SESSION, credential)
    return _done(account, "ended")


@pages.post("/administration/accounts/<account>/apps/<credential>/revoke")
@administration_page("users.app_passwords.remove")
def revoke_app_of(account: str, credential: str) -> Response:
    """Revoke an app password of the account."""
    with operating() as operation:
        credentials.revoke_owned(operation, find_user(operation.session, account), APP_PASSWORD, credential)
    return _done(account, "revoked")


@pages.post("/administration/accounts/<account>/delete")
@administration_page("users.remove")
def delete_account(account: str) -> Response:
    """Delete the account with all of its credentials."""
    try:
        with operating() as operation:
            accounts.remove(operation, account)
    except LastAdminError as error:
        return _deletion(account, error)
    return see_other(url_for(".accounts", done="deleted"))


def _disable(account: str, *, disabled: bool) -> Response:
    try:
        with operating() as operation:
            accounts.change(operation, account, disabled=disabled)
    except LastAdminError as error:
        return _account(account, error)
    return _done(account, "disabled" if disabled else "enabled")


def _done(account: str, what: str) -> Response:
    return see_other(url_for(".account_page", account=account, done=what))


def _find_other(account: str) -> User:
    with current_service().reading(orm=True) as session:
        user = find_user(session, account)
    if user.uid == principal().user_uid:
        raise OwnPasswordError
    return user


@form_page("/administration/accounts/<account>", "account_page", administration_page("users.view"))
def _account(account: str, error: PhotosvcError | None = None, *, values: dict[str, str] | None = None) -> Response:
    """Show the account."""
    with current_service().reading(orm=True) as session:
        user = find_user(session, account)
        apps, sessions = _credentials(session, user)
        names = {"role": user.role, "display_name": user.display_name, "email": user.email}
        return show_administration(
            "account",
            _SECTION,
            error=error,
            done_texts=_ACCOUNT_DONE,
            account=user,
            own=user.uid == principal().user_uid,
            values=names | (values or {}),
            apps=apps,
            sessions=sessions,
            present=principal().credential_id,
        )


@form_page("/administration/accounts/<account>/delete", "confirm_deletion", administration_page("users.remove"))
def _deletion(account: str, error: PhotosvcError | None = None) -> Response:
    """Ask for confirmation; show the number of credentials that are deleted with the account."""
    with current_service().reading(orm=True) as session:
        user = find_user(session, account)
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
    """Return the app passwords and open sessions of an account."""
    apps = credentials.list_credentials(session, user=user, kinds=[APP_PASSWORD], limit=_ACCOUNT_MOST)
    return apps, credentials.list_sessions(session, user, current_service().now())


@pages.post("/administration/accounts")
@administration_page("users.add")
def add_account() -> Response:
    """Make an account."""
    form = read_form()
    try:
        password = typed_twice(form)
        values = {name: form.get(name, "") for name in _FIELDS}
        user = accounts.new_user(current_service().now(), **values, password=password or None)
        with operating() as operation:
            uid = accounts.add(operation, user).uid
    except (InvalidValueError, UserExistsError) as error:
        return _accounts(error, values=form)
    return see_other(url_for(".account_page", account=uid, done="made"))


@form_page("/administration/accounts", "accounts", administration_page("users.list"))
def _accounts(error: PhotosvcError | None = None, *, values: dict[str, str] | None = None) -> Response:
    """List the accounts that match the search, by name."""
    search = request.args.get("q", "").strip()
    with current_service().reading(orm=True) as session:
        users = accounts.list_users(session, search=search, limit=_MOST + 1)
        return show_administration(
            "accounts",
            "accounts",
            error=error,
            done_texts={"deleted": N_("Account deleted.")},
            accounts=users[:_MOST],
            more=len(users) > _MOST,
            search=search,
            values=values or {"role": USER},
            own=principal().user_uid,
        )
