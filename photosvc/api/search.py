"""GET /photos: the search (spec section 4.2)."""

from functools import lru_cache
from typing import TypeAlias
from urllib.parse import urlencode
from weakref import finalize

from flask import Blueprint, Response, request

from photosvc.api.openapi.parameters import search_parameters
from photosvc.auth.credentials import link_tokens
from photosvc.records.photo import PhotoResultSchema
from photosvc.search.reading.library import page_tag
from photosvc.search.reading.page import Page, find
from photosvc.search.reading.request import is_short, parse_request
from photosvc.web.answer import JSON, ReadyResponse
from photosvc.web.conditional import ETAG, cache_headers, is_fresh
from photosvc.web.contract import Header, answers, refuses, takes_query
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal, require

#: Names and values of a query string, in order.
Pairs: TypeAlias = tuple[tuple[str, str], ...]


_PAGE = {
    "X-Count": Header("integer", "Files on this page."),
    "X-Limit": Header("integer", "The most files that a page can have."),
    "X-Offset": Header("integer", "Files before it."),
    "X-Total-Count": Header("integer", "Files that match, if `total` was asked for."),
    "Link": Header("string", "The next page, if this one is full (RFC 8288)."),
    "X-Preview-Token": Header("string", "Opens thumbnails.", "photos.preview"),
    "X-Download-Token": Header("string", "Opens originals, for an hour.", "photos.download"),
}


def add_routes(api: Blueprint) -> None:
    """Add the search to the API."""
    api.add_url_rule("/photos", view_func=search_photos, methods=["GET"])


@require("photos.search")
@takes_query(search_parameters)
@answers(PhotoResultSchema, "A page of results.", many=True, headers={**_PAGE, **ETAG})
@refuses(404)
def search_photos() -> Response:
    """Files with the metadata of their photos, a page at a time."""
    service, who = current_service(), principal()
    pairs = tuple(request.args.items(multi=True))
    asked = parse_request(pairs)
    with service.reading() as connection:
        etag = page_tag(connection, asked, sees_private=who.sees_private)
        headers = [
            *cache_headers(etag),
            ("X-Preview-Token", link_tokens.preview_token(service.settings, who)),
            ("X-Download-Token", link_tokens.download_token(service.settings, who, service.now())),
        ]
        if is_fresh(etag):
            return ReadyResponse(status=304, headers=headers)
        page = find(connection, asked, sees_private=who.sees_private)
        headers += _page_headers(service, page, pairs)
        if page.is_whole:
            return ReadyResponse(page.body, content_type=JSON, headers=headers)
        answer = ReadyResponse(page.pieces, content_type=JSON, headers=headers)
        # `finalize`, because an answer that is dropped before a server reads it is never closed.
        answer.call_on_close(finalize(answer, service.keep_open()))
        return answer


def _page_headers(service: Service, page: Page, pairs: Pairs) -> list[tuple[str, str]]:
    headers = [("X-Count", str(page.count)), ("X-Limit", str(page.limit)), ("X-Offset", str(page.offset))]
    if page.total is not None:
        headers.append(("X-Total-Count", str(page.total)))
    if page.next:
        query = _without_start(pairs) if is_short(pairs) else _without_start.__wrapped__(pairs)
        following = f"{service.settings.base_url}/api/v1/photos?{query}cursor={page.next}"
        headers.append(("Link", f'<{following}>; rel="next"'))
    return headers


@lru_cache(maxsize=256)
def _without_start(pairs: Pairs) -> str:
    """The query string of this page without the parameters that say where it begins, for the address of the next."""
    return "".join(f"{urlencode([pair])}&" for pair in pairs if pair[0] not in {"cursor", "offset", "seed"})
