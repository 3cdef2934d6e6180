"""The web pages: HTML made by the server, which works without scripts."""

from typing import Final

from flask import Blueprint, Response, request

from photosvc.pages import (
    accounts,
    album,
    album_forms,
    albums,
    api_docs,
    asset_files,
    clients,
    devices,
    errors,
    frame,
    library,
    look_alikes,
    photo,
    photos,
    places,
    security_log,
    settings,
    signing_in,
    trash,
)
from photosvc.pages.layout import add_page_headers
from photosvc.web.actions import OwnBlueprint
from photosvc.web.answers import count_request, start_timer
from photosvc.web.auditing import write_due_refusals
from photosvc.web.current import current_service
from photosvc.web.protector import token_of
from photosvc.web.requests import warn_of_unread_proxy
from photosvc.web.same_origin import OtherSiteError, changes, is_own

BLUEPRINT: Final = "photosvc_pages"
_PAGES: Final = (
    photos,
    photo,
    albums,
    album_forms,
    album,
    places,
    signing_in,
    settings,
    accounts,
    clients,
    devices,
    security_log,
    frame,
    library,
    trash,
    look_alikes,
    api_docs,
    asset_files,
)


def create_pages() -> Blueprint:
    """Make the blueprint of all pages; host apps restyle them by templates of the same names (`photosvc/….html`)."""
    pages = OwnBlueprint(BLUEPRINT, __name__, template_folder="templates")
    errors.register_page_errors(pages)

    @pages.before_request
    def begin() -> None:
        start_timer()
        if request.endpoint == f"{BLUEPRINT}.asset":  # needs no database: pages of errors load assets, too
            return
        service = current_service()
        service.require_schema()
        service.follow_key(seldom=True)
        warn_of_unread_proxy(service, request)
        write_due_refusals(service)
        # Also where no session is needed: a page of another site must not sign a browser in.
        if changes(request) and token_of(request) is None and not is_own(request, service.settings.base_url):
            raise OtherSiteError

    @pages.after_request
    def end(answer: Response) -> Response:
        return count_request(add_page_headers(answer))

    for page in _PAGES:
        page.add_routes(pages)
    return pages
