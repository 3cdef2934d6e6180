"""Conditions on names that many photos share: cameras, lenses, people, albums.

There are few names and many photos, so names are matched in Python, by the word rule of `words`, and photos are then
found by the ids of what bears them.
"""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, false, literal, not_, or_, select

from photosvc.core.errors import InvalidValueError
from photosvc.models import Album, AlbumPhoto, Camera, File, Lens, Marker, SearchRow
from photosvc.query.fold import words
from photosvc.query.nodes import Node
from photosvc.query.operands import Operand, Pattern, Phrase, Uid, Word
from photosvc.query.parser import parse_query
from photosvc.query.values.areas import locate
from photosvc.search.reading.conditions import full_text
from photosvc.search.reading.conditions.columns import column_named
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import visible_albums
from photosvc.search.word_text import gear_name, needle, word_text

Condition = ColumnElement[bool]
Compile = Callable[[Node, Context], Condition]

_DEEPEST_ALBUM = 3
_MOST_SMART_ALBUMS = 20


def taken_with(column: str, items: Iterable[Operand], context: Context) -> Condition:
    """Whether `camera_id` or `lens_id` is one of these ids, or bears one of these names."""
    kind: type[Camera | Lens] = Camera if column == "camera_id" else Lens
    ids = {item for item in items if isinstance(item, int)}
    terms = [item for item in items if isinstance(item, Word | Phrase)]
    if len(ids) == 1 and not terms:
        return context.column(column_named(column)) == ids.pop()
    if terms:
        known = context.connection.execute(select(kind.id, kind.make, kind.model))
        ids |= {key for key, make, model in known if _fits(gear_name(make, model), terms)}
    return context.column(column_named(column)).in_(sorted(ids))


def shows(items: Iterable[Operand], context: Context) -> Condition:
    """Whether one of these people is on a photo."""
    found: list[Condition] = []
    patterns: list[Pattern] = []
    for item in items:
        match item:
            case Word() | Phrase():
                found.append(full_text.contains("people", [item], context))
            case Pattern((name,)):
                found.append(full_text.named(name, context))
            case Pattern():
                patterns.append(item)
    if patterns:
        everybody = context.connection.scalars(select(Marker.name).where(Marker.name != "").distinct())
        who = [name for name in everybody if _fits(name, patterns)]
        photos = select(File.photo_id).join(Marker).where(Marker.name.in_(who), not_(File.missing))
        found.append(context.column(SearchRow.photo_id).in_(photos))
    return or_(false(), *found)


def in_albums(items: Iterable[Operand], context: Context, compile_query: Compile) -> Condition:
    """Whether a photo is in an album of one of these UIDs or names, by hand or by the album's filter."""
    albums = _albums(items, context)
    plain = [album.id for album in albums if not album.filter]
    smart = [album for album in albums if album.filter]
    found: list[Condition] = [context.column(SearchRow.photo_id).in_(members(plain))] if plain else []
    if context.depth < _DEEPEST_ALBUM:
        found += [_in_smart_album(album, context, compile_query) for album in smart[:_MOST_SMART_ALBUMS]]
    return or_(false(), *found)


def in_seen_album(context: Context) -> Condition:
    """Whether a photo was put into an album that everybody may see."""
    seen = select(AlbumPhoto.photo_id).join(Album)
    seen = seen.where(not_(AlbumPhoto.hidden), visible_albums(sees_private=False))
    return context.column(SearchRow.photo_id).in_(seen)


def members(album_ids: list[int], *, hidden: bool = False) -> Any:  # noqa: ANN401
    """The ids of the photos in these albums; those taken out of them with `hidden`."""
    of_them = AlbumPhoto.album_id == album_ids[0] if len(album_ids) == 1 else AlbumPhoto.album_id.in_(album_ids)
    return select(AlbumPhoto.photo_id).where(of_them, AlbumPhoto.hidden == literal(hidden))


def plain_albums(items: Iterable[Operand], context: Context) -> list[int] | None:
    """The ids of the albums that these items mean; None when one of them is smart."""
    albums = _albums(items, context)
    return None if any(album.filter for album in albums) else [album.id for album in albums]


def is_album(context: Context, uid: str) -> bool:
    """Whether there is an album with this UID that may be seen."""
    return bool(_albums([Uid(uid, "albums")], context))


def _albums(items: Iterable[Operand], context: Context) -> list[Row[Any]]:
    query = select(Album.id, Album.uid, Album.title, Album.filter)
    query = query.where(visible_albums(sees_private=context.sees_private))
    items = list(items)
    uids = [item.text for item in items if isinstance(item, Uid)]
    if len(uids) == len(items):
        query = query.where(Album.uid.in_(uids))
    found: Iterable[Row[Any]] = context.connection.execute(query)
    return [album for album in found if album.uid in uids or _fits(album.title, items)]


def _in_smart_album(album: Row[Any], context: Context, compile_query: Compile) -> Condition:
    try:
        condition = compile_query(locate(parse_query(album.filter, "filter")), context.inside())
    except InvalidValueError:  # a filter of another version; it is the album's affair, not the query's
        return false()
    taken_out = context.column(SearchRow.photo_id).in_(members([album.id], hidden=True))
    return and_(condition, not_(taken_out))


def _fits(name: str, items: Iterable[Operand]) -> bool:
    """Whether a name has one of these words, or is by its words one of these whole names."""
    text, whole = word_text((name,)), " ".join(words(name))
    return any(
        needle(item) in text if isinstance(item, Word | Phrase) else isinstance(item, Pattern) and item.matches(whole)
        for item in items
    )
