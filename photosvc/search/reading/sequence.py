"""The photos of a search in any order, by their positions.

A position is the number of a photo among all photos of the search. Counting up to one walks past what is skipped, in an
index alone where the order has one; so answers contain the cursor behind their last photo, from which the next ones, or
those at a later position, are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import sqrt
from typing import Any, Final

from sqlalchemy import Connection, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import FileKey, Photo, SearchRow
from photosvc.search.reading.orders import PRIME, Cursor
from photosvc.search.reading.pages import LibraryChangedError
from photosvc.search.reading.photos import PhotoQuery, find_photos, is_single
from photosvc.search.reading.plan import ALL_ROWS
from photosvc.search.reading.request import SearchRequest
from photosvc.search.reading.timeline import Shown, details, to_columns
from photosvc.search.reading.window import Found, Search, photo_of, prepare

#: Files that are read for each wanted photo at first: usually a photo has one or two that match.
_FILES: Final = 2
#: Rows of the order `random` that are skipped by sorting them.
_NEAR: Final = 1000


@dataclass(frozen=True, slots=True)
class Stretch:
    """Successive photos of a search."""

    start: int
    """The position of the first one."""
    columns: dict[str, Any]
    """`ratio`, `color` and `type` of each, as a month of the timeline has them."""
    photos: Sequence[Shown]
    next: Cursor | None
    """The place behind the last one, if there may be more."""


def count_photos(connection: Connection, query: PhotoQuery) -> int:
    """Count the photos of a query.

    Raises:
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.

    """
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    return connection.scalar(photos.select(photos.count)) or 0


def position_of(connection: Connection, request: SearchRequest, uid: str, *, sees_private: bool) -> int:
    """Return the position of the photo with this UID.

    Raises:
        NotFoundError: the search does not find it; or its album or the photo of `near` does not exist, or may not be
            seen.

    """
    search = _prepare(connection, replace(request, cursor=None, offset=0), sees_private=sees_private)
    photo_id = connection.scalar(select(Photo.id).where(Photo.uid == uid))
    places = search.places_of(photo_id) if photo_id is not None else ()
    if not places:
        msg = "the search does not find this photo"
        raise NotFoundError(msg)
    return search.number_before(places[0])


def read_stretch(connection: Connection, request: SearchRequest, start: int, *, sees_private: bool) -> Stretch:
    """Return the photos from the position `start` on, as many as `count` of the request; fewer at the end.

    They are counted from the request's cursor, if it has one, else from the first photo.

    Raises:
        InvalidValueError: the cursor is behind `start`.
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.
        LibraryChangedError: one of them was removed meanwhile.

    """
    passed = request.cursor.position if request.cursor else 0
    if start < passed:
        msg = "from is before the place of the cursor: leave the cursor out"
        raise InvalidValueError(msg, field="from")
    if request.order.base == "random" and start - passed > _NEAR:
        request = _shuffled_near(connection, request, start, sees_private=sees_private)
        passed = request.cursor.position if request.cursor else 0
    skipped, count = start - passed, request.count
    search = _prepare(connection, replace(request, count=skipped + count, offset=0), sees_private=sees_private)
    found = list(search.window(skipped, count)) if search.one_each else _first_files(search, skipped, count)
    following = search.cursor_behind(found[-1], start + count) if len(found) == count else None
    ids = [row[0] for row in found]
    shown = details(connection, ids)
    columns = _columns(connection, ids)
    try:
        return Stretch(start, columns, [shown[one] for one in ids], following)
    except KeyError:
        raise LibraryChangedError from None


def _shuffled_near(connection: Connection, request: SearchRequest, start: int, *, sees_private: bool) -> SearchRequest:
    """Return the request, in the order `random`, with a cursor shortly before this position.

    To skip half of a million photos there, they would all be sorted, as no index has this order. But its sort keys are
    spread evenly, so that the key at a position can be estimated, and the photos before it be counted.
    """
    search = _prepare(connection, replace(request, cursor=None, count=start, offset=0), sees_private=sees_private)
    total = count_photos(connection, PhotoQuery(request.node, request.album, sees_private))
    # Four times the standard deviation of the number of keys before a key is nearly always enough.
    for margin in (2 * sqrt(total), 16 * sqrt(total)):
        share = min(max(start - margin, 0) / max(total, 1), 1)
        key = round(PRIME * (share if request.order.is_reversed else 1 - share))
        position = search.number_before((0, key, 0))
        if position <= start:
            return replace(request, cursor=Cursor(request.order.name, request.seed, position, (key, 0)))
    return request


def _prepare(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Search:
    search = prepare(connection, request, sees_private=sees_private)
    return replace(search, one_each=is_single(search.node, search.context))


def _first_files(search: Search, skipped: int, count: int) -> list[Found]:
    """Return, of the photos after the first `skipped` ones, the first file that matches.

    Rows of photos that are skipped are not kept, because there may be a million. A reversed order has the first file of
    a photo last.
    """
    cursor, is_reversed = search.request.cursor, search.request.order.is_reversed
    before = FileKey.unpack_photo_id(int(cursor.values[-1])) if cursor else None
    files = _FILES * (skipped + count + 1)
    while True:
        found: list[Found] = []
        passed = read = 0
        rows = enumerate(search.window(0, files), 1)
        for photo_id, same in groupby(rows, key=lambda numbered: photo_of(numbered[1])):
            if passed == skipped + count:  # the files of the last photo are complete, as those of another one follow
                return found
            of_photo = list(same)
            read = of_photo[-1][0]
            if photo_id == before:
                continue
            passed += 1
            if passed > skipped:
                found.append(of_photo[-1 if is_reversed else 0][1])
        if read < files:
            return found
        files *= _FILES


def _columns(connection: Connection, ids: Sequence[int]) -> dict[str, Any]:
    columns = SearchRow.file_id, SearchRow.aspect_ratio, SearchRow.color, SearchRow.photo_type
    found = {row[0]: row for row in connection.execute(select(*columns).where(SearchRow.file_id.in_(ids)))}
    rows = [(one, 0, *found[one][1:]) for one in ids if one in found]
    return {name: value for name, value in to_columns(rows).items() if name != "days"}
