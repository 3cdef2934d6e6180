"""GET /dl/<hash> and /photos/<uid>/dl: originals, byte for byte (spec sections 2.1 and 4.7)."""

from io import FileIO
from typing import Final

from flask import Blueprint, Response, request

from photosvc.core.errors import NotFoundError
from photosvc.pictures.names import download_name
from photosvc.pictures.originals import descriptor_of
from photosvc.search.reading.lookup import SeenFile, file_with_hash, files_of_photo
from photosvc.web.answers.icons import or_icon
from photosvc.web.contract import answers, refuses, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require_download
from photosvc.web.transfers.files import FileAnswer, disposition, original_of, send_file

_BINARY: Final = {"type": "string", "format": "binary"}
#: Browsers must not run scripts of the file, even if they take it for a page.
_SANDBOX: Final = ("Content-Security-Policy", "default-src 'none'; sandbox")
_CACHED: Final = ("Cache-Control", "private, no-cache")


def add_routes(api: Blueprint) -> None:
    """Add downloads to the API."""
    api.add_url_rule("/dl/<content_hash>", view_func=download_file, methods=["GET"])
    api.add_url_rule("/photos/<photo_uid>/dl", view_func=download_photo, methods=["GET"])


def download_parameters() -> list[dict[str, object]]:
    """The query parameters of downloads."""
    return [
        {
            "name": "t",
            "in": "query",
            "description": "A download token; without it, show an access token in a header.",
            "schema": {"type": "string"},
        },
        {
            "name": "name",
            "in": "query",
            "description": "What the file is called: by time and title, as in the library, or as when it was imported.",
            "schema": {"enum": ["share", "file", "original"], "default": "share"},
        },
    ]


@or_icon
@require_download
@takes_query(download_parameters)
@answers(_BINARY, "The file; a part of it with status 206.", media_type="*/*")
@refuses(404, 410, 412, 416, 429)
def download_file(content_hash: str) -> Response:
    """The original with this SHA1, whole or in ranges."""
    service = current_service()
    with service.reading() as connection:
        found = file_with_hash(connection, content_hash.lower(), sees_private=principal().sees_private)
    if found is None:
        msg = "there is no such file"
        raise NotFoundError(msg, field="hash")
    return _send(found)


@or_icon
@require_download
@takes_query(download_parameters)
@answers(_BINARY, "The file; a part of it with status 206.", media_type="*/*")
@refuses(404, 410, 412, 416, 429)
def download_photo(photo_uid: str) -> Response:
    """The primary original of a photo, whole or in ranges."""
    service = current_service()
    with service.reading() as connection:
        files = files_of_photo(connection, photo_uid, sees_private=principal().sees_private)
    if not files:
        msg = "there is no such photo"
        raise NotFoundError(msg, field="uid")
    return _send(files[0])


def saved_name(found: SeenFile, kind: str) -> str:
    """The name under which a file is saved; `kind` is the parameter `name` of the request."""
    return download_name(
        kind,
        name=found.name,
        original_name=found.original_name,
        title=found.title,
        taken_at_local=found.taken_at_local,
    )


def _send(found: SeenFile) -> Response:
    service = current_service()
    service.close()  # a large file is read for long, without the database
    file = FileIO(descriptor_of(original_of(service.settings, found)))
    return send_file(
        FileAnswer(
            file=file,
            size=found.size,
            content_type=_harmless(found.mime),
            etag=found.hash,
            internal=f"originals/{found.name}",
            modified_ns=found.mtime_ns,
            headers=[_CACHED, _SANDBOX, disposition(saved_name(found, request.args.get("name", "")))],
        )
    )


def _harmless(media_type: str) -> str:
    """A media type that no browser runs: pictures and videos keep theirs."""
    kind = media_type.partition("/")[0]
    return media_type if kind in {"image", "video"} and "xml" not in media_type else "application/octet-stream"
