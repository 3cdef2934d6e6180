"""One photo with its files and albums, as far as somebody may see them, and one file with its photo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, not_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.models import Album, AlbumPhoto, File, Marker, Photo
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
#: The albums of a photo, by whether private ones are seen.
_ALBUMS: Final = {
    sees_private: select(Album)
    .join(AlbumPhoto)
    .where(AlbumPhoto.photo_id == bindparam("photo_id"), not_(AlbumPhoto.hidden))
    .where(visible_albums(sees_private=sees_private))
    .order_by(Album.title, Album.id)
    for sees_private in (False, True)
}


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
    albums = session.scalars(_ALBUMS[sees_private], {"photo_id": photo.id}).all()
    return PhotoEntity(photo, [files[file.file_id] for file in seen], albums)


def load_file(session: Session, file_id: int) -> File:
    """The file with its photo and its markers; it must have been found in the same transaction."""
    load = (joinedload(File.photo), selectinload(File.markers))
    file = session.scalars(select(File).where(File.id == file_id).options(*load)).one()
    Marker.identify(session, file.markers)
    return file
