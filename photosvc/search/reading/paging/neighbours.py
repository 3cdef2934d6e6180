"""The photos before and behind one photo in the order of a search, at any position: no page has to be counted."""

from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, select

from photosvc.models import SearchRow
from photosvc.search.reading.orders import Cursor
from photosvc.search.reading.paging.prepare import prepare
from photosvc.search.reading.paging.window import Found, Search, photo_of
from photosvc.search.reading.request import SearchRequest


class Neighbours(NamedTuple):
    """The UIDs of the photos beside one; None at an end of the search."""

    before: str | None
    behind: str | None


def neighbours(
    connection: Connection, request: SearchRequest, photo_id: int, *, sees_private: bool
) -> Neighbours | None:
    """The photos beside this one in a merged search, without regard to its page; None if it does not find the photo.

    Raises:
        NotFoundError: its album or the photo of `near` does not exist, or may not be seen.

    """
    request = replace(request, offset=0, cursor=None, count=1)
    search = prepare(connection, request, sees_private=sees_private)
    own = search.places_of(photo_id)
    if not own:
        return None
    turned = prepare(connection, replace(request, order=search.request.order.reversed()), sees_private=sees_private)
    before, behind = _behind(turned, own[0]), _behind(search, own[-1])
    uids = _uids(connection, [one for one in (before, behind) if one is not None])
    return Neighbours(uids.get(before), uids.get(behind))


def _behind(search: Search, place: Found) -> int | None:
    """The photo of the next file in the order of a search."""
    order = search.request.order
    cursor = Cursor(order.name, search.request.seed, 0, tuple(place[1:]))
    found = replace(search, request=replace(search.request, cursor=cursor, ordered=True)).window(0, 1)
    return photo_of(found[0]) if found else None


def _uids(connection: Connection, photo_ids: list[int]) -> dict[int | None, str]:
    query = select(SearchRow.photo_id, SearchRow.photo_uid).where(SearchRow.photo_id.in_(photo_ids)).distinct()
    return {row.photo_id: row.photo_uid for row in connection.execute(query)}
