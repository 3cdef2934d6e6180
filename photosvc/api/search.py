"""GET /photos: the search (spec section 4.2)."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request, stream_with_context

from photosvc.auth import link_tokens
from photosvc.search.changes import page_tag
from photosvc.search.cursor import Cursor
from photosvc.search.page import Page, find
from photosvc.search.request import parse_request
from photosvc.web.answer import JSON
from photosvc.web.conditional import is_fresh, tag
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
    page_etag = page_tag(service.session, asked, sees_private=who.sees_private)
    if is_fresh(page_etag):
        answer = Response(status=304)
    else:
        answer = _page_answer(service, find(service.session, asked, sees_private=who.sees_private))
    headers = tag(answer, page_etag).headers
    headers["X-Preview-Token"] = link_tokens.preview_token(service.settings, who)
    headers["X-Download-Token"] = link_tokens.download_token(service.settings, who, service.now())
    return answer


def _page_answer(service: Service, page: Page) -> Response:
    body = page.body if page.is_whole else stream_with_context(iter(page.pieces))
    answer = Response(body, content_type=JSON)
    headers = answer.headers
    headers["X-Count"] = str(page.count)
    headers["X-Limit"] = str(page.limit)
    headers["X-Offset"] = str(page.offset)
    if page.total is not None:
        headers["X-Total-Count"] = str(page.total)
    if page.next:
        headers["Link"] = f'<{_next_url(service, page.next)}>; rel="next"'
    return answer


def _next_url(service: Service, cursor: Cursor) -> str:
    """The next page of the same search: everything asked for stays, only where the page begins differs."""
    kept = [
        (name, value)
        for name, values in request.args.lists()
        if name not in {"cursor", "offset", "seed"}
        for value in values
    ]
    return f"{service.settings.base_url}/api/v1/photos?{urlencode([*kept, ('cursor', str(cursor))])}"
