"""GET /photos: the search (spec section 4.2)."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request

from photosvc.auth import link_tokens
from photosvc.search.changes import page_tag
from photosvc.search.cursor import Cursor
from photosvc.search.page import Page, find
from photosvc.search.request import parse_request
from photosvc.web.answer import JSON
from photosvc.web.conditional import cache_headers, is_fresh
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal, require


def add_routes(api: Blueprint) -> None:
    """Hang the search on the API."""
    api.add_url_rule("/photos", view_func=search_photos, methods=["GET"])


@require("photos.search")
def search_photos() -> Response:
    """Files with the metadata of their photos, a page at a time."""
    service, who = current_service(), principal()
    asked = parse_request(request.args.items(multi=True))
    etag = page_tag(service.reader, asked, sees_private=who.sees_private)
    headers = [
        *cache_headers(etag),
        ("X-Preview-Token", link_tokens.preview_token(service.settings, who)),
        ("X-Download-Token", link_tokens.download_token(service.settings, who, service.now())),
    ]
    if is_fresh(etag):
        return Response(status=304, headers=headers)
    page = find(service.reader, asked, sees_private=who.sees_private)
    headers += _page_headers(service, page)
    if page.is_whole:
        return Response(page.body, content_type=JSON, headers=headers)
    answer = Response(page.pieces, content_type=JSON, headers=headers)
    answer.call_on_close(service.keep_open())
    return answer


def _page_headers(service: Service, page: Page) -> list[tuple[str, str]]:
    headers = [("X-Count", str(page.count)), ("X-Limit", str(page.limit)), ("X-Offset", str(page.offset))]
    if page.total is not None:
        headers.append(("X-Total-Count", str(page.total)))
    if page.next:
        headers.append(("Link", f'<{_next_url(service, page.next)}>; rel="next"'))
    return headers


def _next_url(service: Service, cursor: Cursor) -> str:
    """The next page of the same search: everything asked for stays, only where the page begins differs."""
    kept = [
        (name, value)
        for name, values in request.args.lists()
        if name not in {"cursor", "offset", "seed"}
        for value in values
    ]
    return f"{service.settings.base_url}/api/v1/photos?{urlencode([*kept, ('cursor', str(cursor))])}"
