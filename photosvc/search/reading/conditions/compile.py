"""Resolved query nodes to SQL conditions on search rows, without a database.

Every value becomes a bind parameter, so queries of the same shape give the same SQL text.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, false, literal, not_, or_, select, true

from photosvc.core.geo import Box
from photosvc.models import Album, AlbumPhoto, File, Marker, SearchRow
from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import And, Everything, Filter, Node, Not, Nothing, Or, conjuncts
from photosvc.query.operands import (
    Cell,
    Choice,
    Circle,
    MarkerNames,
    Near,
    Operand,
    Pattern,
    Phrase,
    PlusCode,
    Since,
    TakenOut,
    Town,
    Uid,
    Value,
    Word,
)
from photosvc.search.reading.conditions import columns, full_text
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import visible_albums

Condition = ColumnElement[bool]


def compile_query(node: Node, context: Context) -> Condition:
    """The condition that selects the search rows which the resolved query `node` matches."""
    return compile_all(conjuncts(node), context)


def compile_all(parts: Sequence[Node], context: Context, *of_texts: Condition) -> Condition:
    """The condition that all parts hold, and these further ones on `SearchText`.

    The words of a photo are read last, and once for all.
    """
    texts = [part for part in parts if full_text.reads_text(part, context)]
    others = [_compile(part, context) for part in parts if part not in texts]
    if texts or of_texts:
        others.append(full_text.of_photo(and_(*(_compile(part, context) for part in texts), *of_texts)))
    return and_(true(), *others)


def _compile(node: Node, context: Context, *, negated: bool = False) -> Condition:
    """The condition of a part of a query: on search rows, and on `SearchText` where `full_text.reads_text` says so.

    Negations are pushed inwards to the single conditions: databases bound the depth of what they parse.
    """
    if context.words_as_sets and full_text.is_words(node):
        return _negated(full_text.by_index(node, context), negated=negated)
    match node:
        case Everything():
            return _negated(true(), negated=negated)
        case Nothing():
            return _negated(false(), negated=negated)
        case Word() | Phrase():
            return _negated(full_text.contains("words", node, context), negated=negated)
        case Filter(name, value):
            return _negated(_filter(FILTERS[name], value, context), negated=negated)
        case Not(part):
            return _compile(part, context, negated=not negated)
        case Or(parts) if full_text.is_mixed(node, context):
            conditions = (
                full_text.found_by_index(part, context) if isinstance(part, Word | Phrase) else _compile(part, context)
                for part in parts
            )
            return _negated(or_(*conditions), negated=negated)
        case And(parts) | Or(parts):
            joined = or_ if isinstance(node, Or) is not negated else and_
            return joined(*(_compile(part, context, negated=negated) for part in parts))


def _negated(condition: Condition, *, negated: bool) -> Condition:
    return not_(condition) if negated else condition


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
            return _in_albums(items, context)
        case "has_album" if not context.sees_private:  # the column counts private albums too
            return _in_public_album(context) if True in items else not_(_in_public_album(context))
        case "subjects":
            return _shows(items, context)
        case "keywords" | "place" as section:
            return or_(
                *(full_text.contains(section, item, context) for item in items if isinstance(item, Word | Phrase))
            )
        case "nothing":
            return false()
    if spec.kind in {Kind.COLOR, Kind.COUNTRY, Kind.ID_OR_WORDS, Kind.PHOTO} or spec.columns == ("photo_type",):
        exact, rest = columns.split_exact(items)
        listed = [columns.one_of(spec.columns[0], exact, context)] if exact else []
        return or_(false(), *listed, *(_item(spec, item, context) for item in rest))
    return or_(false(), *(_item(spec, item, context) for item in items))


def _item(spec: FilterSpec, item: Operand, context: Context) -> Condition:
    match item:
        case Circle() | Cell() | Box() | PlusCode():
            return columns.inside(item, context)
        case Uid(text, column):
            return columns.compare(column, text, context)
        case Word() | Phrase() if spec.kind is Kind.PROSE:
            return full_text.contains(spec.columns[0], item, context)
        case Word() | Phrase() | Near() | Town() | MarkerNames() | TakenOut():
            raise TypeError(spec.name)  # compiled elsewhere, or resolved before
        case _ if spec.columns == ("description",):
            return full_text.described_as(item)
        case _:
            return or_(*(columns.compare(column, item, context) for column in spec.columns))


def _in_albums(operands: Iterable[Operand], context: Context) -> Condition:
    """Whether a photo is in one of the plain albums with these ids, or was taken out of one of these smart albums."""
    ids = [operand for operand in operands if isinstance(operand, int)]
    photos = [members(ids)] if ids else []
    photos += [members([operand.album_id], hidden=True) for operand in operands if isinstance(operand, TakenOut)]
    return or_(false(), *(context.column(SearchRow.photo_id).in_(selected) for selected in photos))


def _in_public_album(context: Context) -> Condition:
    """Whether a photo was put into an album that is not private."""
    photos = select(AlbumPhoto.photo_id).join(Album)
    photos = photos.where(not_(AlbumPhoto.hidden), visible_albums(sees_private=False))
    return context.column(SearchRow.photo_id).in_(photos)


def members(album_ids: list[int], *, hidden: bool = False) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The ids of the photos in these albums; with `hidden`, of those that a person took out of them."""
    of_them = AlbumPhoto.album_id == album_ids[0] if len(album_ids) == 1 else AlbumPhoto.album_id.in_(album_ids)
    return select(AlbumPhoto.photo_id).where(of_them, AlbumPhoto.hidden == literal(hidden))


def _shows(operands: Iterable[Operand], context: Context) -> Condition:
    """Whether a photo shows one of these people."""
    found: list[Condition] = []
    for operand in operands:
        match operand:
            case Word() | Phrase():
                found.append(full_text.contains("people", operand, context))
            case Pattern((name,)):
                found.append(full_text.names_person(name, context))
            case MarkerNames(names):
                photos = select(File.photo_id).join(Marker).where(Marker.name.in_(names), not_(File.missing))
                found.append(context.column(SearchRow.photo_id).in_(photos))
    return or_(false(), *found)
