"""The compiler of resolved query nodes to SQL conditions on search rows, and the condition for visible rows.

It asks the database nothing. Every value becomes a bind parameter, so queries of the same shape give the same SQL text.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, false, literal, not_, or_, select, true

from photosvc.core.geo import Box
from photosvc.models import Album, AlbumPhoto, File, Marker, SearchRow, SearchText
from photosvc.models.statements import unindexed
from photosvc.query.filters import FILTERS, FilterSpec, ValueKind
from photosvc.query.nodes import (
    UNNAMED,
    And,
    Choice,
    Circle,
    Everything,
    Filter,
    MarkerNames,
    Near,
    Node,
    Not,
    Nothing,
    Operand,
    Or,
    Pattern,
    Phrase,
    PlusCode,
    S2Cell,
    Since,
    TakenOut,
    Town,
    Uid,
    Value,
    Word,
    conjuncts,
)
from photosvc.search.reading import columns, words
from photosvc.search.reading.columns import Condition, Context

#: Switches that show rows which are otherwise left out, to searches with the right to private photos.
_OPENED = {
    "error": SearchRow.has_error,
    "hidden": SearchRow.hidden,
    "archived": and_(SearchRow.archived, not_(SearchRow.has_error)),
}


@cache  # making these conditions takes longer than some searches; there are sixteen at most
def visible(*, sees_private: bool, opened: tuple[str, ...] = (), by_index: bool = True) -> ColumnElement[bool]:
    """Return the condition for the rows that a search may find; every search combines its query with it by AND.

    Args:
        sees_private: whether private photos are shown. Without this right `opened` shows no further rows.
        opened: the switches, of those that `opened_switches` gives, whose rows are shown too.
        by_index: whether SQLite may read the rows by one of the indexes that contain only listed rows.
    """
    listed = and_(SearchRow.listed if by_index else unindexed(SearchRow.listed))
    if not sees_private:
        return and_(listed, not_(unindexed(SearchRow.private)))
    if not opened:
        return listed
    return or_(listed, and_(SearchRow.present, or_(*(_OPENED[name] for name in opened))))


@cache
def visible_in_any_state(*, sees_private: bool) -> ColumnElement[bool]:
    """Return the condition for all rows that the caller may see, also those of hidden, archived and broken photos."""
    return visible(sees_private=sees_private, opened=tuple(_OPENED))


def visible_ids(*, sees_private: bool) -> "Select[int]":
    """Return the query for the ids of all photos that the caller may see, also hidden, archived and broken ones."""
    return select(SearchRow.photo_id).where(visible_in_any_state(sees_private=sees_private))


@cache
def visible_photos(*, sees_private: bool) -> ColumnElement[bool]:
    """Return the condition for one row of each photo that a search without filters finds, to count photos."""
    return and_(SearchRow.is_first, visible(sees_private=sees_private, by_index=False))


@cache
def visible_albums(*, sees_private: bool) -> ColumnElement[bool]:
    """Return the condition for albums that a search may use and name."""
    return and_(Album.deleted_at.is_(None), *([] if sees_private else [not_(Album.private)]))


def opened_switches(node: Node) -> tuple[str, ...]:
    """Return the switches by which a parsed query asks for rows that are otherwise left out."""
    return tuple(sorted({name for name in _true_filters(node, wanted=True) if name in _OPENED}))


def _true_filters(node: Node, *, wanted: bool) -> Iterator[str]:
    """Yield the names of filters that must be true for the query to match; a negation reverses `wanted`."""
    match node:
        case Filter(name, True) if wanted:
            yield name
        case Not(part):
            yield from _true_filters(part, wanted=not wanted)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _true_filters(part, wanted=wanted)


def context_of(connection: Connection, node: Node, *, sees_private: bool) -> Context:
    """Return the database and the rights of a search for the parsed query `node`."""
    opened = opened_switches(node) if sees_private else ()
    return Context(connection.dialect.name == "postgresql", sees_private, opened)


def compile_query(node: Node, context: Context) -> Condition:
    """Return the condition that selects the search rows which the resolved query `node` matches."""
    return compile_all(conjuncts(node), context)


def compile_all(parts: Sequence[Node], context: Context, *of_texts: Condition) -> Condition:
    """Return the condition that all parts hold, and further conditions on `SearchText`.

    The words of a photo are read last, and once for all conditions.
    """
    texts = [part for part in parts if words.reads_text(part, context)]
    others = [_compile(part, context) for part in parts if part not in texts]
    if texts or of_texts:
        others.append(words.of_photo(and_(*(_compile(part, context) for part in texts), *of_texts)))
    return and_(true(), *others)


def _compile(node: Node, context: Context, *, negated: bool = False) -> Condition:
    """Return the condition of a part of a query: on `SearchText` if `words.reads_text`, else on search rows.

    Push negations inwards to the single conditions, because databases bound the depth of what they parse.
    """
    if context.words_as_sets and words.is_words(node):
        return _negated(words.by_index(node, context), negated=negated)
    match node:
        case Everything():
            return _negated(true(), negated=negated)
        case Nothing():
            return _negated(false(), negated=negated)
        case Word() | Phrase():
            return _negated(words.contains("words", node, context), negated=negated)
        case Filter(name, value):
            return _negated(_filter(FILTERS[name], value, context), negated=negated)
        case Not(part):
            return _compile(part, context, negated=not negated)
        case Or(parts) if words.is_mixed(node, context):
            conditions = (
                words.found_by_index(part, context) if isinstance(part, Word | Phrase) else _compile(part, context)
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
    """Return the condition that any of these operands holds; operands that must be equal become one list."""
    match spec.columns[0]:
        case "albums":
            return _in_albums(items, context)
        case "has_album" if not context.sees_private:  # the column counts private albums too
            return _in_public_album(context) if True in items else not_(_in_public_album(context))
        case "subjects":
            return _shows(items, context)
        case "keywords" | "labels" | "place" as column:
            terms = [item for item in items if isinstance(item, Word | Phrase)]
            return or_(*(words.contains(part, term, context) for part in words.SECTIONS[column] for term in terms))
        case "nothing":
            return false()
        case "faces" if UNNAMED in items:
            counted = tuple(item for item in items if item != UNNAMED)
            return or_(_shows_strangers(context), *(_item(spec, item, context) for item in counted))
    if spec.kind in {ValueKind.COLOR, ValueKind.COUNTRY, ValueKind.ID_OR_WORDS, ValueKind.PHOTO} or spec.columns == (
        "photo_type",
    ):
        exact, rest = columns.split_exact(items)
        listed = [columns.one_of(spec.columns[0], exact, context)] if exact else []
        return or_(false(), *listed, *(_item(spec, item, context) for item in rest))
    return _either([_item(spec, item, context) for item in items])


def _either(conditions: Sequence[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else or_(false(), *conditions)


def _item(spec: FilterSpec, item: Operand, context: Context) -> Condition:
    match item:
        case Circle() | S2Cell() | Box() | PlusCode():
            return columns.inside(item, context)
        case Uid(text, column):
            return columns.compare(column, text, context)
        case Word() | Phrase() if spec.kind is ValueKind.PROSE:
            return words.contains(spec.columns[0], item, context)
        case Word() | Phrase() | Near() | Town() | MarkerNames() | TakenOut():
            raise TypeError(spec.name)  # compiled elsewhere, or resolved before
        case Pattern() if spec.columns == ("description",):
            return columns.fits(SearchText.description_key, item)
        case _:
            return _either([columns.compare(column, item, context) for column in spec.columns])


def _in_albums(operands: Iterable[Operand], context: Context) -> Condition:
    """Return the condition that a photo is in one of these plain albums, or was taken out of a smart one."""
    ids = [operand for operand in operands if isinstance(operand, int)]
    photos = [members(ids)] if ids else []
    photos += [members([operand.album_id], hidden=True) for operand in operands if isinstance(operand, TakenOut)]
    return or_(false(), *(context.column(SearchRow.photo_id).in_(selected) for selected in photos))


def _in_public_album(context: Context) -> Condition:
    """Return the condition that a photo was put into an album that is not private."""
    photos = select(AlbumPhoto.photo_id).join(Album)
    photos = photos.where(not_(AlbumPhoto.hidden), visible_albums(sees_private=False))
    return context.column(SearchRow.photo_id).in_(photos)


def members(album_ids: list[int], *, hidden: bool = False) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """Return the ids of the photos in these albums; with `hidden`, of those that a person took out of them."""
    of_them = AlbumPhoto.album_id == album_ids[0] if len(album_ids) == 1 else AlbumPhoto.album_id.in_(album_ids)
    return select(AlbumPhoto.photo_id).where(of_them, AlbumPhoto.hidden == literal(hidden))


def _shows_strangers(context: Context) -> Condition:
    """Return the condition that a photo has a marked face without a name."""
    photos = select(File.photo_id).join(Marker).where(Marker.type == "face", Marker.name == "", not_(File.missing))
    return context.column(SearchRow.photo_id).in_(photos)


def _shows(operands: Iterable[Operand], context: Context) -> Condition:
    """Return the condition that a photo shows one of these people."""
    conditions: list[Condition] = []
    for operand in operands:
        match operand:
            case Word() | Phrase():
                conditions.append(words.contains("people", operand, context))
            case Pattern((name,)):
                conditions.append(words.names_person(name, context))
            case MarkerNames(names):
                photos = select(File.photo_id).join(Marker).where(Marker.name.in_(names), not_(File.missing))
                conditions.append(context.column(SearchRow.photo_id).in_(photos))
    return or_(false(), *conditions)
