"""Thumbnails of files (GET /t/<hash>/<token>/<size>), covers of albums, folders and labels, and videos.

A cover is a thumbnail of the latest photo, or of the one that a person chose for the album.
GET /videos/<hash>/<token>/<format> sends a video in a format that browsers play.
"""

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from io import FileIO
from typing import Final

from flask import Response, request
from sqlalchemy import select

from photosvc.auth.policy import decide
from photosvc.core.errors import NotFoundError
from photosvc.core.problems import FileProblemError, Problem
from photosvc.library.thumbnail_jobs import original_of_file
from photosvc.library.trash.own import deleted_file
from photosvc.media.formats import FORMATS, split_name
from photosvc.media.motion_photo import find_embedded
from photosvc.media.mp4 import read_tracks
from photosvc.media.slices import Slice
from photosvc.models import SearchRow, photo_keywords
from photosvc.pictures.originals import open_unbuffered
from photosvc.pictures.sizes import NAMED, WHOLE, Area, Target, file_name
from photosvc.pictures.videos import CONVERTED
from photosvc.search.reading.albums_named import FOLDER, find_library_album, kind_of, query_below
from photosvc.search.reading.compile import visible
from photosvc.search.reading.covers import chosen_cover
from photosvc.search.reading.files import SeenFile, files_of_photo, files_with_ids, marked_areas, matching_ids
from photosvc.search.reading.guests import seen, seen_with_hash
from photosvc.search.reading.people import read_labels
from photosvc.search.reading.request import parse_request
from photosvc.web.contract import BINARY, answers, for_visitors, uses
from photosvc.web.errors import accepts, is_quiet, or_icon, quiet
from photosvc.web.files import (
    CACHED,
    CHECKED,
    FileAnswer,
    check_preconditions,
    disposition,
    send_bytes,
    send_file,
    while_there,
)
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require_link_token
from photosvc.web.searching import ClientGone, searching
from photosvc.web.service import Service, current_service

thumbnails = OwnBlueprint("thumbnails", __name__)
videos = OwnBlueprint("videos", __name__)

#: A part of every entity tag; increase it when thumbnails are made differently.
_VERSION: Final = 3
_HASH: Final = re.compile(r"([0-9a-f]{40})(?:-([0-9a-f]{12}))?")
#: Longest side sent as WebP, which saves a third of the bytes; larger pictures take too long to encode on demand.
_WEBP_SIDE: Final = 500
_TYPES: Final = {"jpg": "image/jpeg", "webp": "image/webp", "png": "image/png"}
#: Seconds that a page waits for a thumbnail: browsers have few connections, which other requests need too.
_QUIET_SECONDS: Final = 2.0
_MP4: Final = "video/mp4"
#: The document type in the head of a WebM file; its tracks are VP8, VP9 or AV1 by definition.
_WEBM: Final = b"\x42\x82\x84webm"
_WEBM_HEAD: Final = 64
#: Names of formats that every browser plays.
_PLAYABLE: Final = frozenset(("avc", "avc1", "avc3", "h264", "mp4", "m4v"))
#: Name of a codec -> its codes; a file with one of these codes is sent unchanged.
_CODECS: Final = {
    **dict.fromkeys(("hevc", "hvc1", "hev1", "h265"), frozenset(("hvc1", "hev1", "dvh1", "dvhe"))),
    **dict.fromkeys(("vvc", "vvc1", "h266"), frozenset(("vvc1", "vvi1"))),
    **dict.fromkeys(("av1", "av01"), frozenset(("av01",))),
    **dict.fromkeys(("vp8", "vp08"), frozenset(("vp8", "vp08"))),
    **dict.fromkeys(("vp9", "vp09"), frozenset(("vp09",))),
}
#: Types of files; a file of the requested type is sent unchanged.
_FILE_TYPES: Final = frozenset(row.name for row in FORMATS if row.media_type == "video") - _PLAYABLE


@thumbnails.get("/t/<content_hash>/<token>/<size>", strict_slashes=False)
@or_icon
@quiet
@require_link_token
@answers(BINARY, "The thumbnail.", media_type="image/*", refuses=(403, 404, 410, 412, 422, 503))
@for_visitors
def thumbnail(content_hash: str, token: str, size: str) -> Response:  # noqa: ARG001 - `require_link_token` reads it
    """Send a thumbnail of the file with this hash; `<hash>-<crop>` shows an area of it.

    The area is twelve hexadecimal digits: left, top, width and height in thousandths, three digits each.
    The token is a preview token, or a download token for as long as that is valid. With `quiet`, for pages, the answer
    is 202 for a thumbnail that is not ready after two seconds, or with `quiet=waits` after as many as without it, and
    200 with an icon for a file that cannot be shown. Browsers keep the answer if `turn` is the turn of the file, as the
    timeline has it.
    """
    target, content_hash = _target(content_hash, size)
    who = principal()
    service = current_service()
    with service.reading() as connection:
        seen_file = seen_with_hash(connection, content_hash, who, service.today())
        # Of thumbnails of areas, only those of marked areas are cached: clients may ask for any number of others.
        areas = marked_areas(connection, seen_file.file_id) if seen_file is not None and target.area != WHOLE else []
    if seen_file is None:
        raise NotFoundError("there is no such file", field="hash")
    keep = target.area == WHOLE or any(target.area.shows(*area) for area in areas)
    # Browsers of visitors ask each time, because their link may have ended.
    may_keep = request.args.get("turn", "1") == str(seen_file.turn) and who.shared is None
    return _show(seen_file, target, keep=keep, cached=CACHED if may_keep else CHECKED)


@thumbnails.get("/trash/t/<content_hash>/<token>/<size>", strict_slashes=False)
@or_icon
@quiet
@require_link_token
@uses("trash.view")
@answers(BINARY, "The thumbnail.", media_type="image/*", refuses=(403, 404, 410, 412, 422, 503))
def trashed_thumbnail(content_hash: str, token: str, size: str) -> Response:  # noqa: ARG001 - `require_link_token`
    """Send a thumbnail of a file in the trash; the token is a preview or download token."""
    decide(principal(), "trash.view")
    target, content_hash = _target(content_hash, size)
    with current_service().reading() as connection:
        file = deleted_file(connection, content_hash)
    if file is None:
        raise NotFoundError("there is no such file in the trash", field="hash")
    return _show(file, target, keep=target.area == WHOLE, cached=CHECKED)


def show_cover(seen_file: SeenFile, size: str) -> Response:
    """Send a thumbnail from an address that may show another file later.

    Raises:
        NotFoundError: there is no such size.
        FileProblemError: the file cannot be shown.
    """
    target, _ = _target(seen_file.hash, size)
    return _show(seen_file, target, keep=True, cached=CHECKED)


def _show(seen_file: SeenFile, target: Target, *, keep: bool, cached: tuple[str, str]) -> Response:
    service = current_service()
    service.close()  # making a thumbnail may take long and needs no database
    if (problem := Problem.from_columns(seen_file.error, seen_file.error_detail)) is not None:
        raise FileProblemError(problem.reason, *problem.details)
    target = replace(target, turn=seen_file.turn)
    etag = f"{seen_file.hash[:20]}-{file_name(target)}-{_VERSION}"
    headers = [cached, ("Vary", "Accept")] if target.size.fills else [cached]
    if "download" in request.args:
        headers.append(disposition(f"{target.size.name}-{seen_file.hash[:8]}.{target.encoding}"))
    if check_preconditions(request.headers, etag, None) is not None:  # before the thumbnail is made
        return send_bytes(b"", _TYPES[target.encoding], etag, headers)
    with while_there(service, seen_file.name):
        image = service.pictures.thumbnails.find(
            original_of_file(service.settings, seen_file),
            target,
            owner=principal().owner_uid,
            keep=keep,
            seconds=_seconds(),
            is_gone=ClientGone(request.environ),
        )
    if image.descriptor is None:
        return send_bytes(image.data, _TYPES[target.encoding], etag, headers)
    return send_file(
        FileAnswer(
            file=FileIO(image.descriptor),
            size=os.fstat(image.descriptor).st_size,
            content_type=_TYPES[target.encoding],
            etag=etag,
            internal=f"cache/{service.picture_cache.relative(seen_file.hash, image.name)}",
            headers=headers,
        ),
        ranges=False,
    )


def _seconds() -> float | None:
    """Return the most seconds to wait for a thumbnail that a page asks for again; None for other clients."""
    if not is_quiet():
        return None
    return math.inf if request.args["quiet"] == "waits" else _QUIET_SECONDS


def _target(content_hash: str, name: str) -> tuple[Target, str]:
    size = NAMED.get(name.removesuffix(".jpg"))
    if size is None:
        raise NotFoundError(f"there is no size {name[:20]}; `svc show sizes` lists them", field="size")
    match = _HASH.fullmatch(content_hash.lower())
    area = WHOLE if match is None or match[2] is None else Area.parse(match[2])
    if match is None or area is None:
        raise NotFoundError("a hash has 40 hexadecimal digits; an area behind it lies inside the picture", field="hash")
    small = size.fills and max(size.width, size.height) <= _WEBP_SIDE
    # Clients that take any image are sent JPEG, which all of them can show.
    return Target(size, area, "webp" if small and accepts("image/webp") else "jpg"), match[1]


@thumbnails.get("/albums/<uid>/t/<token>/<size>", strict_slashes=False)
@thumbnails.get("/folders/t/<uid>/<token>/<size>", endpoint="folder_cover", strict_slashes=False)
@or_icon
@quiet
@require_link_token
@answers(BINARY, "The thumbnail.", media_type="image/*", refuses=(403, 404, 412, 422, 503))
def album_cover(uid: str, token: str, size: str) -> Response:  # noqa: ARG001 - `require_link_token` reads it
    """Send a thumbnail of the chosen or latest photo of an album, or of the latest one in or below a folder.

    The token is a preview or download token.
    """
    who = principal()
    with searching(who.owner_uid, "uid") as connection:
        folder = find_library_album(connection, uid) if kind_of(uid) == FOLDER else None
        photos = {"s": uid} if folder is None else {"q": query_below(folder.path)}
        parsed = parse_request(
            {**photos, "count": "1", "primary": "true", "order": "newest"}, current_service().today()
        )
        file_ids = matching_ids(connection, parsed, sees_private=who.sees_private)
        chosen = chosen_cover(connection, uid, sees_private=who.sees_private) if file_ids else None
        return _cover(file_ids if chosen is None else [chosen], size)


@thumbnails.get("/labels/<uid>/t/<token>/<size>", strict_slashes=False)
@or_icon
@quiet
@require_link_token
@answers(BINARY, "The thumbnail.", media_type="image/*", refuses=(403, 404, 412, 422, 503))
def label_cover(uid: str, token: str, size: str) -> Response:  # noqa: ARG001
    """Send a thumbnail of the latest photo with a label; the token is a preview or download token."""
    who = principal()
    with searching(who.owner_uid, "uid") as connection:
        labels = current_service().cached(read_labels).read(connection, sees_private=who.sees_private)
        label_id = next((label.id for label in labels if label.uid == uid), None)
        labelled = select(photo_keywords.c.photo_id).where(photo_keywords.c.keyword_id == label_id)
        query = select(SearchRow.file_id).where(SearchRow.photo_id.in_(labelled), SearchRow.is_first)
        query = query.where(visible(sees_private=who.sees_private, by_index=False))
        query = query.order_by(SearchRow.taken_at.desc(), SearchRow.newest_key.desc()).limit(1)
        return _cover(connection.scalars(query).all() if label_id is not None else (), size)


def _cover(file_ids: Sequence[int], size: str) -> Response:
    with current_service().reading() as connection:
        seen_file = files_with_ids(connection, file_ids, sees_private=principal().sees_private) if file_ids else []
    if not seen_file:
        raise NotFoundError("there is no photo in it", field="uid")
    return show_cover(seen_file[0], size)


@videos.get("/videos/<content_hash>/<token>/<video_format>", strict_slashes=False)
@or_icon
@require_link_token
@answers(
    BINARY,
    "The video; a part of it with status 206.",
    media_type=_MP4,
    refuses=(403, 404, 410, 412, 415, 416, 422, 429, 503, 507),
)
@for_visitors
def video(content_hash: str, token: str, video_format: str) -> Response:  # noqa: ARG001 - `require_link_token` reads it
    """Send the video with this hash, or the one of the live or motion photo with it, whole or in ranges.

    A file that browsers play, or whose codec or type `video_format` names, is sent as it is, any other as H.264 and
    AAC in MP4. During the conversion the answer is 503, with the share that is done. Visitors of a link that shows no
    metadata always get a converted one, because files contain places and cameras.
    The token is a preview token, or a download token for as long as that is valid.
    """
    name = video_format.lower()
    if not (name in _PLAYABLE or name in _CODECS or name in _FILE_TYPES):
        msg = (
            f"there is no video format {name[:20]}; there are {', '.join(sorted({*_PLAYABLE, *_CODECS, *_FILE_TYPES}))}"
        )
        raise NotFoundError(msg, field="format")
    service = current_service()
    seen_file = _find_video(service, content_hash.lower())
    service.close()  # the rest may take long and needs no database
    with while_there(service, seen_file.name):
        file = open_unbuffered(original_of_file(service.settings, seen_file))
        try:
            return _answer_video(service, file, seen_file, name, own=seen_file.hash == content_hash.lower())
        except BaseException:
            file.close()
            raise


def _find_video(service: Service, content_hash: str) -> SeenFile:
    """Find the file with this hash if it is or contains a video, else a video of its photo, if possible by its name."""
    with service.reading() as connection:
        who, today = principal(), service.today()
        seen_file = seen_with_hash(connection, content_hash, who, today)
        if seen_file is not None and seen_file.media_type != "video" and not seen_file.motion:
            files = files_of_photo(connection, seen_file.photo_uid, sees_private=who.sees_private)
            files = seen(connection, files, who, today)
            videos = [file for file in files if file.media_type == "video"]
            same = (file for file in videos if _base(file.name) == _base(seen_file.name))
            seen_file = next(same, videos[0] if videos else seen_file)
    if seen_file is None:
        raise NotFoundError("there is no such file", field="hash")
    return seen_file


def _base(name: str) -> tuple[str, str]:
    """Return folder and base name in lower case, by which each video of a stack belongs to its own picture."""
    return split_name(name.lower())[:2]


def _answer_video(service: Service, file: FileIO, seen_file: SeenFile, name: str, *, own: bool) -> Response:
    size = seen_file.size
    part: Slice | None = Slice(0, size)
    if seen_file.media_type != "video":
        part = find_embedded(file, size)
    if part is None:
        raise NotFoundError("the picture holds no video", field="hash")
    shared = principal().shared
    headers = [CACHED if own and shared is None else CHECKED]
    as_it_is = _type_as_it_is(file, seen_file, part, name) if shared is None or shared.metadata else ""
    if "download" in request.args:
        kind = seen_file.file_type if as_it_is and seen_file.media_type == "video" else "mp4"
        headers.append(disposition(f"{name}-{seen_file.hash[:8]}.{kind}"))
    if as_it_is:
        whole = part == Slice(0, size)
        file.seek(0)  # a whole file is sent from its current position
        return send_file(
            FileAnswer(
                file=file,
                size=part.stop - part.start,
                content_type=as_it_is,
                etag=seen_file.hash if whole else f"{seen_file.hash}-video",
                internal=f"originals/{seen_file.name}" if whole else "",
                modified_ns=seen_file.mtime_ns,
                headers=headers,
                start=part.start,
            )
        )
    file.close()
    descriptor = service.pictures.videos.find(
        original_of_file(service.settings, seen_file), part, principal().owner_uid
    )
    status = os.fstat(descriptor)
    internal = service.picture_cache.relative(seen_file.hash, CONVERTED)
    return send_file(
        FileAnswer(
            file=FileIO(descriptor),
            size=status.st_size,
            content_type=_MP4,
            # The time is part of the tag, because a second conversion may give other bytes.
            etag=f"{seen_file.hash[:20]}-{status.st_mtime_ns:x}",
            internal=f"cache/{internal}",
            modified_ns=status.st_mtime_ns,
            headers=headers,
        )
    )


def _type_as_it_is(file: FileIO, seen_file: SeenFile, part: Slice, name: str) -> str:
    """Return the media type of a video that can be sent unchanged; empty if it must be converted."""
    tracks = read_tracks(file, part.start, part.stop)
    if tracks.play_everywhere:
        return _MP4
    file.seek(part.start)
    if _WEBM in file.read(_WEBM_HEAD):
        return "video/webm"
    codecs = {*tracks.video, seen_file.codec} if seen_file.media_type == "video" else set(tracks.video)
    if name == seen_file.file_type or codecs & _CODECS.get(name, frozenset()):
        return seen_file.mime if seen_file.media_type == "video" and seen_file.mime != "video/x-m4v" else _MP4
    return ""
