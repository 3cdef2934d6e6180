"""From a request to its search: its names become ids, and its order that of its album."""

from dataclasses import replace

from sqlalchemy import Connection, select

from photosvc.core.errors import InvalidValueError
from photosvc.models import Album
from photosvc.query.nodes import Node
from photosvc.search.reading.names.resolve import resolve
from photosvc.search.reading.orders import MANUAL
from photosvc.search.reading.paging.window import Search, context_of
from photosvc.search.reading.planning.plan import one_album
from photosvc.search.reading.request import SearchRequest


def prepare(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Search:
    """The search for this request, its names looked up.

    Raises:
        NotFoundError: its album or the photo of `near` does not exist, or may not be seen.
        InvalidValueError: it asks for the order by hand of what is not one album of chosen photos.

    """
    context = context_of(connection, request.node, sees_private=sees_private)
    node = resolve(request.node, request.album, connection, sees_private=sees_private)
    return Search(_ordered(request, node, connection), connection, context, node)


def _ordered(request: SearchRequest, node: Node, connection: Connection) -> SearchRequest:
    """The request, in the order of its album if that is the one by hand and the request names none."""
    by_hand = request.order.base == MANUAL.name
    if request.ordered and not by_hand:
        return request
    _, album = one_album(node)
    if by_hand and album is None:
        msg = "the order manual is that of one album of chosen photos: send its UID in s"
        raise InvalidValueError(msg, field="order")
    if by_hand or album is None:
        return request
    own = connection.scalar(select(Album.order).where(Album.id == album))
    if own != MANUAL.name:
        return request
    return replace(request, order=MANUAL.reversed() if request.order.is_reversed else MANUAL)
