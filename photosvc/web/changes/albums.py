"""Changes of albums and of the photos in them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.portions import in_portions
from photosvc.library.album_photos import MOST_AT_ONCE, select_photos
from photosvc.library.albums import (
    album_of_people,
    album_to_change,
    change_album,
    delete_album,
    deleted_album,
    restore_album,
)
from photosvc.models import Album
from photosvc.models.database.transactions import session_on
from photosvc.search.reading.selection import Selection
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching

#: `library.album_photos.add_photos` or `remove_photos`.
PhotosChange: TypeAlias = Callable[[Session, Album, Sequence[int], datetime], list[int]]


def change_values(album_uid: str, values: Mapping[str, Any], check: Callable[[Album], None] | None = None) -> None:
    """Change values of an album, as `AlbumEditSchema` loads them.

    Args:
        album_uid: of the album.
        values: what is absent stays as it is.
        check: raises an error where the album, as it is before, must not be changed.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: it follows from the library.
        InvalidValueError: a value is not valid.

    """
    service, who = current_service(), principal()
    with service.changing() as session:
        album = album_to_change(session, album_uid, sees_private=who.sees_private)
        if check is not None:
            check(album)
        change_album(session, album, values, service.now())


def delete_whole(album_uid: str) -> str:
    """Delete an album in as many transactions as its photos need; gives its title.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: it follows from the library.

    """
    service, who = current_service(), principal()
    while True:
        with service.changing() as session:
            album = album_to_change(session, album_uid, sees_private=who.sees_private)
            title, done = album.title, delete_album(session, album, service.now())
        if done:
            return title


def restore_whole(album_uid: str) -> None:
    """Bring a deleted album back in as many transactions as its photos need.

    Raises:
        NotFoundError: no such album is deleted, or it may not be seen.
        ConflictError: there are as many albums as there may be.

    """
    service, who = current_service(), principal()
    done = False
    while not done:
        with service.changing() as session:
            album = deleted_album(session, album_uid, sees_private=who.sees_private)
            if album is None:
                msg = "There is no such deleted album, or it may not be seen."
                raise NotFoundError(msg, field="uid")
            done = restore_album(session, album)


def change_photos(album_uid: str, selection: Selection, change: PhotosChange) -> tuple[dict[int, str], list[int]]:
    """Add photos to an album or remove them.

    Gives id -> UID of everything selected, and the ids of the photos that were changed.

    Raises:
        NotFoundError: there is no such album, or nothing selected exists or may be seen.
        ConflictError: the album follows from the library.
        InvalidValueError: the selection stands for too many files.

    """
    who = principal()
    with searching(who.owner_uid) as connection, session_on(connection) as session:
        album_of_people(session, album_uid, sees_private=who.sees_private)
        photos = select_photos(session, selection, sees_private=who.sees_private)
    return photos, change_selected(album_uid, list(photos), change)


def change_selected(album_uid: str, photo_ids: Sequence[int], change: PhotosChange) -> list[int]:
    """Add photos to an album or remove them, in as many transactions as they need; gives those that were changed.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: it follows from the library.

    """
    service, who = current_service(), principal()
    changed: list[int] = []
    for portion in in_portions(photo_ids, MOST_AT_ONCE):
        with service.changing() as session:
            album = album_to_change(session, album_uid, sees_private=who.sees_private)
            changed += change(session, album, portion, service.now())
    return changed
