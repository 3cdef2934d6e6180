"""A window: the files that lie between two places of an order, by their ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Label, func, select, tuple_

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.models import FileKey, SearchAlbum, SearchRow
from photosvc.query.nodes import Everything, Filter, Node, conjunction
from photosvc.query.operands import Choice, Uid
from photosvc.search.reading.conditions import full_text, names
from photosvc.search.reading.conditions.context import Column, Context, unindexed
from photosvc.search.reading.cursor import Cursor
from photosvc.search.reading.plain_window import plain_window
from photosvc.search.reading.planner.plan import Plan, make_plan
from photosvc.search.reading.request import SearchRequest

#: A file in a window: its id and its place in the order.
Found = Sequence[Any]


def photo_of(found: Found) -> int:
    """The id of the photo a file belongs to: every order ends in a packed `FileKey`."""
    return FileKey.unpack_photo_id(found[-1])


@dataclass(frozen=True)
class Search:
    """A request made ready to be run."""

    request: SearchRequest
    context: Context
    node: Node
    """What the request asks for, its album included."""

    @cached_property
    def plan(self) -> Plan:
        """How its rows are found."""
        request = self.request
        reach = request.count + (0 if request.cursor else request.offset)
        return make_plan(self.node, request.order.name, self.context, reach=reach, ranked=request.ranked)

    def window(self, offset: int, count: int) -> Sequence[Found]:
        """At most `count` files: behind the request's cursor if it has one, else from `offset` on."""
        if self.is_plain:
            return self._plain_window(offset, count)
        keys = self._keys()
        query = self.matching(SearchRow.file_id, *keys)
        cursor = self.request.cursor
        if cursor:
            here, there = tuple_(*map(self._compared, keys)), tuple_(*cursor.values)
            query = query.where(here < there if self.request.order.falling else here > there)
        elif offset:
            query = query.offset(offset)
        return self.context.connection.execute(self._sorted(query, keys).limit(count)).all()

    @property
    def is_plain(self) -> bool:
        """Whether all files are wanted, in an order that has an index."""
        return isinstance(self.node, Everything) and self.request.order.name != "random"

    def first_results(self) -> tuple[Sequence[Found], list[str]]:
        """A plain search: the window at the start or behind the cursor, and the stored results, in one statement."""
        rows = self._plain_window(0, self.request.count, with_results=True)
        return [row[:-1] for row in rows], [row[-1] for row in rows]

    def _plain_window(self, offset: int, count: int, *, with_results: bool = False) -> Sequence[Found]:
        request, connection = self.request, self.context.connection
        prepared = plain_window(
            request.order.name,
            connection.dialect,
            merged=request.merged,
            sees_private=self.context.sees_private,
            by_cursor=request.cursor is not None,
            with_results=with_results,
        )
        values: dict[str, Any] = {"count": count, "offset": offset}
        if request.cursor:
            values |= {f"key{number}": value for number, value in enumerate(request.cursor.values)}
        return prepared.run(connection, values)

    def files_of(self, photo_id: int) -> list[int]:
        """All matching files of a photo, in order."""
        query = self.matching(SearchRow.file_id).where(SearchRow.photo_id == photo_id)
        return list(self.context.connection.scalars(self._sorted(query, self._keys())))

    def total(self) -> int:
        """How many files match."""
        return self.context.connection.scalar(self.matching(func.count(SearchRow.file_id))) or 0

    def cursor_behind(self, found: Found, position: int) -> Cursor:
        """Where the page behind this file begins."""
        return Cursor(self.request.order.name, self.request.seed, position, tuple(found[1:]))

    def matching(self, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """The query for these columns of all files that match, in no order."""
        query = select(*columns).where(*self.plan.conditions)
        if self.plan.album is None:
            return query.select_from(SearchRow)
        inside = query.select_from(SearchAlbum).join(SearchRow, SearchRow.file_id == SearchAlbum.file_id)
        return inside.where(SearchAlbum.album_id == self.plan.album)

    def _keys(self) -> list[Column]:
        request = self.request
        keys: list[Column] = list(request.order.columns(request.seed))
        if self.plan.album is not None:
            return [getattr(SearchAlbum, str(key.key)) for key in keys]
        return [full_text.rank(request.ranked, self.context).label("rank"), *keys] if request.ranked else keys

    def _compared(self, key: Column) -> Column:
        # Where rows are sorted, no index of an order may lead away from the few that are known.
        return unindexed(key) if self.plan.sorts and not isinstance(key, Label) else key

    def _sorted(self, query: Any, keys: list[Column]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        compared = map(self._compared, keys)
        return query.order_by(*(key.desc() if self.request.order.falling else key.asc() for key in compared))


def prepare(context: Context, request: SearchRequest) -> Search:
    """The request made ready to be run.

    Raises:
        NotFoundError: its album does not exist, or may not be seen.

    """
    return Search(request, context, whole_node(context, request.node, request.album))


def whole_node(context: Context, node: Node, album: str) -> Node:
    """The query inside the album with this UID; without one the query itself.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.

    """
    if not album:
        return node
    # Only what looks like a UID is looked up: PostgreSQL refuses some texts.
    known = is_uid(album, ALBUM) and names.is_album(context, album)
    if not known:
        msg = "there is no such album"
        raise NotFoundError(msg, field="s")
    return conjunction([node, Filter("album", Choice((Uid(album, "albums"),)))])
