"""The albums of Google Takeout: a folder with a JSON file that names its album becomes an album of its photos.

Afterwards people own the album: a photo is added only when its file is first indexed; a changed title stays; a deleted
album stays deleted, also when its folder moves or the JSON file is gone for a while.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.core.problems import Reason
from photosvc.index.sidecar_formats import SidecarKind
from photosvc.media.metadata import Metadata
from photosvc.models import GONE, ORIGINALS_ROOT, Album, AlbumPhoto, File, Photo, RejectedFile, Sidecar
from photosvc.models.statements import in_portions, insert_into, is_below, unindexed


class FolderAlbums:
    """The albums of folders, made and filled in the transaction of the session."""

    def __init__(self, session: Session, now: datetime, parts: Callable[[str], Sequence[str]]) -> None:
        """Begin without files; `parts` returns a folder and those that are the same in other parts of a Takeout."""
        self._session = session
        self._now = now
        self._parts = parts
        self._new: defaultdict[str, set[File]] = defaultdict(set)

    def save(self, sidecar: Sidecar, metadata: Metadata, before: Metadata | None) -> list[int]:
        """Make or update the album of a sidecar and return the ids of the photos that are new in it.

        Args:
            sidecar: of the kind `album`.
            before: its content when it was read last; None when it is new.
        """
        if before is None:
            return self._make(sidecar, metadata)
        album = self._session.get(Album, sidecar.album_id) if sidecar.album_id else None
        if album is not None:
            for name in ("title", "description"):
                if getattr(album, name) == getattr(before, name) != getattr(metadata, name):
                    setattr(album, name, getattr(metadata, name))
                    album.updated_at = self._now
        return []

    def add(self, name: str, file: File) -> None:
        """Note that a file, or under this name a copy of it, was indexed for the first time."""
        self._new[name.rpartition("/")[0]].add(file)

    def finish(self) -> None:
        """Put the noted photos into the albums of their folders."""
        new: defaultdict[str, set[int]] = defaultdict(set)
        for folder, files in self._new.items():
            for part in self._parts(folder):
                new[part].update(file.photo_id for file in files)
        for some in in_portions(list(new)):
            for folder, album_id in self._session.execute(_albums_of(some)).all():
                self._put(album_id, sorted(new[folder]))

    def _make(self, sidecar: Sidecar, metadata: Metadata) -> list[int]:
        parts = self._parts(sidecar.folder)
        if any(self._session.execute(_albums_of(some)).first() for some in in_portions(parts)):
            return []
        times = {"created_at": self._now, "updated_at": self._now}
        uid = ids.new_uid(ids.ALBUM, self._now)
        album = Album(uid=uid, title=metadata.title, description=metadata.description, **times)
        self._session.add(album)
        self._session.flush()
        sidecar.album_id = album.id
        photos = sorted({photo_id for folder in parts for photo_id in self._photos_in(folder)})
        self._put(album.id, photos)
        return photos

    def _put(self, album_id: int | None, photo_ids: Sequence[int]) -> None:
        last = select(func.max(AlbumPhoto.position)).where(AlbumPhoto.album_id == album_id)
        entry = {"album_id": album_id, "position": (self._session.scalar(last) or 0) + 1, "created_at": self._now}
        rows = [{**entry, "photo_id": photo_id} for photo_id in photo_ids]
        if rows:
            self._session.execute(insert_into(AlbumPhoto, self._session).on_conflict_do_nothing(), rows)

    def _photos_in(self, folder: str) -> set[int]:
        """Return the photos with a file, or a copy of a file, in the folder: Takeout repeats files in albums."""
        present = Photo.path == folder, unindexed(File.root) == ORIGINALS_ROOT, File.missing.is_(False)
        found = set(self._session.scalars(select(Photo.id).join(Photo.files).where(*present)))
        copies = select(RejectedFile.name, RejectedFile.detail).where(
            RejectedFile.root == ORIGINALS_ROOT,
            RejectedFile.reason == Reason.DUPLICATE.value,
            is_below(RejectedFile.name, folder),
        )
        names = [detail for name, detail in self._session.execute(copies) if name.rpartition("/")[0] == folder]
        for some in in_portions(names):
            others = File.name.in_(some)
            found.update(self._session.scalars(select(File.photo_id).where(File.root == ORIGINALS_ROOT, others)))
        return found


def _albums_of(folders: Sequence[str]) -> Select[str, int | None]:
    """Return the query for the albums that were made from sidecars in these folders."""
    return select(Sidecar.folder, Sidecar.album_id).where(
        Sidecar.folder.in_(folders),
        Sidecar.kind == SidecarKind.ALBUM,
        Sidecar.album_id.is_not(None),
        Sidecar.size != GONE,
    )
