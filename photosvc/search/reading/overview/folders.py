"""The folders of the originals as a tree: those directly in one, and those of its files that the caller may see."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from photosvc.models import File, SearchRow
from photosvc.query.fold import fold, fold_recurring
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.reading.names.library_albums import FOLDER, LibraryAlbum
from photosvc.search.reading.overview.albums import AlbumRecord


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that contains photos, or folders that do."""

    path: str
    """Relative to the originals."""
    photo_count: int
    """Photos directly in it."""
    total_count: int
    """Photos in it and below it."""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def uid(self) -> str:
        """That of the album that it is; empty when no photo is directly in it."""
        return LibraryAlbum(FOLDER, path=self.path).uid if self.photo_count else ""


def folders_in(albums: Iterable[AlbumRecord], path: str, *, recursive: bool) -> list[Folder]:
    """The folders in a folder by path, from all albums of the type folder.

    Args:
        albums: with their paths and the number of their photos.
        path: of the folder; empty for the originals.
        recursive: also those below these.

    """
    own = [fold_recurring(part) for part in path.split("/") if part]
    names: dict[tuple[str, ...], str] = {}
    direct: dict[tuple[str, ...], int] = {}
    total: dict[tuple[str, ...], int] = {}
    for album in albums:
        parts = album.path.split("/")
        key = tuple(map(fold_recurring, parts))
        if list(key[: len(own)]) != own:
            continue
        last = len(parts) if recursive else min(len(parts), len(own) + 1)
        for depth in range(len(own) + 1, last + 1):
            names.setdefault(key[:depth], "/".join(parts[:depth]))
            total[key[:depth]] = total.get(key[:depth], 0) + album.photo_count
        direct[key] = direct.get(key, 0) + album.photo_count
    return [Folder(names[key], direct.get(key, 0), total[key]) for key in sorted(names)]


def files_in(connection: Connection, path: str, *, count: int, offset: int, sees_private: bool) -> Sequence[int]:
    """The ids of the files whose photos are directly in a folder, by name."""
    query = select(SearchRow.file_id).join(File, File.id == SearchRow.file_id)
    query = query.where(SearchRow.path_key == fold(path), visible(sees_private=sees_private, by_index=False))
    return connection.scalars(query.order_by(File.name, File.id).limit(count).offset(offset)).all()
