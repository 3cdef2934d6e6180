"""Deletes what has expired: credentials, failed attempts, selections for archives, leftovers in the cache."""

from contextlib import suppress
from datetime import datetime
from typing import Final

from sqlalchemy import Engine

from photosvc.auth.credentials import bearer
from photosvc.auth.throttle import buckets
from photosvc.core.errors import ConflictError
from photosvc.models.database.transactions import write_session
from photosvc.pictures.archives import selections
from photosvc.pictures.cache.folder import PictureCache

#: Each deletes a bounded number of rows and gives how many.
_SWEEPS: Final = (bearer.sweep, buckets.sweep, selections.sweep)


def sweep(engine: Engine, now: datetime, cache: PictureCache) -> int:
    """Delete expired rows, in short transactions, and abandoned files of the cache; gives the number of rows.

    Raises:
        OSError: a file of the cache cannot be deleted.

    """
    total = 0
    for one in _SWEEPS:
        swept = 1
        while swept:
            with write_session(engine) as session:
                swept = one(session, now)
            total += swept
    with suppress(ConflictError):
        cache.evict()
    return total
