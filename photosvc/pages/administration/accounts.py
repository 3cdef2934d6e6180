"""Administration > Accounts: all accounts, and new ones."""

from typing import Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.accounts import users
from photosvc.auth.errors import UserExistsError
from photosvc.core.accounts import USER
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.pages import wording
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import read_form, typed_twice
from photosvc.pages.layout import see_other
from photosvc.web.current import current_service
from photosvc.web.managing import managed_accounts
from photosvc.web.protector import principal

#: Accounts on the page; the search finds the others.
_MOST: Final = 200
_DONE: Final = {"deleted": "The account is deleted."}
_FIELDS: Final = ("name", "display_name", "email", "role")


def add_routes(pages: Blueprint) -> None:
    """Add the list of accounts to the pages."""
    pages.add_url_rule("/administration/accounts", "accounts", list_accounts, methods=["GET"])
    pages.add_url_rule("/administration/accounts", view_func=add_account, methods=["POST"])


@administration_page("users.list")
def list_accounts() -> Response:
    """The accounts by name, or those that the search finds."""
    return _accounts()


@administration_page("users.add")
def add_account() -> Response:
    """Make an account."""
    form = read_form()
    try:
        password = typed_twice(form)
        given = {name: form.get(name, "") for name in _FIELDS}
        made = managed_accounts.add_account(**given, password=password or None)
    except (InvalidValueError, UserExistsError) as error:
        return _accounts(error, given=form)
    return see_other(url_for(".account_page", account=made.uid, done="made"))


def _accounts(error: PhotosvcError | None = None, *, given: dict[str, str] | None = None) -> Response:
    search = request.args.get("q", "").strip()
    with current_service().loading() as session:
        found = users.list_users(session, search=search, limit=_MOST + 1)
        return show_administration(
            "accounts",
            "accounts",
            error=error,
            told=_DONE,
            accounts=found[:_MOST],
            more=len(found) > _MOST,
            search=search,
            given=given or {"role": USER},
            own=principal().user_uid,
            wording=wording,
        )
