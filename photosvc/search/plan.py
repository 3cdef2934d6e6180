"""How SQLite finds a page: by walking an order until it is full, or from the few photos that can match.

PostgreSQL keeps statistics and plans for itself. SQLite does not know how common a word or colour is, and either way
is a thousand times slower than the other on a million photos; so it is counted first, up to a limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, func, select

from photosvc.models import INDEXED, SearchRow
from photosvc.query.filters import FILTERS
from photosvc.query.items import Choice, Item, Pattern, Phrase, Word
from photosvc.query.nodes import Filter, Node, conjuncts
from photosvc.search import names, texts
from photosvc.search.compile import compile_query
from photosvc.search.context import Context
from photosvc.search.visible import visible
from photosvc.search.words import Term

Condition = ColumnElement[bool]

#: From this many photos on, walking the order finds a page sooner than sorting them does.
FEW = 4000

#: Orders that have an index for every column of `INDEXED`.
_BY_VALUE = frozenset({"newest", "added"})

_AREAS = frozenset({"near", "latlng", "olc"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What a row must fulfil, and whether rows are sorted rather than walked through."""

    conditions: tuple[Condition, ...]
    sorts: bool


def make_plan(node: Node, order: str, context: Context, ranked: tuple[Term, ...] = ()) -> Plan:
    """The conditions for the rows that `node` matches, in the form that finds a page of this order soonest.

    Raises:
        NotFoundError: the photo of `near` does not exist, or may not be seen.

    """
    parts = conjuncts(node)
    outer = visible(sees_private=context.sees_private, node=node)
    if context.on_postgresql or not parts:
        return Plan((outer, *(compile_query(part, context) for part in parts)), sorts=False)
    few = _fewest(parts, order, context, ranked)
    if few is not None:
        conditions = (compile_query(part, context) for part in parts)
        return Plan((SearchRow.photo_id.in_(few), outer, *conditions), sorts=True)
    return Plan((outer, *(compile_query(part, _by_value(part, order, context)) for part in parts)), sorts=False)


def _by_value(part: Node, order: str, context: Context) -> Context:
    """The context in which the part's own index is used, where that index has this order."""
    return replace(context, bare=order in _BY_VALUE and _value_column(part) is not None)


def _fewest(parts: tuple[Node, ...], order: str, context: Context, ranked: tuple[Term, ...]) -> Any:  # noqa: ANN401
    """A select of the photos that the rarest part can match, if they are few; else None."""
    best, fewest = None, FEW + 1
    for candidate in _candidates(parts, order, context):
        count = context.session.scalar(select(func.count()).select_from(candidate.limit(fewest).subquery())) or 0
        if count < fewest:
            best, fewest = candidate, count
    terms = _terms(parts)
    if best is None and ranked and terms:  # no index knows this order: all that match must be ranked
        return texts.matching(terms)
    return best


def _candidates(parts: tuple[Node, ...], order: str, context: Context) -> Iterator[Any]:
    if terms := _terms(parts):
        yield texts.matching(terms)
    bare = replace(context, bare=True)
    for part in parts:
        match part:
            case Filter("album" | "albums", Choice(any_of)) if any_of:
                albums = names.plain_albums(any_of, context)
                if albums is not None:
                    yield names.members(albums)
            case Filter("uid", Choice(any_of)) if any_of:
                yield select(SearchRow.photo_id).where(compile_query(part, bare))
            case Filter(name, Choice(any_of)) if any_of and name in _AREAS:
                yield select(SearchRow.photo_id).where(SearchRow.listed, compile_query(part, bare))
            case Filter(name) if FILTERS[name].columns[:1] and FILTERS[name].columns[0] in INDEXED:
                if order not in _BY_VALUE or _value_column(part) is None:
                    yield select(SearchRow.photo_id).where(SearchRow.listed, compile_query(part, bare))


def _terms(parts: tuple[Node, ...]) -> list[Term]:
    """Terms of which a matching photo has every word."""
    found: list[Term] = []
    for part in parts:
        match part:
            case Word() | Phrase():
                found.append(part)
            case Filter("keywords" | "label" | "subject" | "subjects", Choice((Word() | Phrase() as term,))):
                found.append(term)
    return found


def _value_column(part: Node) -> str | None:
    """The indexed column that a part compares with one value."""
    if not isinstance(part, Filter):
        return None
    spec = FILTERS[part.name]
    value = spec.means if part.value is True else part.value
    column = spec.columns[0] if spec.columns else ""
    if column not in INDEXED or not isinstance(value, Choice) or len(value.any_of) != 1 or value.none_of:
        return None
    return column if _is_value(value.any_of[0]) else None


def _is_value(item: Item) -> bool:
    match item:
        case Pattern((_,)):
            return True
        case _:
            return isinstance(item, int) or (getattr(item, "low", None) is not None and item.low == item.high)  # type: ignore[union-attr]
