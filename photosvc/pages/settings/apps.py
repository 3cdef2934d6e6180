"""Settings > Account > Apps and Devices: the app passwords and log-in sessions of the own account."""

from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.accounts import users
from photosvc.auth.credentials import bearer, open_sessions
from photosvc.auth.errors import AppPasswordLimitError, LoginError, ThrottledError
from photosvc.core.accounts import CREDENTIAL_LIFETIME
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.models import APP_PASSWORD
from photosvc.pages import wording
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form
from photosvc.pages.layout import page, see_other
from photosvc.pages.settings.account import own_uid
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.sessions import own_account

_MOST: Final = 1000
_DONE: Final = {"revoked": "The app password is revoked.", "ended": "Signed out there."}
#: The value of the form for a scope that is typed.
_TYPED: Final = "typed"


def add_routes(pages: Blueprint) -> None:
    """Add apps and devices to the pages."""
    path = "/settings/account/apps"
    pages.add_url_rule(path, "apps", show_apps, methods=["GET"])
    pages.add_url_rule(path, view_func=add_app, methods=["POST"])
    pages.add_url_rule(f"{path}/<credential>/revoke", view_func=revoke_app, methods=["POST"])
    pages.add_url_rule("/settings/account/sessions/<credential>/end", view_func=end_session, methods=["POST"])
    pages.add_url_rule("/settings/account/sessions/end-others", view_func=end_other_sessions, methods=["POST"])


@page("users.app_passwords.list", own=True)
def show_apps() -> Response:
    """The app passwords and sessions."""
    return _apps(done=_DONE.get(request.args.get("done", ""), ""))


@page("users.app_passwords.add", own=True)
def add_app() -> Response:
    """Make an app password; this page alone shows it."""
    form = read_form()
    typed = form.get("scope") == _TYPED
    try:
        made = own_account.add_app_password(
            own_uid(),
            name=form.get("name", "").strip(),
            scope=form.get("scopes" if typed else "scope", "").strip(),
            lifetime=_lifetime(form.get("lifetime", "")),
            password=form.get("password", ""),
        )
    except (InvalidValueError, LoginError, ThrottledError, AppPasswordLimitError) as error:
        return _apps(error, given=form)
    return _apps(made=made)


@page("users.app_passwords.remove", own=True)
def revoke_app(credential: str) -> Response:
    """Revoke an app password."""
    own_account.remove_app_password(own_uid(), credential)
    return see_other(url_for(".apps", done="revoked"))


@page("users.sessions.end", own=True)
def end_session(credential: str) -> Response:
    """End a session."""
    own_account.end_session(own_uid(), credential)
    return see_other(url_for(".apps", done="ended"))


@page("users.sessions.end", own=True)
def end_other_sessions() -> Response:
    """End all sessions but that of this browser."""
    own_account.end_other_sessions(own_uid())
    return see_other(url_for(".apps", done="ended"))


def _lifetime(text: str) -> int:
    known = {str(seconds): seconds for seconds, _ in wording.LIFETIMES}
    if text not in known:
        msg = "choose when it ends"
        raise InvalidValueError(msg, field="lifetime")
    return known[text]


def _apps(
    error: PhotosvcError | None = None,
    *,
    given: dict[str, str] | None = None,
    made: dict[str, Any] | None = None,
    done: str = "",
) -> Response:
    import segno

    service, now = current_service(), current_service().now()
    with service.loading() as session:
        user = users.find_user(session, own_uid())
        apps = bearer.list_credentials(session, user=user, kinds=[APP_PASSWORD], limit=_MOST)
        return show_form(
            "apps",
            error,
            apps=sorted(apps, key=lambda app: app.created_at, reverse=True),
            sessions=open_sessions.list_sessions(session, user, now),
            present=principal().credential_id,
            wording=wording,
            now=now,
            given=given or {"scope": wording.CHOICES[0].scope, "lifetime": str(CREDENTIAL_LIFETIME)},
            made=made,
            qr=segno.make(made["secret"], error="m", micro=False).svg_inline(scale=4, border=2) if made else "",
            done=done,
        )
