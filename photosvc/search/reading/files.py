"""Files by their identifiers, and one photo with its files and albums, limited to what the caller may see."""

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, bindparam, not_, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import InstrumentedAttribute, Session, joinedload, selectinload

from photosvc.core.ids import PHOTO, is_hash, is_uid
from photosvc.models import Album, AlbumPhoto, File, Marker, Photo, SearchRow
from photosvc.models.photo import WITH_ALL
from photosvc.models.statements import Prepared, prepare_statement
from photosvc.search.reading.compile import visible_albums, visible_in_any_state
from photosvc.search.reading.request import SearchRequest
from photosvc.search.reading.window import prepare

#: The columns of `SeenFile`, of a file joined with its photo.
FILE_COLUMNS: tuple[Any, ...] = (
    File.id, File.photo_id, File.uid, File.hash, File.name, File.original_name, File.size, File.mtime_ns,
    File.file_type, File.media_type, File.mime, File.codec, File.width, File.height, File.turn, File.motion,
    File.duration_ns, File.primary, File.error, File.error_detail, Photo.uid.label("photo_uid"), Photo.type,
    Photo.title, Photo.taken_at_local,
)  # fmt: skip
_PHOTO: Final = select(Photo).where(Photo.id == bindparam("photo_id")).options(*WITH_ALL)
_Text: TypeAlias = InstrumentedAttribute[str]


class SeenFile(NamedTuple):
    """A file that is on disk and may be seen, with some columns of its photo."""

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
    """True if it is a picture that contains a video."""
    duration_ns: int
    primary: bool
    error: str
    """Code of the `core.problems.Reason` why it cannot be shown; empty when it can."""
    error_detail: str
    photo_uid: str
    photo_type: str
    title: str
    taken_at_local: datetime


def file_with_hash(connection: Connection, content_hash: str, *, sees_private: bool) -> SeenFile | None:
    """Return the file with this content; None if it is unknown, may not be seen, or the text is no SHA-1."""
    files = files_with_hash(connection, content_hash, sees_private=sees_private)
    return files[0] if files else None


def files_with_hash(connection: Connection, content_hash: str, *, sees_private: bool) -> Sequence[SeenFile]:
    """Return the files with this content, each of another photo; a file restored from the trash may be repeated."""
    # PostgreSQL refuses texts with NUL, so only texts in the form of a hash are looked up.
    return _run(connection, File.hash, content_hash, sees_private=sees_private) if is_hash(content_hash) else ()


def files_of_photo(connection: Connection, photo_uid: str, *, sees_private: bool) -> Sequence[SeenFile]:
    """Return the files of a photo, primary first; none if it is unknown, may not be seen, or is no UID."""
    # PostgreSQL refuses texts with NUL, so only texts in the form of a UID are looked up.
    return _run(connection, Photo.uid, photo_uid, sees_private=sees_private) if is_uid(photo_uid, PHOTO) else ()


def turns_of(connection: Connection, hashes: Collection[str]) -> dict[str, int]:
    """Return the turns of the files that a person turned, by their hashes.

    Args:
        hashes: some hundreds at most.
    """
    turned = select(File.hash, File.turn).where(File.hash.in_(hashes), File.turn != 1)
    return {row.hash: row.turn for row in connection.execute(turned)}


def matching_ids(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Sequence[int]:
    """Return the ids of the files on the page of this search, in its order."""
    rows = prepare(connection, request, sees_private=sees_private).window(request.start, request.count)
    return array("q", (row[0] for row in rows))


def files_with_ids(connection: Connection, file_ids: Sequence[int], *, sees_private: bool) -> list[SeenFile]:
    """Return the files with these ids, at most some hundreds, in this order, if they may be seen."""
    rows = connection.execute(_query(sees_private=sees_private).where(SearchRow.file_id.in_(file_ids)))
    files = {row[0]: SeenFile._make(row) for row in rows}
    return [files[file_id] for file_id in file_ids if file_id in files]


def _run(connection: Connection, column: _Text, value: str, *, sees_private: bool) -> Sequence[SeenFile]:
    rows = _prepared(connection.dialect, column, sees_private=sees_private).run(connection, {"value": value})
    return [SeenFile._make(row) for row in rows]


@lru_cache(maxsize=8)
def _prepared(dialect: Dialect, column: _Text, *, sees_private: bool) -> Prepared:
    """Return the compiled statement, cached because every thumbnail of a page asks for it."""
    statement = _query(sees_private=sees_private).where(column == bindparam("value"))
    return prepare_statement(statement.order_by(File.primary.desc(), File.id), dialect)


def _query(*, sees_private: bool) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    return (
        select(*FILE_COLUMNS)
        .select_from(SearchRow)
        .join(File, File.id == SearchRow.file_id)
        .join(Photo, Photo.id == SearchRow.photo_id)
        .where(visible_in_any_state(sees_private=sees_private), not_(File.missing))
    )


def marked_areas(connection: Connection, file_id: int) -> list[tuple[float, float, float, float]]:
    """Return left, top, width and height of each marker of a file, in fractions of the sides."""
    query = select(Marker.x, Marker.y, Marker.w, Marker.h).where(Marker.file_id == file_id)
    return [(x, y, w, h) for x, y, w, h in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class PhotoEntity:
    """A photo as `PhotoSchema` dumps it."""

    photo: Photo
    files: Sequence[File]
    """At least one; the primary one first."""
    albums: Sequence[Album]
    merged: bool = True

    @property
    def file(self) -> File:
        """Return the file that represents the photo."""
        return self.files[0]

    @property
    def id(self) -> str:
        """Return the `ID` of the photo in search results."""
        return f"{self.photo.id}-{self.file.id}"


def load_photo(session: Session, seen: Sequence[SeenFile], *, sees_private: bool) -> PhotoEntity:
    """Return the photo of these files, which `files_of_photo` found in the same transaction.

    Args:
        seen: at least one file.
    """
    photo = session.scalars(_PHOTO, {"photo_id": seen[0].photo_id}).one()
    files = {file.id: file for file in photo.files}
    Marker.identify(session, [marker for file in photo.files for marker in file.markers])
    members = select(Album).join(AlbumPhoto).where(AlbumPhoto.photo_id == photo.id, not_(AlbumPhoto.hidden))
    members = members.where(visible_albums(sees_private=sees_private)).order_by(Album.title, Album.id)
    return PhotoEntity(photo, [files[file.file_id] for file in seen], session.scalars(members).all())


def load_file(session: Session, file_id: int) -> File:
    """Return the file with its photo and its markers; it must have been found in the same transaction."""
    load = (joinedload(File.photo), selectinload(File.markers))
    file = session.scalars(select(File).where(File.id == file_id).options(*load)).one()
    Marker.identify(session, file.markers)
    return file
