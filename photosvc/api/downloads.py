"""Downloads of originals: single files at /dl/<hash> and /photos/<uid>/dl, and ZIP archives of many.

GET /albums/<uid>/dl sends the archive of an album. POST /zip stores a selection, and GET /zip/<name> sends its archive.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Final

from flask import Response, request
from sqlalchemy import Connection, Engine

from photosvc.auth import policy, tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.principal import HOST_USER, Principal
from photosvc.core.errors import NotFoundError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.core.message import counted
from photosvc.exchange.sidecar_export import sidecar_contents
from photosvc.library.content import check_disk
from photosvc.library.thumbnail_jobs import original_of_file
from photosvc.models.engine import open_reader, session_on
from photosvc.pictures.archives import StoredSelection, ZipEntry, find_selection, stream_zip
from photosvc.pictures.download_names import download_name, safe_name
from photosvc.pictures.originals import open_unbuffered
from photosvc.records.albums import ZipSelectionSchema
from photosvc.search.reading.albums_named import find_album
from photosvc.search.reading.files import SeenFile, files_of_photo, files_with_ids
from photosvc.search.reading.guests import seen, seen_with_hash, sees_album
from photosvc.search.reading.selection import album_ids, parse_selection
from photosvc.web.contract import (
    BINARY,
    LONG_BODY,
    NUMBER,
    TEXT,
    answers,
    describe,
    for_visitors,
    outcome,
    read_switch,
    takes,
    takes_query,
)
from photosvc.web.errors import or_icon
from photosvc.web.files import (
    CHECKED,
    SANDBOX,
    FileAnswer,
    begin_transfer,
    disposition,
    send_file,
    while_there,
)
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require, require_download
from photosvc.web.responses import ReadyResponse, json_answer
from photosvc.web.searching import searching
from photosvc.web.service import Service, current_service
from photosvc.web.zips import MOST_FILES, check_size, select_for_zip

downloads = OwnBlueprint("downloads", __name__)

#: Files whose rows are read, and their visibility checked, at once while an archive is sent.
_PORTION: Final = 50
_STORED: Final = outcome(filename=TEXT, count=NUMBER, size=NUMBER)


def download_parameters() -> list[dict[str, Any]]:
    """Return the query parameters of downloads, as OpenAPI has them."""
    names = {"enum": ["share", "file", "original"], "default": "share"}
    meaning = "Name of the file: by time and title, as in the library, or as before the import."
    instead = "A download token; without it, show an access token in a header."
    return describe({"t": (TEXT, instead), "name": (names, meaning)})


def _archive_parameters() -> list[dict[str, Any]]:
    details = "Add an XMP sidecar to each file, with what people entered; not for guests and visitors."
    return [*download_parameters(), *describe({"details": ({"type": "boolean", "default": False}, details)})]


@downloads.get("/dl/<content_hash>")
@or_icon
@require_download
@takes_query(download_parameters)
@answers(BINARY, "The file; a part of it with status 206.", media_type="*/*", refuses=(404, 410, 412, 416, 429, 503))
@for_visitors
def download_file(content_hash: str) -> Response:
    """Send the original with this SHA1, whole or in ranges."""
    service = current_service()
    with service.reading() as connection:
        seen_file = seen_with_hash(connection, content_hash.lower(), principal(), service.today())
    if seen_file is None:
        raise NotFoundError("there is no such file", field="hash")
    return _send(seen_file)


@downloads.get("/photos/<photo_uid>/dl")
@or_icon
@require_download
@takes_query(download_parameters)
@answers(BINARY, "The file; a part of it with status 206.", media_type="*/*", refuses=(404, 410, 412, 416, 429, 503))
@for_visitors
def download_photo(photo_uid: str) -> Response:
    """Send the primary original of a photo, whole or in ranges."""
    service, who = current_service(), principal()
    with service.reading() as connection:
        files = files_of_photo(connection, photo_uid, sees_private=who.sees_private)
        files = seen(connection, files, who, service.today())
    if not files:
        raise NotFoundError("there is no such photo", field="uid")
    return _send(files[0])


def saved_name(seen_file: SeenFile, kind: str) -> str:
    """Return the name under which a file is saved; `kind` is the parameter `name` of the request."""
    return download_name(
        kind,
        name=seen_file.name,
        original_name=seen_file.original_name,
        title=seen_file.title,
        taken_at_local=seen_file.taken_at_local,
    )


def _send(seen_file: SeenFile) -> Response:
    service = current_service()
    service.close()  # sending a large file takes long and needs no database
    with while_there(service, seen_file.name):
        file = open_unbuffered(original_of_file(service.settings, seen_file))
    return send_file(
        FileAnswer(
            file=file,
            size=seen_file.size,
            content_type=_harmless(seen_file.mime),
            etag=seen_file.hash,
            internal=f"originals/{seen_file.name}",
            modified_ns=seen_file.mtime_ns,
            headers=[CHECKED, SANDBOX, disposition(saved_name(seen_file, request.args.get("name", "")))],
        )
    )


def _harmless(media_type: str) -> str:
    """Return the media type of a picture or video, or else one that no browser runs."""
    kind = media_type.partition("/")[0]
    return media_type if kind in {"image", "video"} and "xml" not in media_type else "application/octet-stream"


@downloads.post("/zip")
@require("photos.download")
@takes(ZipSelectionSchema, max_body=LONG_BODY)
@answers(_STORED, "The archive's name below `/zip/`; it waits there for an hour.", refuses=(400, 404, 413, 429, 503))
@for_visitors
def select_files(body: dict[str, Any]) -> Response:
    """Select files to download as one archive, with the same credential or its download token."""
    selection = parse_selection(body)
    waiting, filename, size = select_for_zip(selection, body)
    count = len(waiting.file_ids)
    message = f"{counted(count, 'file')} selected"
    return json_answer({"code": 200, "message": message, "filename": filename, "count": count, "size": size})


@downloads.get("/zip/<name>")
@require_download
@takes_query(_archive_parameters)
@answers(BINARY, "The archive.", media_type="application/zip", refuses=(404, 413, 429, 503))
@for_visitors
def download_selection(name: str) -> Response:
    """Send the archive of files that were selected with the same credential."""
    service = current_service()
    with service.reading() as connection:
        waiting = find_selection(connection, service.now(), principal().credential_uid, name)
    return _send_archive(waiting)


@downloads.get("/albums/<album_uid>/dl")
@require_download
@takes_query(_archive_parameters)
@answers(BINARY, "The archive.", media_type="application/zip", refuses=(404, 413, 429, 503))
@for_visitors
def download_album(album_uid: str) -> Response:
    """Send the files of an album as an archive, in its order; of a smart album, the files that it contains now."""
    who, today = principal(), current_service().today()
    with searching(who.owner_uid, "uid") as connection:
        album = None
        if is_uid(album_uid, ALBUM) and sees_album(who, album_uid):
            album = find_album(connection, album_uid, sees_private=who.sees_private)
        if album is None:
            raise NotFoundError("there is no such album", field="uid")
        file_ids = album_ids(connection, album, limit=MOST_FILES + 1, sees_private=who.sees_private, today=today)
        if not file_ids:
            raise NotFoundError("the album contains no files", field="uid")
    return _send_archive(StoredSelection(album.title, file_ids))


def _send_archive(waiting: StoredSelection) -> Response:
    service, who = current_service(), principal()
    with_details = read_switch("details") and who.shared is None
    with service.reading(orm=True) as session:
        check_size(service, session.connection(), waiting.file_ids)
        check_disk(session, service.settings)
    headers = [
        ("Content-Type", "application/zip"),
        ("Cache-Control", "no-store"),
        disposition(safe_name(f"{waiting.title.strip() or 'album'}.zip")),
    ]
    if request.method == "HEAD":
        return ReadyResponse(headers=headers)
    # The engine is looked up now: an answer is sent after its request has ended.
    entries = _entries(
        service, service.engine(), who, waiting.file_ids, request.args.get("name", ""), with_details=with_details
    )
    answer = ReadyResponse(stream_zip(entries), headers=headers)
    answer.call_on_close(begin_transfer(answer))
    return answer


def _entries(
    service: Service, engine: Engine, who: Principal, file_ids: Sequence[int], kind: str, *, with_details: bool
) -> Iterator[ZipEntry | None]:
    """Yield the entries of an archive, None for files that may no longer be seen.

    No transaction is open between portions: the client decides how long the archive takes.
    """
    for start in range(0, len(file_ids), _PORTION):
        portion = file_ids[start : start + _PORTION]
        with closing(open_reader(engine)) as connection:
            files = _open_files(service, connection, who, portion)
            sidecars: dict[int, bytes] = {}
            if with_details:
                with session_on(connection) as session:
                    sidecars = sidecar_contents(session, list({file.photo_id for file in files}))
        yield from (None for _ in range(len(portion) - len(files)))
        for file in files:
            original, sidecar = original_of_file(service.settings, file), sidecars.get(file.file_id, b"")
            yield ZipEntry(saved_name(file, kind), original, file.taken_at_local, sidecar)


def _open_files(service: Service, connection: Connection, who: Principal, file_ids: Sequence[int]) -> list[SeenFile]:
    """Return the files that the principal may download at this moment; none after its credential has ended.

    Users of a host app keep the rights of the request, because the host can no longer tell who they are.
    """
    try:
        now = who if who.kind == HOST_USER else tokens.verify_uid(connection, who.credential_uid, service.now())
    except InvalidTokenError:
        return []
    if not policy.may(now, "photos.download"):
        return []
    files = files_with_ids(connection, file_ids, sees_private=now.sees_private)
    return list(seen(connection, files, now, service.today()))
