"""Selections of files that are downloaded as one archive: stored by one request, sent by the next one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import Connection

from photosvc.core.errors import NotFoundError, PermissionDeniedError, PhotosvcError
from photosvc.core.message import Message
from photosvc.pictures.archives import StoredSelection, store_selection
from photosvc.search.reading.albums_named import find_album
from photosvc.search.reading.guests import sees_album, shared_ids
from photosvc.search.reading.selection import Selection, bytes_of, selected_ids
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import Service, current_service

#: The most files in one archive.
MOST_FILES: Final = 50_000
_MIB: Final = 1 << 20


def select_for_zip(selection: Selection, body: Mapping[str, Any]) -> tuple[StoredSelection, str, int]:
    """Store a selection of files; return it with the name of its archive and its size in bytes."""
    service, who = current_service(), principal()
    now, today, sees_private = service.now(), service.today(), who.sees_private
    if who.shared is not None and (selection.query or not all(sees_album(who, uid) for uid in selection.albums)):
        raise PermissionDeniedError
    with searching(who.owner_uid) as connection:
        file_ids = selected_ids(connection, selection, limit=MOST_FILES + 1, sees_private=sees_private, today=today)
        if who.shared is not None:
            among = shared_ids(connection, file_ids, who.shared, today)
            file_ids = [file_id for file_id in file_ids if file_id in among]
        if not file_ids:
            msg = "none of the selected items exists"
            raise NotFoundError(msg, field=next(name for name in ("photos", "files", "albums", "q") if body[name]))
        size = check_size(service, connection, file_ids)
        title = _title(connection, selection, now, sees_private=sees_private)
    waiting = StoredSelection(title, file_ids)
    with service.writing() as session:
        return waiting, store_selection(session, now, who.credential_uid, waiting), size


def _title(connection: Connection, selection: Selection, now: datetime, *, sees_private: bool) -> str:
    """Return the title of the archive: that of the only selected album, or else the time."""
    if len(selection.albums) == 1 and not (selection.photos or selection.files or selection.query):
        album = find_album(connection, selection.albums[0], sees_private=sees_private)
        if album is not None:
            return album.title
    return f"photos-{now:%Y%m%d-%H%M%S}"


def check_size(service: Service, connection: Connection, file_ids: Sequence[int]) -> int:
    """Return the total size of the files in bytes."""
    if len(file_ids) > MOST_FILES:
        msg = Message("more than {most} files are selected: select fewer", most=MOST_FILES)
        raise PhotosvcError(msg, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    size = bytes_of(connection, file_ids)
    if size > service.settings.zip_size * _MIB:
        found, most = -(-size // _MIB), service.settings.zip_size
        msg = Message(
            "the selected files have {found} MiB, an archive may have {most} MiB: select fewer", found=found, most=most
        )
        raise PhotosvcError(msg, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return size
