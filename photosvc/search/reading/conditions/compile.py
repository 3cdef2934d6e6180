"""Resolved query nodes to SQL conditions on search rows, without a database.

Every value becomes a bind parameter, so queries of the same shape give the same SQL text.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, false, not_, or_, true

from photosvc.core.geo import Box
from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import And, Everything, Filter, Node, Not, Nothing, Or
from photosvc.query.operands import (
    Cell,
    Choice,
    Circle,
    MarkerNames,
    Near,
    Operand,
    Phrase,
    PlusCode,
    Since,
    TakenOut,
    Uid,
    Value,
    Word,
)
from photosvc.search.reading.conditions import albums, columns, full_text, positions
from photosvc.search.reading.conditions.context import Context

Condition = ColumnElement[bool]


def compile_query(node: Node, context: Context) -> Condition:
    """The condition that selects the search rows which the resolved query `node` matches."""
    match node:
        case Everything():
            return true()
        case Nothing():
            return false()
        case Word() | Phrase():
            return full_text.contains("words", [node], context)
        case Filter(name, value):
            return _filter(FILTERS[name], value, context)
        case Not(part):
            return not_(compile_query(part, context))
        case And(parts):
            return compile_all(parts, context)
        case Or(parts):
            return or_(*(compile_query(part, context) for part in parts))


def compile_all(parts: Sequence[Node], context: Context) -> Condition:
    """The condition that all parts hold. All words make one condition, so that the text of a photo is read once."""
    terms = [part for part in parts if isinstance(part, Word | Phrase)]
    others = [compile_query(part, context) for part in parts if not isinstance(part, Word | Phrase)]
    return and_(true(), *others, *([full_text.contains("words", terms, context)] if terms else []))


def _filter(spec: FilterSpec, value: Value, context: Context) -> Condition:
    if isinstance(value, Since):
        return columns.since(spec.columns[0], value, context)
    if isinstance(value, bool):
        means = spec.means or Choice((True,))
        return _choice(spec, means, context) if value else not_(_choice(spec, means, context))
    if isinstance(value, Choice):
        return _choice(spec, value, context)
    return true()  # a lone distance, without a place to measure from


def _choice(spec: FilterSpec, value: Choice, context: Context) -> Condition:
    wanted = _any(spec, value.any_of, context) if value.any_of else true()
    return and_(wanted, not_(_any(spec, value.none_of, context))) if value.none_of else wanted


def _any(spec: FilterSpec, items: tuple[Operand, ...], context: Context) -> Condition:
    """Any of these. Values that must be equal make one list."""
    match spec.columns[0]:
        case "albums":
            return albums.in_albums(items, context)
        case "has_album" if not context.sees_private:  # the column counts private albums too
            return albums.in_public_album(context) if True in items else not_(albums.in_public_album(context))
        case "subjects":
            return albums.shows(items, context)
        case "keywords":
            return or_(
                *(full_text.contains("keywords", [item], context) for item in items if isinstance(item, Word | Phrase))
            )
    if spec.kind in {Kind.COLOR, Kind.COUNTRY, Kind.ID_OR_WORDS} or spec.columns == ("photo_type",):
        exact, rest = columns.split_exact(items)
        listed = [columns.one_of(spec.columns[0], exact, context)] if exact else []
        return or_(false(), *listed, *(_item(spec, item, context) for item in rest))
    return or_(false(), *(_item(spec, item, context) for item in items))


def _item(spec: FilterSpec, item: Operand, context: Context) -> Condition:
    match item:
        case Circle() | Cell() | Box() | PlusCode():
            return positions.inside(item, context)
        case Uid(text, column):
            return columns.compare(column, text, context)
        case Word() | Phrase() | Near() | MarkerNames() | TakenOut():
            raise TypeError(spec.name)  # compiled elsewhere, or resolved before
        case _ if spec.columns == ("description",):
            return full_text.described_as(item)
        case _:
            return or_(*(columns.compare(column, item, context) for column in spec.columns))
