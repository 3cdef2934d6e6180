"""Settings: the own account."""

from flask import Blueprint, Response

from photosvc.auth.accounts import users
from photosvc.pages.layout import page, show
from photosvc.web.current import current_service
from photosvc.web.protector import principal


def add_routes(pages: Blueprint) -> None:
    """Add the settings of the own account to the pages."""
    pages.add_url_rule("/settings/account", "account", show_account, methods=["GET"])


@page("users.view", own=True)
def show_account() -> Response:
    """Name and sign-out of the own account."""
    with current_service().loading() as session:
        user = users.find_user(session, principal().user_uid or "")
        return show("account", user=user)
