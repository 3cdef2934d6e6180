"""Changes of many photos in short transactions that let others write in between."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from photosvc.core.errors import PhotosvcError
from photosvc.core.words import counted
from photosvc.models.engine import Writing, many_pages

#: Photos in the first transaction; the fewest in a later one; and the seconds for which one should hold the write lock.
_PORTION: Final = 500
_LEAST: Final = 20
_HELD: Final = 0.2
#: Seconds after which a request begins no further transaction: it occupies a thread.
_LONGEST: Final = 60.0


class BatchTooLongError(PhotosvcError):
    """The change takes too long: change fewer photos."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class BatchInterruptedError(PhotosvcError):
    """The database is busy or cannot be reached; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 5


def change_in_portions(
    writing: Writing,
    photo_ids: Sequence[int],
    change: Callable[..., int],
    done: str,
    *,
    slot: Callable[[], AbstractContextManager[object]] = nullcontext,
    around: Callable[[], AbstractContextManager[Any]] | None = None,
    more: Callable[[], dict[str, object]] = dict,
    is_repeatable: bool = False,
) -> int:
    """Change photos, the first `_PORTION` together or not at all; return the number of changed photos.

    Args:
        writing: opens a write transaction.
        photo_ids: the ids of the photos.
        change: gets a transaction's session, the ids of some photos and the value of `around`; returns the number of
            photos that it changed.
        done: a past participle for the error message, such as `changed`.
        slot: a context around a change that needs more than one transaction.
        around: a context around each transaction.
        more: returns further values for an error that stops the change after some photos.
        is_repeatable: True if the same request, sent again, changes the photos that are left.

    Raises:
        BatchTooLongError: photos are left after `_LONGEST` seconds; the others have changed.
        BatchInterruptedError: the database failed; the photos of earlier transactions have changed.
        PhotosvcError: `change` refuses a photo; or an error of `slot`.
    """
    count = 0
    with slot() if len(photo_ids) > _PORTION else nullcontext():
        try:
            for portion in _portions(photo_ids, is_repeatable=is_repeatable):
                with (
                    around() if around else nullcontext() as held,
                    writing(library=True) as session,
                    many_pages(session),
                ):
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
