"""Covers: the photos that stand for albums, folders, people and labels.

A cover is the latest photo, or the one that a person chose for an album, if the caller may see it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Final, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Text, cast, func, select

from photosvc.models import Album, SearchAlbum, SearchRow
from photosvc.models.statements import in_portions
from photosvc.search.reading.compile import visible, visible_albums, visible_photos

#: Added to both sort keys, so that each has 19 digits: `newest_at` of photos with and without a date, keys below 2^62.
_OFFSET: Final = 2 * 10**18
_DIGITS: Final = 19


class _HasCover(Protocol):
    """A frozen dataclass with the fields `latest` and `thumb`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def latest(self) -> str: ...


class _HasChoice(_HasCover, Protocol):
    """One with the fields `id` and `cover`, too."""

    @property
    def id(self) -> int: ...

    @property
    def cover(self) -> str: ...


Covered = TypeVar("Covered", bound=_HasCover)
Choosing = TypeVar("Choosing", bound=_HasChoice)


def latest(rows: type[SearchRow | SearchAlbum] = SearchRow) -> ColumnElement[str]:
    """Return the aggregate that finds the cover of a group of rows: the file of the latest photo.

    The latest photo is the first in the order `newest`. Its sort keys are packed into one text, so that texts compare
    like keys. The statement that counts the group then finds the row without sorting the group.
    """
    return func.max(cast(rows.taken_at + _OFFSET, Text) + cast(rows.newest_key + _OFFSET, Text))


def hashes_of_covers(connection: Connection, packed: Iterable[str], *, sees_private: bool) -> dict[str, str]:
    """Return the hashes of the files with these packed sort keys, by the keys."""
    keys = {int(text[_DIGITS:]) - _OFFSET: text for text in packed if text}
    hashes: dict[str, str] = {}
    for portion in in_portions(list(keys)):
        query = select(SearchRow.newest_key, SearchRow.hash)
        query = query.where(visible(sees_private=sees_private), SearchRow.newest_key.in_(portion))
        hashes.update((keys[key], content_hash) for key, content_hash in connection.execute(query))
    return hashes


def with_covers(connection: Connection, entries: Iterable[Covered], *, sees_private: bool) -> list[Covered]:
    """Return the albums, folders or people with the hashes of their covers as `thumb`."""
    entries = list(entries)
    hashes = hashes_of_covers(connection, (entry.latest for entry in entries), sees_private=sees_private)
    return [replace(entry, thumb=hashes.get(entry.latest, "")) for entry in entries]


def chosen_cover(connection: Connection, uid: str, *, sees_private: bool) -> int | None:
    """Return the id of the file that a person chose as the cover of an album; None if it may not be seen."""
    query = _chosen_covers(SearchRow.file_id, sees_private=sees_private).where(Album.uid == uid)
    file_id: int | None = connection.scalar(query.where(visible_albums(sees_private=sees_private)))
    return file_id


def _chosen_covers(*columns: Any, sees_private: bool) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    query = select(*columns).join_from(Album, SearchAlbum, SearchAlbum.album_id == Album.id)
    query = query.join(SearchRow, SearchRow.file_id == SearchAlbum.file_id)
    return query.where(SearchRow.photo_uid == Album.cover, visible_photos(sees_private=sees_private))


def with_album_covers(connection: Connection, albums: Iterable[Choosing], *, sees_private: bool) -> list[Choosing]:
    """Return the albums with the hashes of their covers.

    A cover is the chosen photo, while it is in the album and may be seen, else the latest photo.
    """
    covered = with_covers(connection, albums, sees_private=sees_private)
    chosen = {album.id: album.cover for album in covered if album.cover}
    hashes: dict[int, str] = {}
    for portion in in_portions(list(chosen)):
        query = _chosen_covers(Album.id, SearchRow.hash, sees_private=sees_private).where(Album.id.in_(portion))
        hashes |= {row[0]: row[1] for row in connection.execute(query)}
    return [
        replace(album, thumb=hashes[album.id]) if album.id in hashes else replace(album, cover="") for album in covered
    ]
