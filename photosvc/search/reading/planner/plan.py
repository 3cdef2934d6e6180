"""How a page is found: by walking an order until it is full, or from the few photos that can match.

PostgreSQL keeps statistics and plans for itself. On SQLite either way is a thousand times slower than the other on a
million photos; so it is chosen here.
"""

from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement

from photosvc.models import SORT_KEYS, SearchRow
from photosvc.query.nodes import Filter, Node, conjuncts
from photosvc.query.operands import Choice
from photosvc.search.reading.conditions import names
from photosvc.search.reading.conditions.compile import compile_all, compile_query
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.reading.planner.candidates import BY_VALUE, by_words, fewest, value_column
from photosvc.search.word_text import Term

Condition = ColumnElement[bool]

#: Orders that albums have an index for.
_BY_ALBUM = frozenset(name for name, keys in SORT_KEYS.items() if keys.by_album)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a row must fulfil, and whether rows are sorted rather than walked through."""

    conditions: tuple[Condition, ...]
    sorts: bool = False
    album: int | None = None
    """The album whose files are walked through in place of all files; no condition says so again."""


def make_plan(node: Node, order: str, context: Context, *, reach: int = 100, ranked: tuple[Term, ...] = ()) -> Plan:
    """The conditions for the rows that `node` matches, in the form that finds a page of this order soonest.

    Args:
        node: the query.
        order: the name of the order.
        context: who searches, and where.
        reach: how many rows are wanted, those that are skipped included.
        ranked: the terms that the order ranks by.

    Raises:
        NotFoundError: the photo of `near` does not exist, or may not be seen.

    """
    parts = conjuncts(node)
    outer = visible(sees_private=context.sees_private, node=node)
    of_album, album = _one_album(parts, context) if order in _BY_ALBUM else (None, None)
    others = tuple(part for part in parts if part is not of_album)
    if others and not context.on_postgresql:
        few = fewest(others, order, context, reach)
        if few is None and ranked:  # no index knows this order: all that match must be ranked
            few = by_words(parts, context)
        if few is not None:
            rest = compile_all([part for part in parts if part not in few.exact], context)
            return Plan((SearchRow.photo_id.in_(few.photos), outer, rest), sorts=True)
    if album is not None:
        return Plan((outer, compile_all(others, context)), album=album)
    if context.on_postgresql or order not in BY_VALUE:
        return Plan((outer, compile_all(parts, context)))
    valued = [part for part in parts if value_column(part)]
    by_value = [compile_query(part, replace(context, bare=True)) for part in valued]
    return Plan((outer, *by_value, compile_all([part for part in parts if part not in valued], context)))


def _one_album(parts: tuple[Node, ...], context: Context) -> tuple[Node, int] | tuple[None, None]:
    """A part that asks for one plain album, and the id of that."""
    for part in parts:
        match part:
            case Filter("album" | "albums", Choice(any_of, ())) if any_of:
                albums = names.plain_albums(any_of, context)
                if albums is not None and len(albums) == 1:
                    return part, albums[0]
    return None, None
