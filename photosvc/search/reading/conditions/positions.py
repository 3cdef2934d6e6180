"""Conditions on where a photo was taken: circles with true distances, boxes, S2 cells, plus codes."""

import s2cell
from sqlalchemy import ColumnElement, and_, false, or_, select

from photosvc.core.errors import NotFoundError
from photosvc.core.geo import Box, bounding_boxes, cell_range, chord, unit_vector
from photosvc.models import NOWHERE, SearchRow
from photosvc.query.operands import Cell, Circle, Near, PlusCode
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import visible

Condition = ColumnElement[bool]
Area = Near | Circle | Cell | Box | PlusCode

_METRES = 1000.0


def inside(area: Area, context: Context) -> Condition:
    """Whether a photo lies in the area; one without a position lies in none.

    Raises:
        NotFoundError: the photo of `near` does not exist, or may not be seen.

    """
    match area:
        case Near(uid, km):
            position = _position(uid, context)
            return _within(*position, km or 0.0, context) if position else false()
        case Circle(lat, lng, km):
            return _within(lat, lng, km or 0.0, context)
        case Cell(token, None):
            low, high = cell_range(token)
            cell = context.column(SearchRow.cell_id)
            return and_(cell >= f"s2:{low}", cell <= f"s2:{high}")
        case Cell(token, km):
            lat, lng = s2cell.token_to_lat_lon(token)
            return _within(lat, lng, km or 0.0, context)
        case PlusCode(_, box, None):
            return _box(box, context)
        case PlusCode(_, box, km):
            return _within((box.north + box.south) / 2, (box.east + box.west) / 2, km or 0.0, context)
        case Box():
            return _box(area, context)


def _within(lat: float, lng: float, km: float, context: Context) -> Condition:
    radius = km * _METRES
    boxes = [_box(box, context) for box in bounding_boxes(lat, lng, radius)]
    x, y, z = unit_vector(lat, lng)
    # The square of the chord: products and sums only, so that every database can, and exact for near points.
    dx, dy, dz = SearchRow.x - x, SearchRow.y - y, SearchRow.z - z
    return and_(or_(*boxes), dx * dx + dy * dy + dz * dz <= chord(radius) ** 2)


def _box(box: Box, context: Context) -> Condition:
    lat, lng = context.column(SearchRow.lat), context.column(SearchRow.lng)
    tall = lat.between(box.south, box.north)
    if box.west <= box.east:
        return and_(tall, lng.between(box.west, box.east))
    return and_(tall, or_(lng >= box.west, lng <= box.east))


def _position(uid: str, context: Context) -> tuple[float, float] | None:
    """Where a photo was taken; None for a photo without a position, and inside a smart album also for none at all."""
    query = select(SearchRow.lat, SearchRow.lng).where(SearchRow.photo_uid == uid)
    found = context.connection.execute(query.where(visible(sees_private=context.sees_private)).limit(1)).first()
    if found is None and not context.depth:  # not everybody must know that an album lies around it
        msg = f"there is no photo {uid}"
        raise NotFoundError(msg, field="near")
    return None if found is None or found.lat == NOWHERE else (found.lat, found.lng)
