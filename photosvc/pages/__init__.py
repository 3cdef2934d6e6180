"""The web pages: HTML made by the server; photos are shown by its scripts."""

from flask import Request

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
from photosvc.pages import trash as own_trash  # noqa: F401
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
from photosvc.pages.albums import forms, listing, sharing, taken_out  # noqa: F401
from photosvc.pages.layout import BLUEPRINT, add_page_headers, pages
from photosvc.pages.shared import account, link  # noqa: F401
from photosvc.web.begin import add_hooks
from photosvc.web.browser_origin import is_foreign, is_own
from photosvc.web.protector import token_of

__all__ = ["BLUEPRINT", "pages"]


def _is_foreign(request: Request, base_url: str) -> bool:
    if request.endpoint == f"{BLUEPRINT}.share_files":  # sent by an app, not by a page, and only led to a page
        return is_foreign(request, base_url)
    # Also where no session is needed: a page of another site must not sign a browser in.
    return token_of(request) is None and not is_own(request, base_url)


add_hooks(
    pages,
    add_headers=add_page_headers,
    needs_database=lambda endpoint: endpoint != f"{BLUEPRINT}.asset",  # pages of errors load assets, too
    is_foreign=_is_foreign,
)
