"""The page of the API: every operation with what it takes and answers, and a command that calls it."""

import re
from typing import Final

from flask import Blueprint, Response, current_app, request, url_for

from photosvc.core.errors import NotFoundError
from photosvc.pages.api_docs.reading import read_docs
from photosvc.pages.api_docs.samples import ADDRESS, within_quotes
from photosvc.pages.layout import API_DOCUMENT, public_page, show
from photosvc.pages.signing_in.sign_in import present
from photosvc.web.current import current_service
from photosvc.web.openapi.document import document
from photosvc.web.service.addresses import address_of

_LONGEST: Final = 200
_HOST: Final = re.compile(r"[\w.-]+(:\d+)?|\[[0-9a-fA-F:.]+\](:\d+)?")


def add_routes(pages: Blueprint) -> None:
    """Add the page of the API, which is as public as the document that it shows."""
    pages.add_url_rule("/api-docs", "api_docs", show_docs, methods=["GET"])


@public_page
def show_docs() -> Response:
    """The operations that contain the words of `q`."""
    present()
    if API_DOCUMENT not in current_app.view_functions:
        msg = "this app does not mount the API"
        raise NotFoundError(msg)
    rule = next(current_app.url_map.iter_rules(API_DOCUMENT))
    docs = read_docs(document(str(rule).removesuffix("/openapi.json")))
    address, for_shell = _api_address()
    query = request.args.get("q", "").strip()[:_LONGEST]
    groups = docs.matching(query)
    return show(
        "api-docs",
        docs=docs,
        groups=groups,
        query=query,
        number=sum(len(group.operations) for group in groups),
        address=address,
        for_shell=for_shell,
        mark=ADDRESS,
        download=url_for(API_DOCUMENT),
    )


def _api_address() -> tuple[str, str]:
    """The address of the API as this browser reaches it, and as a shell reads it within double quotes.

    Without a public address it is made from the `Host` header of this request. The answer is not stored by caches, so a
    forged header changes only the page of the client that sent it.
    """
    address = address_of(current_service(), request, "/api/v1")
    if not address.startswith("/"):
        return address, within_quotes(address)
    host = request.environ.get("HTTP_HOST", "")
    if _HOST.fullmatch(host):
        return f"{request.scheme}://{host}{address}", within_quotes(f"{request.scheme}://{host}{address}")
    return address, f"$URL{within_quotes(address)}"
