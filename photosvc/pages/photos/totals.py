"""How many photos a search has, and how many more of low quality: counted once for a state of the library."""

from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from sqlalchemy import Connection, not_

from photosvc.models import SearchRow
from photosvc.query.canonical import canonical_text
from photosvc.query.nodes import Filter, conjunction
from photosvc.search.reading.library import library_state
from photosvc.search.reading.overview.photos import PhotoQuery, find_photos
from photosvc.search.reading.planning.plan import ALL_ROWS

_HIDDEN: Final = Filter("hidden", True)
_MOST_KEPT: Final = 256


class Totals(NamedTuple):
    """Numbers of photos."""

    found: int
    hidden: int
    """Those of low quality, which the search leaves out."""


_kept: OrderedDict[tuple[object, ...], Totals] = OrderedDict()
_lock: Final = Lock()


def totals_of(connection: Connection, query: PhotoQuery) -> Totals:
    """The totals of a query.

    Raises:
        NotFoundError: its album or the photo of `near` does not exist, or may not be seen.

    """
    key = (library_state(connection), canonical_text(query.node), query.album, query.sees_private)
    with _lock:
        if known := _kept.get(key):
            _kept.move_to_end(key)
            return known
    totals = _count(connection, query)
    with _lock:
        _kept[key] = totals
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return totals


def _count(connection: Connection, query: PhotoQuery) -> Totals:
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    found = connection.scalar(photos.select(photos.count)) or 0
    if not query.sees_private:
        return Totals(found, 0)
    further = PhotoQuery(conjunction([query.node, _HIDDEN]), query.album, sees_private=True)
    photos = find_photos(connection, further, rows_needed=ALL_ROWS)
    # No hidden photo is listed: so said, databases read the index of those alone.
    hidden = photos.select(photos.count).where(not_(SearchRow.listed))
    return Totals(found, connection.scalar(hidden) or 0)
