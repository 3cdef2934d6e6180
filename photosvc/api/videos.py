"""Videos in formats that browsers play: GET /videos/<hash>/<token>/<format>."""

import os
from io import FileIO
from typing import Final

from flask import Response, request

from photosvc.core.errors import NotFoundError
from photosvc.library.thumbnails import original_of
from photosvc.media.embedded import find_embedded
from photosvc.media.formats import FORMATS
from photosvc.media.mp4 import read_tracks
from photosvc.media.slices import Slice
from photosvc.pictures.originals import OpenFile, open_file
from photosvc.pictures.videos import CONVERTED
from photosvc.search.reading.files import SeenFile, files_of_photo
from photosvc.search.reading.shared import seen, seen_with_hash
from photosvc.web.contract import OwnBlueprint, answers, for_visitors, refuses
from photosvc.web.current import Service, current_service
from photosvc.web.errors import or_icon
from photosvc.web.protector import principal, require_link_token
from photosvc.web.sending import CACHED, CHECKED, FileAnswer, disposition, send_file, store_slot, while_there

videos = OwnBlueprint("videos", __name__)

_MP4: Final = "video/mp4"
#: The document type in the head of a WebM file; its tracks are VP8, VP9 or AV1 by definition.
_WEBM: Final = b"\x42\x82\x84webm"
_WEBM_HEAD: Final = 64
#: Names of formats that every browser plays.
_PLAYABLE: Final = frozenset(("avc", "avc1", "avc3", "h264", "mp4", "m4v"))
#: Name of a codec -> its codes; a file that holds one of them is sent as it is.
_CODECS: Final = {
    **dict.fromkeys(("hevc", "hvc1", "hev1", "h265"), frozenset(("hvc1", "hev1"))),
    **dict.fromkeys(("vvc", "vvc1", "h266"), frozenset(("vvc1", "vvi1"))),
    **dict.fromkeys(("av1", "av01"), frozenset(("av01",))),
    **dict.fromkeys(("vp8", "vp08"), frozenset(("vp8", "vp08"))),
    **dict.fromkeys(("vp9", "vp09"), frozenset(("vp09",))),
}
#: Types of files; a file of the type is sent as it is.
_TYPES: Final = frozenset(row.name for row in FORMATS if row.media_type == "video") - _PLAYABLE


@videos.get("/videos/<content_hash>/<token>/<video_format>", strict_slashes=False)
@or_icon
@require_link_token
@answers({"type": "string", "format": "binary"}, "The video; a part of it with status 206.", media_type=_MP4)
@refuses(403, 404, 410, 412, 415, 416, 422, 429, 503, 507)
@for_visitors
def video(content_hash: str, token: str, video_format: str) -> Response:  # noqa: ARG001 - `require_link_token` reads it
    """Send the video with this hash, or the one of the live or motion photo with it, whole or in ranges.

    A file that browsers play, or whose codec or type `video_format` names, is sent as it is, any other as H.264 and
    AAC in MP4. During the conversion the answer is 503, with the share that is done. Visitors of a link that shows no
    metadata always get a converted one, because files contain places and cameras.
    The token is a preview token, or a download token for as long as that is valid.
    """
    name = video_format.lower()
    if not (name in _PLAYABLE or name in _CODECS or name in _TYPES):
        msg = f"there is no video format {name[:20]}; there are {', '.join(sorted({*_PLAYABLE, *_CODECS, *_TYPES}))}"
        raise NotFoundError(msg, field="format")
    service = current_service()
    found = _find(service, content_hash.lower())
    service.close()  # the rest may take long and needs no database
    with while_there(service, found.name):
        with store_slot(service):
            file = open_file(original_of(service.settings, found))
        try:
            return _answer(service, file, found, name, own=found.hash == content_hash.lower())
        except BaseException:
            file.close()
            raise


def _find(service: Service, content_hash: str) -> SeenFile:
    """Find the file with this hash if it is or contains a video, else a video of its photo, if possible by its name."""
    with service.reading() as connection:
        who = principal()
        found = seen_with_hash(connection, content_hash, who)
        if found is not None and found.media_type != "video" and not found.motion:
            files = files_of_photo(connection, found.photo_uid, sees_private=who.sees_private)
            files = seen(connection, files, who)
            videos = [file for file in files if file.media_type == "video"]
            same = (file for file in videos if _base(file.name) == _base(found.name))
            found = next(same, videos[0] if videos else found)
    if found is None:
        raise NotFoundError("there is no such file", field="hash")
    return found


def _base(name: str) -> str:
    """Return the name without extension, in lower case, by which each video of a stack belongs to its own picture."""
    return name.rpartition(".")[0].lower()


def _answer(service: Service, file: OpenFile, found: SeenFile, name: str, *, own: bool) -> Response:
    size = found.size
    part: Slice | None = Slice(0, size)
    if found.media_type != "video":
        with store_slot(service):
            part = find_embedded(file, size)
    if part is None:
        raise NotFoundError("the picture holds no video", field="hash")
    shared = principal().shared
    headers = [CACHED if own and shared is None else CHECKED]
    with store_slot(service):
        as_it_is = _type_as_it_is(file, found, part, name) if shared is None or shared.metadata else ""
    if "download" in request.args:
        kind = found.file_type if as_it_is and found.media_type == "video" else "mp4"
        headers.append(disposition(f"{name}-{found.hash[:8]}.{kind}"))
    if as_it_is:
        whole = part == Slice(0, size)
        file.seek(0)  # a whole file is sent from its current position
        return send_file(
            FileAnswer(
                file=file,
                size=part.stop - part.start,
                content_type=as_it_is,
                etag=found.hash if whole else f"{found.hash}-video",
                internal=f"originals/{found.name}" if whole else "",
                modified_ns=found.mtime_ns,
                headers=headers,
                start=part.start,
            )
        )
    file.close()
    descriptor = service.pictures.videos.find(original_of(service.settings, found), part, principal().owner_uid)
    status = os.fstat(descriptor)
    internal = service.pictures.cache.relative(found.hash, CONVERTED)
    return send_file(
        FileAnswer(
            file=FileIO(descriptor),
            size=status.st_size,
            content_type=_MP4,
            # The time is part of the tag, because a second conversion may give other bytes.
            etag=f"{found.hash[:20]}-{status.st_mtime_ns:x}",
            internal=f"cache/{internal}",
            modified_ns=status.st_mtime_ns,
            headers=headers,
        )
    )


def _type_as_it_is(file: OpenFile, found: SeenFile, part: Slice, name: str) -> str:
    """Return the media type of a video that can be sent as it is, else an empty string."""
    tracks = read_tracks(file, part.start, part.stop)
    if tracks.play_everywhere:
        return _MP4
    file.seek(part.start)
    if _WEBM in file.read(_WEBM_HEAD):
        return "video/webm"
    codecs = {*tracks.video, found.codec} if found.media_type == "video" else set(tracks.video)
    if name == found.file_type or codecs & _CODECS.get(name, frozenset()):
        return found.mime if found.media_type == "video" and found.mime != "video/x-m4v" else _MP4
    return ""
