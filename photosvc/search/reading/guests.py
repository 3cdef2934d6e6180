"""The photos that visitors of a public link and guests see: photos of their albums, not private, archived or hidden.

Every answer to them is made from a request or from files that passed through this module. They may filter by kind,
shape and date only. By other filters and words they would learn names of places, people and other albums.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from sqlalchemy import Connection

from photosvc.auth.principal import Principal, Shared
from photosvc.core.errors import InvalidValueError, NeverPermittedError, NotFoundError
from photosvc.models import SearchRow
from photosvc.models.statements import in_portions
from photosvc.query.nodes import Choice, Everything, Filter, Node, Nothing, Uid, conjunction, leaves
from photosvc.search.reading.files import SeenFile, files_with_hash
from photosvc.search.reading.plan import plan_all
from photosvc.search.reading.request import MANUAL, SearchRequest, order_named, parse_request
from photosvc.search.reading.resolve import MOST_SMART_ALBUMS
from photosvc.search.reading.window import matching, prepare

#: The filters of visitors.
FILTERS: Final = frozenset(
    {
        "type", "animated", "audio", "document", "image", "live", "raw", "vector", "video", "photo", "media", "primary",
        "public", "portrait", "landscape", "square", "panorama", "color", "year", "month", "day", "weekday", "hour",
        "taken", "before", "after",
    }
)  # fmt: skip
#: The orders of visitors; other orders would tell more about photos than their records do.
ORDERS: Final = frozenset({"newest", "oldest", "random", MANUAL.name})
_USUAL: Final = "oldest"
#: The orders of all albums of a guest together; the order by hand is that of one album.
_OF_ALL: Final = ORDERS - {MANUAL.name}
#: The id of no file.
_NO_FILE: Final = 0


def confine(search_request: SearchRequest, who: Principal, alias_key: bytes) -> SearchRequest:
    """Return the request as this principal may make it; visitors and guests search the albums shared with them.

    A request without an album searches all shared albums, at most `MOST_SMART_ALBUMS` smart albums among them.

    Args:
        alias_key: the key of `auth.link_tokens.alias_key`.

    Raises:
        NeverPermittedError: the query has words or other filters than `FILTERS`.
        InvalidValueError: the order is none of `ORDERS`, or a request for records without metadata has a cursor.
        NotFoundError: the request names another album.
    """
    if who.shared is None:
        return search_request
    if search_request.album and not sees_album(who, search_request.album):
        raise NotFoundError("there is no such album", field="s")
    if not all(map(_is_open, leaves(search_request.node))):
        raise NeverPermittedError("Visitors of a link, and guests, can filter by kind, shape and date only.", field="q")
    if search_request.cursor is not None and not who.shared.metadata:
        # Made-up cursors would find the time in UTC step by step, and so the time zone.
        raise InvalidValueError("cursor: pages without metadata have none; send offset", field="cursor")
    order = search_request.order
    if not search_request.ordered:
        usual = order_named(_USUAL)
        order = usual.reversed() if order.is_reversed else usual
    elif order.base not in ORDERS:
        msg = f"order: visitors of a link, and guests, can sort by {', '.join(sorted(ORDERS))}"
        raise InvalidValueError(msg, field="order")
    confined = replace(search_request, order=order, alias_key=alias_key)
    if search_request.album or who.shared.link_uid:
        return replace(confined, album=search_request.album or who.shared.albums[0])
    if order.base not in _OF_ALL:
        raise InvalidValueError("the order manual is that of one album: send its UID in s", field="order")
    return replace(confined, node=conjunction([search_request.node, _in_any(who.shared.albums)]), ordered=True)


def narrowed(who: Principal, album_uid: str) -> Principal:
    """Return an account as a guest with whom only this album is shared, for a page that shows no more to anyone."""
    return replace(who, shared=Shared("", (album_uid,), downloads=True, metadata=True), sees_private=False)


def sees_album(who: Principal, album_uid: str) -> bool:
    """Return whether the principal is neither visitor nor guest, or this album is shared with it."""
    return who.shared is None or album_uid in who.shared.albums


def seen(connection: Connection, files: Sequence[SeenFile], who: Principal, today: date) -> Sequence[SeenFile]:
    """Return the files that the principal may see today.

    Args:
        files: neither private nor hidden files.
    """
    if who.shared is None:
        return files
    among = shared_ids(connection, [file.file_id for file in files], who.shared, today)
    return [file for file in files if file.file_id in among]


def seen_with_hash(connection: Connection, content_hash: str, who: Principal, today: date) -> SeenFile | None:
    """Return the file with this SHA-1; None if there is none, or the principal may not see it.

    For visitors and guests, both cases take the same time. Otherwise the time would tell whether the library has a
    file that they have.
    """
    files = files_with_hash(connection, content_hash, sees_private=who.sees_private)
    if who.shared is None:
        return files[0] if files else None
    among = shared_ids(connection, [file.file_id for file in files] or [_NO_FILE], who.shared, today)
    return next((file for file in files if file.file_id in among), None)


def shared_ids(connection: Connection, file_ids: Sequence[int], shared: Shared, today: date) -> frozenset[int]:
    """Return the ids of the files that are on this day in a shared album, unless the album is gone or private."""
    shared_files: set[int] = set()
    for albums in in_portions(shared.albums, MOST_SMART_ALBUMS):
        shared_files |= _ids_in(connection, file_ids, albums, today)
    return frozenset(shared_files)


def _ids_in(connection: Connection, file_ids: Sequence[int], albums: Sequence[str], today: date) -> set[int]:
    request = replace(parse_request({"order": _USUAL}, today), node=_in_any(albums))
    try:
        search = prepare(connection, request, sees_private=False)
    except InvalidValueError:  # together, the queries of smart albums are too long
        middle = len(albums) // 2
        if not middle:
            return set()
        return _ids_in(connection, file_ids, albums[:middle], today) | _ids_in(
            connection, file_ids, albums[middle:], today
        )
    rows = matching(plan_all(search.node, search.context, connection), SearchRow.file_id)
    matching_files: set[int] = set()
    for portion in in_portions(file_ids):
        matching_files.update(connection.scalars(rows.where(SearchRow.file_id.in_(portion))))
    return matching_files


def _in_any(albums: Sequence[str]) -> Node:
    """Return the query for the photos in any of these albums."""
    return Filter("album", Choice(tuple(Uid(uid, "albums") for uid in albums))) if albums else Nothing()


def _is_open(part: Node) -> bool:
    """Return whether visitors may send this condition; words are none of `FILTERS`."""
    return isinstance(part, Everything) or (isinstance(part, Filter) and part.name in FILTERS)
