"""/albums/<uid>/dl, /zip and /zip/<name>: originals as one archive (spec sections 2.1 and 4.7)."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final
from weakref import finalize

from flask import Blueprint, Response, request
from sqlalchemy import Connection, Engine

from photosvc.api.pictures.downloads import download_parameters, saved_name
from photosvc.auth import policy
from photosvc.auth.credentials import tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.core.texts.counted import counted
from photosvc.models.database.transactions import open_reader
from photosvc.pictures.archives import selections
from photosvc.pictures.archives.selections import Waiting
from photosvc.pictures.archives.stream import Entry, stream_zip
from photosvc.pictures.names import safe_name
from photosvc.records.zip import ZipSelectionSchema
from photosvc.search.reading.lookup import SeenFile, files_with_ids
from photosvc.search.reading.selection import Selection, album_ids, bytes_of, find_album, parse_selection, selected_ids
from photosvc.web.answers.answer import ReadyResponse, json_answer
from photosvc.web.contract import NUMBER, TEXT, answers, json_object, refuses, takes, takes_query
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal, require, require_download
from photosvc.web.searches.searching import searching
from photosvc.web.transfers.files import disposition, original_of
from photosvc.web.transfers.sending import begin_transfer

#: Files in one archive.
MOST_FILES: Final = 50_000
#: Bytes of the request: 20,000 hashes take 860 KB.
_MAX_BODY: Final = 1 << 20
_MIB: Final = 1 << 20
#: Files whose rows are read at once, while the archive is sent: their visibility is checked at this moment.
_PORTION: Final = 50
#: Seconds after which an archive of the same owner may be finished.
_RETRY_AFTER: Final = 30

_ARCHIVE: Final = {"type": "string", "format": "binary"}
_STORED: Final = json_object(
    "code message filename count size", code=NUMBER, message=TEXT, filename=TEXT, count=NUMBER, size=NUMBER
)


class ArchiveTooLargeError(PhotosvcError):
    """The archive would be too large: select fewer files."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class TooManyArchivesError(PhotosvcError):
    """You are downloading several archives already: wait until one of them is complete."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    retry_after = _RETRY_AFTER


def add_routes(api: Blueprint) -> None:
    """Add archives to the API."""
    api.add_url_rule("/albums/<album_uid>/dl", view_func=download_album, methods=["GET"])
    api.add_url_rule("/zip", view_func=select_files, methods=["POST"])
    api.add_url_rule("/zip/<name>", view_func=download_selection, methods=["GET"])


@require("photos.download")
@takes(ZipSelectionSchema, max_body=_MAX_BODY)
@answers(_STORED, "The archive's name below `/zip/`; it waits there for an hour.")
@refuses(400, 404, 413)
def select_files(given: dict[str, Any]) -> Response:
    """Select files to download as one archive, with the same credential or its download token."""
    selection = parse_selection(given)
    service, who = current_service(), principal()
    now = service.now()
    with searching(who.owner_uid) as connection:
        file_ids = selected_ids(connection, selection, limit=MOST_FILES + 1, sees_private=who.sees_private)
        if not file_ids:
            msg = "none of the selected items exists"
            raise NotFoundError(msg, field=next(name for name in ("photos", "files", "albums", "q") if given[name]))
        size = _check_size(service, connection, file_ids)
        title = _title(connection, selection, now, sees_private=who.sees_private)
    with service.writing() as session:
        filename = selections.store(session, now, who.credential_id, Waiting(title, file_ids))
    message = f"{counted(len(file_ids), 'file')} selected"
    return json_answer({"code": 200, "message": message, "filename": filename, "count": len(file_ids), "size": size})


@require_download
@takes_query(download_parameters)
@answers(_ARCHIVE, "The archive.", media_type="application/zip")
@refuses(404, 413, 429)
def download_selection(name: str) -> Response:
    """The archive of files that were selected with the same credential."""
    service, who = current_service(), principal()
    with service.reading() as connection:
        waiting = selections.find(connection, service.now(), who.credential_id, name)
    return _send(waiting)


@require_download
@takes_query(download_parameters)
@answers(_ARCHIVE, "The archive.", media_type="application/zip")
@refuses(404, 413, 429)
def download_album(album_uid: str) -> Response:
    """The files of an album as an archive, in the album's order; of a smart album, what it finds now."""
    who = principal()
    with searching(who.owner_uid, "uid") as connection:
        album = None
        if is_uid(album_uid, ALBUM):
            album = find_album(connection, album_uid, sees_private=who.sees_private)
        if album is None:
            msg = "there is no such album"
            raise NotFoundError(msg, field="uid")
        file_ids = album_ids(connection, album, limit=MOST_FILES + 1, sees_private=who.sees_private)
        if not file_ids:
            msg = "the album contains no files"
            raise NotFoundError(msg, field="uid")
    return _send(Waiting(album.title, file_ids))


def _title(connection: Connection, selection: Selection, now: datetime, *, sees_private: bool) -> str:
    """The title of the only selected album, or else the time."""
    if len(selection.albums) == 1 and not (selection.photos or selection.files or selection.query):
        album = find_album(connection, selection.albums[0], sees_private=sees_private)
        if album is not None:
            return album.title
    return f"photos-{now:%Y%m%d-%H%M%S}"


def _check_size(service: Service, connection: Connection, file_ids: Sequence[int]) -> int:
    """The size of the files together, in bytes.

    Raises:
        ArchiveTooLargeError: they are more than one archive may hold.

    """
    if len(file_ids) > MOST_FILES:
        msg = f"more than {MOST_FILES:,} files are selected: select fewer"
        raise ArchiveTooLargeError(msg)
    size = bytes_of(connection, file_ids)
    if size > service.settings.zip_size * _MIB:
        found, most = -(-size // _MIB), service.settings.zip_size
        msg = f"the selected files have {found:,} MiB, an archive may have {most:,} MiB: select fewer"
        raise ArchiveTooLargeError(msg)
    return size


def _send(waiting: Waiting) -> Response:
    service, who = current_service(), principal()
    with service.reading() as connection:
        _check_size(service, connection, waiting.file_ids)
    headers = [
        ("Content-Type", "application/zip"),
        ("Cache-Control", "no-store"),
        disposition(safe_name(f"{waiting.title.strip() or 'album'}.zip")),
    ]
    if request.method == "HEAD":
        return ReadyResponse(headers=headers)
    free = service.archives.take(who.owner_uid)
    if free is None:
        raise TooManyArchivesError
    # The engine is looked up now: an answer is sent after its request has ended.
    entries = _entries(service, service.engine(), who, waiting.file_ids, request.args.get("name", ""))
    answer = ReadyResponse(stream_zip(entries), headers=headers)
    # `finalize`, because an answer that is dropped before a server reads it is never closed.
    answer.call_on_close(finalize(answer, free))
    answer.call_on_close(begin_transfer(answer))
    return answer


def _entries(
    service: Service, engine: Engine, who: Principal, file_ids: Sequence[int], kind: str
) -> Iterator[Entry | None]:
    """The entries of an archive, None for files that may no longer be seen; no transaction is open between portions."""
    for start in range(0, len(file_ids), _PORTION):
        portion = file_ids[start : start + _PORTION]
        with closing(open_reader(engine)) as connection:
            found = _open_files(service, connection, who, portion)
        yield from (None for _ in range(len(portion) - len(found)))
        for file in found:
            yield Entry(saved_name(file, kind), original_of(service.settings, file), file.taken_at_local)


def _open_files(service: Service, connection: Connection, who: Principal, file_ids: Sequence[int]) -> list[SeenFile]:
    """Those of the files that the credential may download at this moment; none after it has ended."""
    try:
        now = tokens.verify_uid(connection, who.credential_uid, service.now())
    except InvalidTokenError:
        return []
    if not policy.may(now, "photos.download"):
        return []
    return files_with_ids(connection, file_ids, sees_private=now.sees_private)
