"""Conditions on the albums of photos and on the people they show."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, false, literal, not_, or_, select

from photosvc.models import Album, AlbumPhoto, File, Marker, SearchRow
from photosvc.query.operands import MarkerNames, Operand, Pattern, Phrase, TakenOut, Word
from photosvc.search.reading.conditions import full_text
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import visible_albums

Condition = ColumnElement[bool]


def in_albums(operands: Iterable[Operand], context: Context) -> Condition:
    """Whether a photo is in one of the plain albums with these ids, or was taken out of one of these smart albums."""
    ids = [operand for operand in operands if isinstance(operand, int)]
    photos = [members(ids)] if ids else []
    photos += [members([operand.album_id], hidden=True) for operand in operands if isinstance(operand, TakenOut)]
    return or_(false(), *(context.column(SearchRow.photo_id).in_(selected) for selected in photos))


def in_public_album(context: Context) -> Condition:
    """Whether a photo was put into an album that is not private."""
    photos = select(AlbumPhoto.photo_id).join(Album)
    photos = photos.where(not_(AlbumPhoto.hidden), visible_albums(sees_private=False))
    return context.column(SearchRow.photo_id).in_(photos)


def members(album_ids: list[int], *, hidden: bool = False) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The ids of the photos in these albums; with `hidden`, of those that a person took out of them."""
    of_them = AlbumPhoto.album_id == album_ids[0] if len(album_ids) == 1 else AlbumPhoto.album_id.in_(album_ids)
    return select(AlbumPhoto.photo_id).where(of_them, AlbumPhoto.hidden == literal(hidden))


def shows(operands: Iterable[Operand], context: Context) -> Condition:
    """Whether a photo shows one of these people."""
    found: list[Condition] = []
    for operand in operands:
        match operand:
            case Word() | Phrase():
                found.append(full_text.contains("people", [operand], context))
            case Pattern((name,)):
                found.append(full_text.names_person(name, context))
            case MarkerNames(names):
                photos = select(File.photo_id).join(Marker).where(Marker.name.in_(names), not_(File.missing))
                found.append(context.column(SearchRow.photo_id).in_(photos))
    return or_(false(), *found)
