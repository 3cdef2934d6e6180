"""GET /t/<hash>/<token>/<size>: thumbnails (spec section 2.1)."""

import os
import re
from dataclasses import replace
from io import FileIO
from typing import Final

from flask import Blueprint, Response, request

from photosvc.core.errors import NotFoundError
from photosvc.core.problems import FileProblemError, Problem
from photosvc.pictures.thumbnails.geometry import Target
from photosvc.pictures.thumbnails.on_demand import Thumbnail
from photosvc.pictures.thumbnails.sizes import NAMED, WHOLE, Area
from photosvc.pictures.thumbnails.targets import file_name
from photosvc.search.reading.lookup import SeenFile, file_with_hash, marked_areas
from photosvc.web.answers.icons import accepts, is_quiet, or_icon, quiet
from photosvc.web.contract import answers, refuses
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal, require_link_token
from photosvc.web.requests.client_gone import ClientGone
from photosvc.web.transfers.files import FileAnswer, Headers, disposition, original_of, send_bytes, send_file
from photosvc.web.transfers.ranges import check_preconditions

#: A part of every entity tag: grows when thumbnails are made differently.
_VERSION: Final = 1
_HASH: Final = re.compile(r"([0-9a-f]{40})(?:-([0-9a-f]{12}))?")
#: Sizes of which WebP saves a third of the bytes for little time; larger ones take too long to encode on demand.
_WEBP_SIDE: Final = 500
_TYPES: Final = {"jpg": "image/jpeg", "webp": "image/webp"}
#: The address holds the content's hash, so what it shows never changes; the token in it makes it private.
_CACHED: Final = ("Cache-Control", "private, max-age=31536000, immutable")
#: Seconds that a page waits for an answer: it has few connections, and asks for other things by them, too.
_QUIET_SECONDS: Final = 2.0
#: Of what a person turned, who may turn it again: clients ask whether it is still the same.
_CHECKED: Final = ("Cache-Control", "private, no-cache")


def add_routes(api: Blueprint) -> None:
    """Add thumbnails to the API; a slash at the end is tolerated, because a known client sends it."""
    path = "/t/<content_hash>/<token>/<size>"
    api.add_url_rule(path, view_func=thumbnail, methods=["GET"], strict_slashes=False)


@or_icon
@quiet
@require_link_token
@answers({"type": "string", "format": "binary"}, "The thumbnail.", media_type="image/*")
@refuses(403, 404, 410, 412, 422, 503)
def thumbnail(content_hash: str, token: str, size: str) -> Response:  # noqa: ARG001 - `require_link_token` reads it
    """A thumbnail of the file with this hash; `<hash>-<crop>` shows an area of it.

    The area is twelve hexadecimal digits: left, top, width and height in thousandths, three digits each.
    The token is a preview token, or a download token for as long as that is valid. With `quiet`, for pages, what is
    not ready is answered 202, and what cannot be shown 200 with an icon.
    """
    target, content_hash = _target(content_hash, size)
    with current_service().reading() as connection:
        found = file_with_hash(connection, content_hash, sees_private=principal().sees_private)
        # Only areas of markers are kept: there are more others than the cache has room for.
        areas = marked_areas(connection, found.file_id) if found is not None and target.area != WHOLE else []
    if found is None:
        msg = "there is no such file"
        raise NotFoundError(msg, field="hash")
    keep = target.area == WHOLE or any(target.area.shows(*area) for area in areas)
    return _show(found, target, keep=keep, cached=_CACHED)


def show_cover(found: SeenFile, size: str) -> Response:
    """A thumbnail at an address at which another file may be shown tomorrow.

    Raises:
        NotFoundError: there is no such size.
        FileProblemError: the file cannot be shown.

    """
    target, _ = _target(found.hash, size)
    return _show(found, target, keep=True, cached=_CHECKED)


def _show(found: SeenFile, target: Target, *, keep: bool, cached: tuple[str, str]) -> Response:
    service = current_service()
    service.close()  # a thumbnail may take a while to make, and needs no database for that
    if (problem := Problem.from_columns(found.error, found.error_detail)) is not None:
        raise FileProblemError(problem.reason, *problem.details)
    target = replace(target, turn=found.turn)
    etag = f"{found.hash[:20]}-{file_name(target)}-{_VERSION}"
    headers = _headers(found, target, cached)
    if check_preconditions(request.headers, etag, None) is not None:  # before it is made
        return send_bytes(b"", _TYPES[target.encoding], etag, headers)
    made = service.pictures.thumbnails.find(
        original_of(service.settings, found),
        target,
        keep=keep,
        seconds=_QUIET_SECONDS if is_quiet() else None,
        is_gone=ClientGone(request.environ),
    )
    return _answer(service, found, target, made, etag, headers)


def _target(content_hash: str, name: str) -> tuple[Target, str]:
    size = NAMED.get(name.removesuffix(".jpg"))
    if size is None:
        msg = f"there is no size {name[:20]}; `svc show sizes` lists them"
        raise NotFoundError(msg, field="size")
    match = _HASH.fullmatch(content_hash.lower())
    area = WHOLE if match is None or match[2] is None else Area.parse(match[2])
    if match is None or area is None:
        msg = "a hash has 40 hexadecimal digits; an area behind it lies inside the picture"
        raise NotFoundError(msg, field="hash")
    small = size.fills and max(size.width, size.height) <= _WEBP_SIDE
    # Clients that take any image are sent JPEG, which all of them can show.
    return Target(size, area, "webp" if small and accepts("image/webp") else "jpg"), match[1]


def _headers(found: SeenFile, target: Target, cached: tuple[str, str]) -> Headers:
    cached = cached if target.turn == 1 else _CHECKED
    headers = [cached, ("Vary", "Accept")] if target.size.fills else [cached]
    if "download" in request.args:
        headers.append(disposition(f"{target.size.name}-{found.hash[:8]}.{target.encoding}"))
    return headers


def _answer(
    service: Service, found: SeenFile, target: Target, made: Thumbnail, etag: str, headers: Headers
) -> Response:
    if made.descriptor is None:
        return send_bytes(made.data, _TYPES[target.encoding], etag, headers)
    return send_file(
        FileAnswer(
            file=FileIO(made.descriptor),
            size=os.fstat(made.descriptor).st_size,
            content_type=_TYPES[target.encoding],
            etag=etag,
            internal=f"cache/{service.pictures.cache.relative(found.hash, made.name)}",
            headers=headers,
        ),
        ranges=False,
    )
