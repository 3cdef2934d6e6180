"""The web pages: HTML made by the server; photos are shown by its scripts."""

from flask import Response, request

from photosvc.pages import (  # noqa: F401 - each module adds its routes to the blueprint
    api_docs,
    errors,
    facets,
    folders,
    layout,
    names,
    photos,
    places,
    settings,
    sign_in,
)
from photosvc.pages.administration import (  # noqa: F401
    accounts,
    clients,
    frame,
    library,
    look_alikes,
    security_log,
    statistics,
    trash,
)
from photosvc.pages.albums import arrange, forms, listing, sharing  # noqa: F401
from photosvc.pages.layout import BLUEPRINT, add_page_headers, pages
from photosvc.pages.shared import account, link  # noqa: F401
from photosvc.web.begin import begin_request, finish_request
from photosvc.web.browser_origin import OtherSiteError, changes, is_foreign, is_own
from photosvc.web.protector import token_of

__all__ = ["BLUEPRINT", "pages"]


@pages.before_request
def begin() -> None:
    """Prepare a request, and refuse one that a page of another site sends."""
    if request.endpoint == f"{BLUEPRINT}.asset":  # needs no database: pages of errors load assets, too
        begin_request(is_ready=False)
        return
    service = begin_request()
    if request.endpoint == f"{BLUEPRINT}.share_files":  # sent by an app, not by a page, and only led to a page
        if is_foreign(request, service.settings.base_url):
            raise OtherSiteError
        return
    # Also where no session is needed: a page of another site must not sign a browser in.
    if changes(request) and token_of(request) is None and not is_own(request, service.settings.base_url):
        raise OtherSiteError


@pages.after_request
def end(answer: Response) -> Response:
    """Add the headers of pages, and finish the request."""
    return finish_request(add_page_headers(answer))
