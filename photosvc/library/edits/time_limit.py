"""How long a batch may keep those who want to write, and everybody who signs in, from the database."""

import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Final

from photosvc.core.errors import PhotosvcError
from photosvc.core.texts.counted import counted

#: Seconds; SQLite's writers give up after 15, and the commit is still to come.
_LONGEST: Final = 12.0


class BatchTooLongError(PhotosvcError):
    """The batch takes too long: select fewer photos."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def timely(photo_ids: Sequence[int], portion: int) -> Iterator[Sequence[int]]:
    """The photos in portions of at most so many, for as long as a batch may take from the first one on.

    What an edit costs depends on the photos and on what is written, so their number alone does not limit it.

    Raises:
        BatchTooLongError: photos are left after `_LONGEST` seconds; the caller's transaction must be rolled back.

    """
    began = time.monotonic()
    for start in range(0, len(photo_ids), portion):
        if (seconds := time.monotonic() - began) > _LONGEST:
            msg = (
                f"{counted(start, 'photo')} of {len(photo_ids):,} took {seconds:.0f} seconds, which keep others from "
                "writing: nothing was changed, select fewer"
            )
            raise BatchTooLongError(msg, field="photos")
        yield photo_ids[start : start + portion]
