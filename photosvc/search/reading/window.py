"""A window of a search: the files between two places of an order, by their ids.

For its search, a request gets ids in place of names, and the order of its album. The windows of searches without
conditions use statements that are compiled once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from math import sqrt
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, Label, bindparam, func, literal, select, tuple_
from sqlalchemy.engine import Dialect
from sqlalchemy.util import memoized_property

from photosvc.core.errors import InvalidValueError
from photosvc.models import Album, AlbumPhoto, FileKey, SearchAlbum, SearchDocument, SearchRow
from photosvc.models.statements import Column, Prepared, prepare_statement, read_tuples, unindexed
from photosvc.query.nodes import Everything, Node, conjuncts
from photosvc.search.reading import words
from photosvc.search.reading.candidates import Tier
from photosvc.search.reading.columns import Context
from photosvc.search.reading.compile import compile_all, context_of, visible
from photosvc.search.reading.plan import Driver, Plan, Reading, Walk, make_plan, one_album, plan_all
from photosvc.search.reading.request import MANUAL, PRIME, UNINDEXED_ORDERS, Cursor, Order, SearchRequest, order_named
from photosvc.search.reading.resolve import resolve

#: A file in a window: its id and its sort keys.
KeyedFile = Sequence[Any]
#: Up to this many rows of the order `random` are skipped by sorting them.
_FAR: Final = 20_000
#: Rows that are read at once.
_CHUNK: Final = 1000
#: The condition of the first files of photos. SQLite must not choose an index for it: for an order without an index, it
#: would choose a long one of another order, and look up every row through it.
_FIRST: Final = unindexed(SearchRow.is_first)


def plain_query(
    order: Order, *, sees_private: bool, by_cursor: bool, with_results: bool, one_each: bool = False
) -> Any:  # noqa: ANN401
    """Return the SELECT of a search without conditions: `file_id`, the order's keys and, if wanted, result heads.

    It takes `count`, `offset` and, by cursor, `key0`, `key1`… of the last row. For `one_each` see `Search`.
    """
    keys = order.columns(0)
    query: Any = select(SearchRow.file_id, *keys).where(visible(sees_private=sees_private))
    if with_results:
        query = query.add_columns(SearchDocument.result_head).join(
            SearchDocument, SearchDocument.file_id == SearchRow.file_id
        )
    if by_cursor:
        last = tuple_(*(bindparam(f"key{n}", type_=key.type) for n, key in enumerate(keys)))
        query = query.where(tuple_(*keys) < last if order.falling else tuple_(*keys) > last)
    if one_each:
        query = query.where(_FIRST)
    query = query.offset(bindparam("offset", type_=SearchRow.newest_key.type))
    return in_order(query, order, keys).limit(bindparam("count", type_=SearchRow.newest_key.type))


@lru_cache(maxsize=128)
def plain_statement(order: str, dialect: Dialect, *, merged: bool, **flags: bool) -> Prepared:
    """Return `plain_query` for the order of this name, and with these flags, compiled for a dialect."""
    return prepare_statement(plain_query(order_named(order, merged=merged), **flags), dialect)


def in_order(query: Any, order: Order, keys: Sequence[Column]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """Sort the query by these keys in the direction of the order."""
    return query.order_by(*(key.desc() if order.falling else key.asc() for key in keys))


def photo_of(file: KeyedFile) -> int:
    """Return the id of the photo that a file belongs to: every order ends in a packed `FileKey`."""
    return FileKey.unpack_photo_id(file[-1])


@dataclass(frozen=True)
class Search:
    """A request with everything that its statements are made from."""

    request: SearchRequest
    connection: Connection
    context: Context
    node: Node
    """The resolved query, inside the request's album."""
    one_each: bool = False
    """True if only the first file of each photo is read; the query must be about photos (see `photos.is_single`)."""

    @memoized_property  # that of Python 3.11 holds a lock of all searches while this one asks the database
    def plan(self) -> Plan:
        """Return the plan that finds its rows."""
        plan = make_plan(self.node, self.reading, self.context, self.connection)
        # A reversed order begins with the last of the tiers, so all of them are looked for.
        return replace(plan, tiers=plan.tiers[::-1]) if self.reading.is_reversed else plan

    def follow(self, plan: Plan) -> None:
        """Read the further rows by this plan, which fits the search too."""
        self.__dict__["plan"] = plan

    @property
    def reading(self) -> Reading:
        """Return the way in which its rows are read."""
        request = self.request
        order = request.order
        return Reading(order.base, request.count + request.start, request.ranked, is_reversed=order.is_reversed)

    @property
    def is_plain(self) -> bool:
        """Return whether the search has no conditions and its order has an index; its statements are then prepared."""
        return isinstance(self.node, Everything) and self.request.order.base not in UNINDEXED_ORDERS

    def window(self, offset: int, count: int) -> Iterator[KeyedFile]:
        """Yield at most `count` files from `offset` on; with a cursor in the request, `offset` counts from there.

        Files are read as they are consumed, because a window may have 100,000.
        """
        return chain.from_iterable(self.parts_of_window(offset, count))

    def parts_of_window(self, offset: int, count: int) -> Iterator[Sequence[KeyedFile]]:
        """Yield the files of `window` in chunks, as they are read."""
        if self.request.order.base == "random" and self.request.cursor is None and offset > _FAR:
            place = self.shuffled_near(offset, self.total(), self._rows_before)
            if place is not None:
                near = replace(self, request=replace(self.request, cursor=place, offset=0))
                return near.parts_of_window(offset - place.position, count)
        if self.is_plain:
            prepared, values = self._plain(offset, count)
            return prepared.chunks(self.connection, values, _CHUNK)
        if self.plan.tiers:
            files = islice(self._by_tiers(offset + count), offset, None)
            return iter(lambda: tuple(islice(files, _CHUNK)), ())
        query = self.window_query(offset, count)
        if (walk := self.plan.walk) and (end := self._end_of(walk)):
            rows = self.connection.execute(self._within(query, end)).all()
            if len(rows) == count:
                return iter((rows,))
            self.follow(walk.beyond)
            query = self.window_query(offset, count)
        return read_tuples(self.connection, query, _CHUNK)  # no order has a key of a type that is converted

    def window_query(self, offset: int, count: int) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """Return the SELECT of `window` for a search that is not plain."""
        if self.plan.tiers:
            return self._tier_query(self.plan.tiers[0], offset + count)
        keys = self._keys()
        query = self.matching(SearchRow.file_id, *keys)
        cursor = self.request.cursor
        query = query.where(*self._behind(keys))
        if cursor and self.plan.driver is Driver.WALK_POSITIONS:  # the index has positions, and no keys of files
            last = literal(cursor.values[0], BigInteger)
            falling = self.request.order.falling
            query = query.where(AlbumPhoto.position <= last if falling else AlbumPhoto.position >= last)
        if offset:
            query = query.offset(offset)
        return self._sorted(query, keys).limit(count)

    def _behind(self, keys: list[Column]) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions on the keys that the cursor and the span of the plan demand, if there are any.

        A cursor lies within the span, and the database would begin its walk at either.
        """
        cursor, falling, (low, high) = self.request.cursor, self.request.order.falling, self.plan.span
        if cursor:
            here, there = tuple_(*map(self._compared, keys)), tuple_(*cursor.values)
            yield here < there if falling else here > there
        if low is not None and (falling or not cursor):
            yield keys[0] >= low
        if high is not None and not (falling and cursor):
            yield keys[0] <= high

    def first_results(self) -> tuple[Sequence[KeyedFile], list[str]]:
        """Return the first window of a plain search and its result heads, by one statement."""
        prepared, values = self._plain(0, self.request.count, with_results=True)
        rows = prepared.run(self.connection, values)
        return [row[:-1] for row in rows], [row[-1] for row in rows]

    def places_of(self, photo_id: int) -> Sequence[KeyedFile]:
        """Return all matching files of a photo with their sort keys, in order."""
        keys = self._keys()
        query = self.matching(SearchRow.file_id, *keys).where(SearchRow.photo_id == photo_id)
        return self.connection.execute(self._sorted(query, keys)).all()

    def number_before(self, place: KeyedFile) -> int:
        """Count the photos with a file before this place; its own photo counts if another of its files is before."""
        keys = self._keys()
        here, there = tuple_(*map(self._compared, keys)), tuple_(*place[1:])
        is_before = here > there if self.request.order.falling else here < there
        counted = func.count() if self.one_each else func.count(SearchRow.photo_id.distinct())
        return self.connection.scalar(self.matching(counted).where(is_before)) or 0

    def _rows_before(self, key: int) -> int:
        """Count the rows before this key of the order `random`."""
        shuffled, _ = self._keys()
        is_before = shuffled >= key if self.request.order.falling else shuffled < key
        return self.connection.scalar(self.matching(func.count()).where(is_before)) or 0

    def shuffled_near(self, position: int, total: int, number_before: Callable[[int], int]) -> Cursor | None:
        """Return a cursor of the order `random` shortly before a position; None if none is found.

        No index has this order, so skipping half a million rows would sort them all. Its sort keys are spread evenly:
        the key at a position can be estimated, and the rows before that key can be counted.

        Args:
            position: the position, counted in rows or in photos.
            total: the number of all rows or photos.
            number_before: counts the rows or photos before a key, or up to it.
        """
        order = self.request.order
        # Four times the standard deviation of the number of keys before a key is nearly always enough.
        for margin in (2 * sqrt(total), 16 * sqrt(total)):
            share = min(max(position - margin, 0) / max(total, 1), 1)
            key = round(PRIME * (share if order.is_reversed else 1 - share))
            passed = number_before(key)
            if passed <= position:
                return Cursor(order.name, self.request.seed, passed, (key, 0))
        return None

    def total(self) -> int:
        """Count the files that match."""
        plan = plan_all(self.node, self.context, self.connection)
        return self.connection.scalar(matching(plan, func.count())) or 0

    def cursor_behind(self, file: KeyedFile, position: int) -> Cursor:
        """Return the cursor of the page that begins after this file."""
        return Cursor(self.request.order.name, self.request.seed, position, tuple(file[1:]))

    def matching(self, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """Return the query for these columns of all files that match, in no order."""
        query = matching(self.plan, *columns)
        if self.request.newest_file is not None:
            query = query.where(unindexed(SearchRow.file_id) <= self.request.newest_file)
        return query.where(_FIRST) if self.one_each else query

    def _end_of(self, walk: Walk) -> Sequence[Any] | None:
        """Return the sort keys of the row at which the walk ends; None if there are fewer rows."""
        keys = self._keys()
        query = select(*keys).where(*walk.along, *self._behind(keys))
        return self.connection.execute(in_order(query, self.request.order, keys).offset(walk.rows).limit(1)).first()

    def _within(self, query: Any, end: Sequence[Any]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """Limit the query to the rows up to these keys."""
        here, there = tuple_(*self._keys()), tuple_(*end)
        return query.where(here >= there if self.request.order.falling else here <= there)

    def _by_tiers(self, count: int) -> Iterator[KeyedFile]:
        """Yield the first files of the tiers of the plan, or the first after the cursor."""
        cursor, left, falling = self.request.cursor, count, self.request.order.falling
        for tier in self.plan.tiers:
            if cursor and (tier.photos is not None) == falling == (cursor.values[0] == 0):  # all of it is before
                continue
            if tier.photos is None:
                for file_id, *keys in self._without_rank(tier.node, left).window(0, left):
                    yield file_id, 0, *keys
                    left -= 1
            else:
                for rows in self.connection.execute(self._tier_query(tier, left)).partitions(_CHUNK):
                    yield from rows
                    left -= len(rows)
            if left <= 0:  # before the next tier is looked for
                break

    def _without_rank(self, node: Node, count: int) -> "Search":
        """Return the search for files that match a node and have no rank, after the cursor if that has none either."""
        cursor = self.request.cursor
        if cursor:
            is_within = cursor.values[0] == 0
            cursor = replace(cursor, values=cursor.values[1:]) if is_within else None
        request = replace(self.request, node=Everything(), cursor=cursor, offset=0, count=count)
        return replace(self, request=request, node=node)

    def _tier_query(self, tier: Tier, count: int) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        if tier.photos is None:
            return self._without_rank(tier.node, count).window_query(0, count)
        request, context = self.request, self.context
        rank = words.rank(request.ranked, context).label("rank")
        keys: list[Any] = [rank, *map(unindexed, request.order.columns(request.seed))]
        query = select(SearchRow.file_id, *keys).where(
            visible(sees_private=context.sees_private),
            SearchRow.photo_id.in_(tier.photos),
            compile_all(conjuncts(tier.node), context),
        )
        behind = request.cursor.values if request.cursor else None
        if self.one_each:
            query = query.where(_FIRST)
        if behind:
            here, there = tuple_(*keys), tuple_(*behind)
            query = query.where(here < there if request.order.falling else here > there)
        return in_order(query, request.order, keys).limit(count)

    def _plain(self, offset: int, count: int, *, with_results: bool = False) -> tuple[Prepared, dict[str, Any]]:
        """Return the statement of a plain search, and its values."""
        request = self.request
        prepared = plain_statement(
            request.order.name,
            self.connection.dialect,
            merged=request.merged,
            sees_private=self.context.sees_private,
            by_cursor=request.cursor is not None,
            with_results=with_results,
            one_each=self.one_each,
        )
        return prepared, self.plain_values(offset, count)

    def plain_values(self, offset: int, count: int) -> dict[str, Any]:
        """Return the values that `plain_query` takes."""
        last = self.request.cursor.values if self.request.cursor else ()
        return {"count": count, "offset": offset, **{f"key{number}": value for number, value in enumerate(last)}}

    def _keys(self) -> list[Column]:
        request = self.request
        keys: list[Column] = list(request.order.columns(request.seed))
        if self.plan.album is not None:
            return [getattr(SearchAlbum, str(key.key)) for key in keys]
        if self.plan.arranged is not None and self.plan.sorts:
            of_album = AlbumPhoto.album_id == self.plan.arranged, AlbumPhoto.photo_id == SearchRow.photo_id
            return [select(AlbumPhoto.position).where(*of_album).scalar_subquery().label("position"), keys[-1]]
        return [words.rank(request.ranked, self.context).label("rank"), *keys] if request.ranked else keys

    def _compared(self, key: Column) -> Column:
        # Where candidates are sorted, SQLite must not walk the index of the order instead.
        return unindexed(key) if self.plan.sorts and not isinstance(key, Label) else key

    def _sorted(self, query: Any, keys: list[Column]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        return in_order(query, self.request.order, [self._compared(key) for key in keys])


def matching(plan: Plan, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """Return the query for these columns of all rows that a plan finds, in no order."""
    query = select(*columns).where(*plan.conditions)
    if plan.driver is Driver.WALK_POSITIONS:
        inside = query.select_from(AlbumPhoto).join(SearchRow, SearchRow.photo_id == AlbumPhoto.photo_id)
        return inside.where(AlbumPhoto.album_id == plan.arranged)
    if plan.album is None:
        return query.select_from(SearchRow)
    inside = query.select_from(SearchAlbum).join(SearchRow, SearchRow.file_id == SearchAlbum.file_id)
    return inside.where(SearchAlbum.album_id == plan.album)


def prepare(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Search:
    """Return the search for this request, its names looked up.

    Raises:
        InvalidValueError: it asks for the order by hand of what is not one album of chosen photos.
    """
    context = context_of(connection, request.node, sees_private=sees_private)
    node = resolve(request.node, request.album, connection, sees_private=sees_private, today=request.today)
    return Search(_ordered(request, node, connection), connection, context, node)


def _ordered(request: SearchRequest, node: Node, connection: Connection) -> SearchRequest:
    """Return the request, in its album's order by hand if there is one and the request names no order."""
    by_hand = request.order.base == MANUAL.name
    if request.ordered and not by_hand:
        return request
    in_album = one_album(node)
    if by_hand and in_album is None:
        msg = "the order manual is that of one album of chosen photos: send its UID in s"
        raise InvalidValueError(msg, field="order")
    if by_hand or in_album is None:
        return request
    own = connection.scalar(select(Album.order).where(Album.id == in_album[1]))
    if own != MANUAL.name:
        return request
    return replace(request, order=MANUAL.reversed() if request.order.is_reversed else MANUAL)
