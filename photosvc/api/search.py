"""GET /photos: the search (spec section 4.2)."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request

from photosvc.auth import link_tokens
from photosvc.search.cursor import Cursor
from photosvc.search.page import find
from photosvc.search.request import parse_request
from photosvc.web.answer import json_text
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal, require


def add_routes(api: Blueprint) -> None:
    """Hang the search on the API."""
    api.add_url_rule("/photos", view_func=search_photos, methods=["GET"])


@require("photos.search")
def search_photos() -> Response:
    """Files with the metadata of their photos, a page at a time."""
    service, who = current_service(), principal()
    page = find(service.session, parse_request(request.args), sees_private=who.sees_private)
    answer = json_text(page.body)
    headers = answer.headers
    headers["X-Count"] = str(page.count)
    headers["X-Limit"] = str(page.limit)
    headers["X-Offset"] = str(page.offset)
    headers["X-Preview-Token"] = link_tokens.preview_token(service.settings, who)
    headers["X-Download-Token"] = link_tokens.download_token(service.settings, who, service.now())
    headers["Cache-Control"] = "private, no-cache"
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
