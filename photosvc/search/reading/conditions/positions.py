"""Conditions on where a photo was taken: circles with true distances, boxes, S2 cells, plus codes."""

import s2cell
from sqlalchemy import ColumnElement, and_, or_

from photosvc.core.geo import Box, bounding_boxes, cell_range, chord, unit_vector
from photosvc.models import SearchRow
from photosvc.query.operands import Cell, Circle, PlusCode
from photosvc.search.reading.conditions.context import Context

Condition = ColumnElement[bool]
Area = Circle | Cell | Box | PlusCode

_METRES = 1000.0


def inside(area: Area, context: Context) -> Condition:
    """Whether a photo lies in the area; a photo without a position lies in none."""
    match area:
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
    # Compares squares of chords: this needs only products and sums, which every database has, and loses no digits for
    # near points.
    dx, dy, dz = SearchRow.x - x, SearchRow.y - y, SearchRow.z - z
    return and_(or_(*boxes), dx * dx + dy * dy + dz * dz <= chord(radius) ** 2)


def _box(box: Box, context: Context) -> Condition:
    lat, lng = context.column(SearchRow.lat), context.column(SearchRow.lng)
    tall = lat.between(box.south, box.north)
    if box.west <= box.east:
        return and_(tall, lng.between(box.west, box.east))
    return and_(tall, or_(lng >= box.west, lng <= box.east))
