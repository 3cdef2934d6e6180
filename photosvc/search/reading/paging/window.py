"""A window: the files between two places of an order, by their ids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Label, func, literal, select, tuple_
from sqlalchemy.util import memoized_property

from photosvc.models import AlbumPhoto, FileKey, SearchAlbum, SearchRow
from photosvc.models.database.unindexed import Column, unindexed
from photosvc.query.nodes import Everything, Node, conjuncts
from photosvc.search.reading.conditions import word_points
from photosvc.search.reading.conditions.columns import select_ids
from photosvc.search.reading.conditions.compile import compile_all
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import asked_open, visible
from photosvc.search.reading.orders import UNINDEXED_ORDERS, Cursor
from photosvc.search.reading.paging.plain_window import in_order, plain_statement
from photosvc.search.reading.planning.plan import Driver, Plan, Walk, make_plan, plan_all
from photosvc.search.reading.planning.ranks import Tier
from photosvc.search.reading.planning.vocabulary import by_indexes_alone
from photosvc.search.reading.request import SearchRequest

#: A file in a window: its id and its sort keys.
Found = Sequence[Any]


def photo_of(found: Found) -> int:
    """The id of the photo a file belongs to: every order ends in a packed `FileKey`."""
    return FileKey.unpack_photo_id(found[-1])


@dataclass(frozen=True)
class Search:
    """A request with everything that its statements are made from."""

    request: SearchRequest
    connection: Connection
    context: Context
    node: Node
    """The resolved query, inside the request's album."""

    @memoized_property  # the one of Python 3.11 holds a lock of all searches meanwhile, and this one asks the database
    def plan(self) -> Plan:
        """How its rows are found."""
        request = self.request
        skipped = 0 if request.cursor else request.offset
        plan = make_plan(
            self.node,
            request.order.base,
            self.context,
            self.connection,
            rows_needed=request.count + skipped,
            ranked=request.ranked,
        )
        # A reversed order begins with the last of the tiers, so all of them are looked for.
        return replace(plan, tiers=tuple(plan.tiers)[::-1]) if request.order.is_reversed else plan

    @property
    def is_plain(self) -> bool:
        """Whether it has no conditions, in an order that has an index: then its statements are prepared ones."""
        return isinstance(self.node, Everything) and self.request.order.base not in UNINDEXED_ORDERS

    def window(self, offset: int, count: int) -> Sequence[Found]:
        """At most `count` files: behind the request's cursor if it has one, else from `offset` on."""
        if self.is_plain:
            return self._run_plain(offset, count)
        if self.plan.tiers:
            skipped = 0 if self.request.cursor else offset
            return self._by_tiers(skipped + count)[skipped:]
        query = self.window_query(offset, count)
        if (walk := self.plan.walk) and (end := self._end_of(walk)):
            found = self.connection.execute(self._within(query, end)).all()
            if len(found) == count:
                return found
            self.__dict__["plan"] = walk.beyond
            query = self.window_query(offset, count)
        if self.plan.few:
            with by_indexes_alone(self.connection):
                return self.connection.execute(query).all()
        return self.connection.execute(query).all()

    def window_query(self, offset: int, count: int) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """The SELECT of `window` for a search that is not plain."""
        if self.plan.tiers:
            return self._tier_query(next(iter(self.plan.tiers)), offset + count)
        keys = self._keys()
        query = self.matching(SearchRow.file_id, *keys)
        cursor = self.request.cursor
        query = query.where(*self._bounds(keys))
        if cursor and self.plan.driver is Driver.WALK_POSITIONS:  # the index has positions, and no keys of files
            last = literal(cursor.values[0], BigInteger)
            falling = self.request.order.falling
            query = query.where(AlbumPhoto.position <= last if falling else AlbumPhoto.position >= last)
        elif offset and not cursor:
            query = query.offset(offset)
        return self._sorted(query, keys).limit(count)

    def _bounds(self, keys: list[Column]) -> Iterator[ColumnElement[bool]]:
        """The conditions on the keys that the cursor and the days of the query demand."""
        cursor, falling = self.request.cursor, self.request.order.falling
        low, high = self.plan.taken
        # Behind a cursor, its bound is the closer one; SQLite walks from one bound only.
        if low is not None and (falling or not cursor):
            yield keys[0] >= low
        if high is not None and not (falling and cursor):
            yield keys[0] <= high
        if cursor:
            here, there = tuple_(*map(self._compared, keys)), tuple_(*cursor.values)
            yield here < there if falling else here > there

    def first_results(self) -> tuple[Sequence[Found], list[str]]:
        """A plain search: the first window and its result heads, in one statement."""
        rows = self._run_plain(0, self.request.count, with_results=True)
        return [row[:-1] for row in rows], [row[-1] for row in rows]

    def files_of(self, photo_id: int) -> list[int]:
        """All matching files of a photo, in order."""
        query = self.matching(SearchRow.file_id).where(SearchRow.photo_id == photo_id)
        return list(self.connection.scalars(self._sorted(query, self._keys())))

    def places_of(self, photo_id: int) -> Sequence[Found]:
        """All matching files of a photo with their sort keys, in order."""
        keys = self._keys()
        query = self.matching(SearchRow.file_id, *keys).where(SearchRow.photo_id == photo_id)
        return self.connection.execute(self._sorted(query, keys)).all()

    def total(self) -> int:
        """How many files match."""
        plan = plan_all(self.node, self.context, self.connection, by_values=True)
        return self.connection.scalar(matching(plan, func.count())) or 0

    def cursor_behind(self, found: Found, position: int) -> Cursor:
        """Where the page behind this file begins."""
        return Cursor(self.request.order.name, self.request.seed, position, tuple(found[1:]))

    def matching(self, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """The query for these columns of all files that match, in no order."""
        return matching(self.plan, *columns)

    def _end_of(self, walk: Walk) -> Sequence[Any] | None:
        """The sort keys of the row at which the walk ends; None when there are fewer rows."""
        keys = self._keys()
        query = select(*keys).where(*walk.along, *self._bounds(keys))
        return self.connection.execute(in_order(query, self.request.order, keys).offset(walk.rows).limit(1)).first()

    def _within(self, query: Any, end: Sequence[Any]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """The query for the rows up to these keys."""
        here, there = tuple_(*self._keys()), tuple_(*end)
        return query.where(here >= there if self.request.order.falling else here <= there)

    def _by_tiers(self, count: int) -> Sequence[Found]:
        """The first files, or those behind the cursor, of the tiers of the plan."""
        cursor, found = self.request.cursor, list[Found]()
        for tier in self.plan.tiers:
            last = int(cursor.values[0]) if cursor else None
            is_before = last is not None and (tier.low > last if self.request.order.falling else tier.high < last)
            if not is_before:
                found += self.connection.execute(self._tier_query(tier, count - len(found)))
            if len(found) >= count:  # before the next tier is looked for
                break
        return found

    def _tier_query(self, tier: Tier, count: int) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        request, context = self.request, self.context
        keys = list(request.order.columns(request.seed))
        behind = request.cursor.values if request.cursor else None
        shown = visible(sees_private=context.sees_private)
        if tier.photos is None:
            has_rank = func.abs(word_points.points(request.ranked, context) - tier.low) < 1
            query = select(SearchRow.file_id, literal(tier.low), *keys)
            query = query.where(shown, compile_all(conjuncts(self.node), context, has_rank))
            behind = behind[1:] if behind and behind[0] == tier.low else None
        else:
            keys = [word_points.rank(request.ranked, context).label("rank"), *map(unindexed, keys)]
            query = select(SearchRow.file_id, *keys).where(
                shown, SearchRow.photo_id.in_(select_ids(tier.photos, context))
            )
        if behind:
            here, there = tuple_(*keys), tuple_(*behind)
            query = query.where(here < there if request.order.falling else here > there)
        return in_order(query, request.order, keys).limit(count)

    def _run_plain(self, offset: int, count: int, *, with_results: bool = False) -> Sequence[Found]:
        request = self.request
        prepared = plain_statement(
            request.order.name,
            self.connection.dialect,
            merged=request.merged,
            sees_private=self.context.sees_private,
            by_cursor=request.cursor is not None,
            with_results=with_results,
        )
        values: dict[str, Any] = {"count": count, "offset": offset}
        if request.cursor:
            values |= {f"key{number}": value for number, value in enumerate(request.cursor.values)}
        return prepared.run(self.connection, values)

    def _keys(self) -> list[Column]:
        request = self.request
        keys: list[Column] = list(request.order.columns(request.seed))
        if self.plan.album is not None:
            return [getattr(SearchAlbum, str(key.key)) for key in keys]
        if self.plan.arranged is not None and self.plan.sorts:
            of_album = AlbumPhoto.album_id == self.plan.arranged, AlbumPhoto.photo_id == SearchRow.photo_id
            return [select(AlbumPhoto.position).where(*of_album).scalar_subquery().label("position"), keys[-1]]
        return [word_points.rank(request.ranked, self.context).label("rank"), *keys] if request.ranked else keys

    def _compared(self, key: Column) -> Column:
        # Where candidates are sorted, SQLite must not walk the index of the order instead.
        return unindexed(key) if self.plan.sorts and not isinstance(key, Label) else key

    def _sorted(self, query: Any, keys: list[Column]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        return in_order(query, self.request.order, [self._compared(key) for key in keys])


def matching(plan: Plan, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The query for these columns of all rows that a plan finds, in no order."""
    query = select(*columns).where(*plan.conditions)
    if plan.driver is Driver.WALK_POSITIONS:
        inside = query.select_from(AlbumPhoto).join(SearchRow, SearchRow.photo_id == AlbumPhoto.photo_id)
        return inside.where(AlbumPhoto.album_id == plan.arranged)
    if plan.album is None:
        return query.select_from(SearchRow)
    inside = query.select_from(SearchAlbum).join(SearchRow, SearchRow.file_id == SearchAlbum.file_id)
    return inside.where(SearchAlbum.album_id == plan.album)


def context_of(connection: Connection, node: Node, *, sees_private: bool) -> Context:
    """The database and the rights of a search for the parsed query `node`."""
    opened = asked_open(node) if sees_private else ()
    return Context(connection.dialect.name == "postgresql", sees_private, opened)
