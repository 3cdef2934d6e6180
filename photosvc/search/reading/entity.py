"""One photo with its files and albums, limited to those that the caller may see, and one file with its photo."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sqlalchemy import bindparam, not_, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.models import Album, AlbumPhoto, File, Marker, Photo
from photosvc.models.database.plain import plain
from photosvc.models.database.prepared import Prepared, prepare_statement
from photosvc.search.reading.conditions.visible import visible_albums
from photosvc.search.reading.lookup import SeenFile

_PHOTO: Final = (
    select(Photo)
    .where(Photo.id == bindparam("photo_id"))
    .options(
        joinedload(Photo.camera),
        joinedload(Photo.lens),
        joinedload(Photo.place),
        selectinload(Photo.keywords),
        selectinload(Photo.files).selectinload(File.markers),
    )
)
_ALBUM: Final = tuple(Album.__table__.columns)


@dataclass(frozen=True, slots=True)
class PhotoEntity:
    """What `PhotoSchema` dumps."""

    photo: Photo
    files: Sequence[File]
    """At least one; the primary one first."""
    albums: Sequence[Album]
    merged: bool = True

    @property
    def file(self) -> File:
        """The file that stands for the photo."""
        return self.files[0]

    @property
    def id(self) -> str:
        """The `ID` of the photo in search results."""
        return f"{self.photo.id}-{self.file.id}"

    @property
    def faces(self) -> int:
        """Number of faces marked on that file."""
        return sum(marker.type == "face" for marker in self.file.markers)


def load_photo(
    session: Session, seen: Sequence[SeenFile], photo: Photo | None = None, *, sees_private: bool
) -> PhotoEntity:
    """The photo of these files, which are what `files_of_photo` found in the same transaction.

    Args:
        session: for reading.
        seen: at least one file.
        photo: the photo if it is loaded with all that belongs to it.
        sees_private: whether private albums are named.

    """
    photo = photo or session.scalars(_PHOTO, {"photo_id": seen[0].photo_id}).one()
    files = {file.id: file for file in photo.files}
    Marker.identify(session, [marker for file in photo.files for marker in file.markers])
    connection = session.connection()
    rows = _albums(connection.dialect, sees_private=sees_private).run(connection, {"photo_id": photo.id})
    albums = [plain(Album, **dict(zip((column.key for column in _ALBUM), row, strict=True))) for row in rows]
    return PhotoEntity(photo, [files[file.file_id] for file in seen], albums)


@lru_cache(maxsize=8)
def _albums(dialect: Dialect, *, sees_private: bool) -> Prepared:
    """The albums of a photo that may be seen."""
    members = select(*_ALBUM).join(AlbumPhoto, AlbumPhoto.album_id == Album.id)
    members = members.where(AlbumPhoto.photo_id == bindparam("photo_id"), not_(AlbumPhoto.hidden))
    seen = members.where(visible_albums(sees_private=sees_private))
    return prepare_statement(seen.order_by(Album.title, Album.id), dialect)


def load_file(session: Session, file_id: int) -> File:
    """The file with its photo and its markers; it must have been found in the same transaction."""
    load = (joinedload(File.photo), selectinload(File.markers))
    file = session.scalars(select(File).where(File.id == file_id).options(*load)).one()
    Marker.identify(session, file.markers)
    return file
