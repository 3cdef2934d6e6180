"""The web page: HTML made by the server, which works without scripts, beside the API."""

from typing import Final

from flask import Blueprint, Response, request

from photosvc.pages import asset_files, errors
from photosvc.pages.administration import account as one_account
from photosvc.pages.administration import accounts, client, clients, confirm, devices, security_log
from photosvc.pages.administration.library import failures, look_alikes, overview, statistics, trash
from photosvc.pages.albums import adding, album, arranging, editing, making
from photosvc.pages.albums import listing as albums
from photosvc.pages.api_docs import docs
from photosvc.pages.layout import add_page_headers
from photosvc.pages.photos import listing, photo
from photosvc.pages.places import places
from photosvc.pages.settings import account, apps, two_factor
from photosvc.pages.signing_in import first_account, sign_in
from photosvc.web.answers.answer import count_request, start_timer
from photosvc.web.auditing import write_due_refusals
from photosvc.web.blueprint import OwnBlueprint
from photosvc.web.current import current_service
from photosvc.web.protector import token_of
from photosvc.web.requests.client_address import warn_of_unread_proxy
from photosvc.web.requests.same_origin import OtherSiteError, is_own

BLUEPRINT: Final = "photosvc_pages"
_PAGES: Final = (
    listing,
    photo,
    albums,
    making,
    adding,
    album,
    editing,
    arranging,
    places,
    sign_in,
    first_account,
    account,
    apps,
    two_factor,
    accounts,
    one_account,
    clients,
    client,
    devices,
    security_log,
    confirm,
    overview,
    failures,
    trash,
    look_alikes,
    statistics,
    docs,
    asset_files,
)
_CHANGING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def create_pages() -> Blueprint:
    """The blueprint of all pages. A host app restyles them by templates of the same names (`photosvc/….html`)."""
    pages = OwnBlueprint(BLUEPRINT, __name__, template_folder="templates")
    errors.register_page_errors(pages)

    @pages.before_request
    def begin() -> None:
        start_timer()
        if request.endpoint == f"{BLUEPRINT}.asset":  # also where the database is not ready: errors are pages too
            return
        service = current_service()
        service.require_schema()
        service.follow_key(seldom=True)
        warn_of_unread_proxy(service, request)
        write_due_refusals(service)
        # Also where no session is needed: no page of another site signs a browser in.
        if request.method in _CHANGING and token_of(request) is None and not is_own(request, service.settings.base_url):
            raise OtherSiteError

    @pages.after_request
    def end(answer: Response) -> Response:
        return count_request(add_page_headers(answer))

    for page in _PAGES:
        page.add_routes(pages)
    return pages
