"""Changes of many photos, and of albums with their photos, in short transactions that let others write in between."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.words import counted, in_portions
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
from photosvc.models.engine import many_pages, session_on
from photosvc.search.reading.selection import Selection
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.sending import ServerBusyError, TooManyAtOnceError, take_slot

#: Photos in the first transaction; the fewest in a later one; and the seconds for which one should hold the write lock.
_PORTION: Final = 500
_LEAST: Final = 20
_HELD: Final = 0.2
#: Seconds after which a request begins no further transaction: it occupies a thread.
_LONGEST: Final = 60.0
#: `library.album_photos.add_photos` or `remove_photos`.
PhotosChange: TypeAlias = Callable[[Session, Album, Sequence[int], datetime], list[int]]


class BatchTooLongError(PhotosvcError):
    """The change takes too long: change fewer photos."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class BatchInterruptedError(PhotosvcError):
    """The database is busy or cannot be reached; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 5


class BatchesBusyError(ServerBusyError):
    """The server changes as many selections of photos as it may: try again."""


class TooManyBatchesError(TooManyAtOnceError):
    """You are changing many photos already: wait until that is complete."""


@contextmanager
def one_batch() -> Iterator[None]:
    """Hold the only slot of the principal for changes that take many transactions.

    Raises:
        BatchesBusyError: this process has no slot left.
        TooManyBatchesError: another such change of the principal goes on.

    """
    free = take_slot(current_service().batches, BatchesBusyError, TooManyBatchesError)
    try:
        yield
    finally:
        free()


def change_in_portions(
    photo_ids: Sequence[int],
    change: Callable[..., int],
    done: str,
    *,
    around: Callable[[], AbstractContextManager[Any]] | None = None,
    more: Callable[[], dict[str, object]] = dict,
    is_repeatable: bool = False,
) -> int:
    """Change photos, the first `_PORTION` together or not at all; return the number of changed photos.

    Args:
        photo_ids: the ids of the photos.
        change: gets a transaction's session, the ids of some photos and the value of `around`; returns the number of
            photos that it changed.
        done: a past participle for the error message, such as `changed`.
        around: a context around each transaction.
        more: returns further values for an error that stops the change after some photos.
        is_repeatable: True if the same request, sent again, changes the photos that are left.

    Raises:
        BatchTooLongError: photos are left after `_LONGEST` seconds; the others have changed.
        BatchInterruptedError: the database failed; the photos of earlier transactions have changed.
        PhotosvcError: `change` refuses a photo; or an error of `one_batch`.

    """
    service, count = current_service(), 0
    with one_batch() if len(photo_ids) > _PORTION else nullcontext():
        try:
            for portion in _portions(photo_ids, is_repeatable=is_repeatable):
                with around() if around else nullcontext() as held, service.changing() as session, many_pages(session):
                    count += change(session, portion, *([held] if around else []))
        except (PhotosvcError, OperationalError, NoConnectionError) as error:
            if not count:
                raise
            stopped = error if isinstance(error, PhotosvcError) else BatchInterruptedError()
            stopped.message += f" (before that, {counted(count, 'photo')} {done})"
            stopped.done = {"photos": count, **more()}
            if stopped is error:
                raise
            raise stopped from error
    return count


def _portions(photo_ids: Sequence[int], *, is_repeatable: bool) -> Iterator[Sequence[int]]:
    """Yield the photos of one transaction after the other, as many as it can change in a fifth of a second.

    The time of a change depends on the photos and on the changed values.

    Raises:
        BatchTooLongError: photos are left after `_LONGEST` seconds.

    """
    began, start, size = time.monotonic(), 0, _PORTION
    while start < len(photo_ids):
        now = time.monotonic()
        if now - began > _LONGEST:
            rest = "send the same request again for the others" if is_repeatable else "select the others again"
            msg = f"{start:,} of {len(photo_ids):,} photos took {now - began:.0f} seconds: {rest}"
            error = BatchTooLongError(msg, field=None if is_repeatable else "photos")
            error.retry_after = 1 if is_repeatable else None
            raise error
        yield photo_ids[start : start + size]
        start += size
        size = max(_LEAST, min(_PORTION, round(size * _HELD / max(time.monotonic() - now, 1e-3))))


def change_values(album_uid: str, values: Mapping[str, Any], check: Callable[[Album], None] | None = None) -> None:
    """Change values of an album, as `AlbumEditSchema` loads them.

    Args:
        album_uid: the UID of the album.
        values: the new values; absent ones do not change.
        check: gets the unchanged album; raises an error if it must not be changed.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: the album follows from the library.
        InvalidValueError: a value is not valid.

    """
    service, who = current_service(), principal()
    with service.changing() as session:
        album = album_to_change(session, album_uid, sees_private=who.sees_private)
        if check is not None:
            check(album)
        change_album(session, album, values, service.now())


def delete_whole(album_uid: str) -> str:
    """Delete an album in as many transactions as its photos need; return its title.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: the album follows from the library.

    """
    service, who = current_service(), principal()
    while True:
        with service.changing() as session:
            album = album_to_change(session, album_uid, sees_private=who.sees_private)
            title, done = album.title, delete_album(session, album, service.now())
        if done:
            return title


def restore_whole(album_uid: str) -> None:
    """Restore a deleted album in as many transactions as its photos need.

    Raises:
        NotFoundError: no such album is deleted, or it may not be seen.
        ConflictError: the number of albums is at its limit.

    """
    service, who = current_service(), principal()
    done = False
    while not done:
        with service.changing() as session:
            album = deleted_album(session, album_uid, sees_private=who.sees_private)
            if album is None:
                msg = "This deleted album does not exist, or you have no permission to see it."
                raise NotFoundError(msg, field="uid")
            done = restore_album(session, album)


def change_photos(album_uid: str, selection: Selection, change: PhotosChange) -> tuple[dict[int, str], list[int]]:
    """Add photos to an album or remove them.

    Return id -> UID of all selected photos, and the ids of the changed ones.

    Raises:
        NotFoundError: there is no such album, or no selected photo exists or may be seen.
        ConflictError: the album follows from the library.
        InvalidValueError: the selection stands for too many files.

    """
    who = principal()
    with searching(who.owner_uid) as connection, session_on(connection) as session:
        album_of_people(session, album_uid, sees_private=who.sees_private)
        photos = select_photos(session, selection, sees_private=who.sees_private)
    return photos, change_selected(album_uid, list(photos), change)


def change_selected(album_uid: str, photo_ids: Sequence[int], change: PhotosChange) -> list[int]:
    """Add photos to an album or remove them in as many transactions as they need; return the ids of the changed ones.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: the album follows from the library.

    """
    service, who = current_service(), principal()
    changed: list[int] = []
    for portion in in_portions(photo_ids, MOST_AT_ONCE):
        with service.changing() as session:
            album = album_to_change(session, album_uid, sees_private=who.sees_private)
            changed += change(session, album, portion, service.now())
    return changed
