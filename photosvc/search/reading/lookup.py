"""Files by their identifiers, limited to those that the caller may see, for links and downloads."""

from array import array
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, not_, select
from sqlalchemy.engine import Dialect

from photosvc.core.ids import PHOTO, is_hash, is_uid
from photosvc.models import File, Marker, Photo, SearchRow
from photosvc.models.database.prepared import Prepared, prepare_statement
from photosvc.search.reading.conditions.visible import EVERY_SWITCH, visible
from photosvc.search.reading.paging.prepare import prepare
from photosvc.search.reading.request import SearchRequest


class SeenFile(NamedTuple):
    """A file that is there and may be seen, with what is needed of its photo."""

    file_id: int
    photo_id: int
    uid: str
    hash: str
    name: str
    original_name: str
    size: int
    mtime_ns: int
    file_type: str
    media_type: str
    mime: str
    codec: str
    width: int
    height: int
    turn: int
    """Exif orientation that leads from the picture as the file shows it to the one that a person chose."""
    motion: bool
    """It is a picture that contains a video."""
    duration_ns: int
    primary: bool
    error: str
    """Code of the `core.problems.Reason` why it cannot be shown; empty when it can."""
    error_detail: str
    photo_uid: str
    photo_type: str
    title: str
    taken_at_local: datetime


_COLUMNS: tuple[Any, ...] = (
    File.id,
    File.photo_id,
    File.uid,
    File.hash,
    File.name,
    File.original_name,
    File.size,
    File.mtime_ns,
    File.file_type,
    File.media_type,
    File.mime,
    File.codec,
    File.width,
    File.height,
    File.turn,
    File.motion,
    File.duration_ns,
    File.primary,
    File.error,
    File.error_detail,
    Photo.uid.label("photo_uid"),
    Photo.type,
    Photo.title,
    Photo.taken_at_local,
)


def file_with_hash(connection: Connection, content_hash: str, *, sees_private: bool) -> SeenFile | None:
    """The file with this content; None when there is none, it may not be seen, or the text is no SHA-1."""
    # PostgreSQL refuses texts with NUL, so only what has the form is looked up.
    found = _run(connection, "hash", content_hash, sees_private=sees_private) if is_hash(content_hash) else ()
    return found[0] if found else None


def files_of_photo(connection: Connection, photo_uid: str, *, sees_private: bool) -> Sequence[SeenFile]:
    """The files of a photo, the primary one first; empty when there is none, it may not be seen, or it is no UID."""
    return _run(connection, "photo_uid", photo_uid, sees_private=sees_private) if is_uid(photo_uid, PHOTO) else ()


def matching_ids(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Sequence[int]:
    """The ids of all files that a search finds, in its order; `count` and `offset` of the request apply.

    Raises:
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.

    """
    found = prepare(connection, request, sees_private=sees_private).window(request.offset, request.count)
    return array("q", (row[0] for row in found))


def files_with_ids(connection: Connection, file_ids: Sequence[int], *, sees_private: bool) -> list[SeenFile]:
    """Those of these files, at most some hundreds, that are there and may be seen, in this order."""
    rows = connection.execute(_query(sees_private=sees_private).where(SearchRow.file_id.in_(file_ids)))
    found = {row[0]: SeenFile._make(row) for row in rows}
    return [found[file_id] for file_id in file_ids if file_id in found]


def _run(connection: Connection, column: str, value: str, *, sees_private: bool) -> Sequence[SeenFile]:
    rows = _prepared(connection.dialect, column, sees_private=sees_private).run(connection, {"value": value})
    return [SeenFile._make(row) for row in rows]


@lru_cache(maxsize=8)
def _prepared(dialect: Dialect, column: str, *, sees_private: bool) -> Prepared:
    """Compiled once: every thumbnail of a page asks for one."""
    statement = _query(sees_private=sees_private).where(getattr(SearchRow, column) == bindparam("value"))
    return prepare_statement(statement.order_by(File.primary.desc(), File.id), dialect)


def _query(*, sees_private: bool) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    return (
        select(*_COLUMNS)
        .select_from(SearchRow)
        .join(File, File.id == SearchRow.file_id)
        .join(Photo, Photo.id == SearchRow.photo_id)
        .where(visible(sees_private=sees_private, opened=EVERY_SWITCH), not_(File.missing))
    )


def marked_areas(connection: Connection, file_id: int) -> list[tuple[float, float, float, float]]:
    """Left, top, width and height of each marker of a file, in fractions of the sides."""
    query = select(Marker.x, Marker.y, Marker.w, Marker.h).where(Marker.file_id == file_id)
    return [(x, y, w, h) for x, y, w, h in connection.execute(query)]
