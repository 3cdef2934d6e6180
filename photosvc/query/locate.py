"""How `lat`, `lng` and `dist` become part of the places they speak of."""

from dataclasses import replace

from photosvc.query.errors import InvalidQueryError
from photosvc.query.items import Cell, Choice, Circle, Item, Near, PlusCode
from photosvc.query.nodes import (
    And,
    Filter,
    Node,
    Not,
    Or,
    conjunction,
    conjuncts,
    disjunction,
    negation,
)

DEFAULT_DISTANCE = 2.0
"""Kilometres around a photo or a point when `dist` is left out."""


def locate(node: Node) -> Node:
    """The same query without `lat`, `lng` and `dist`: they are written into `near`, `latlng`, `s2` and `olc`.

    `dist` holds for the places of its conjunction and of the groups in it, unless these have their own; without
    places it says nothing. `lat` and `lng` of one conjunction make a circle.

    Raises:
        InvalidQueryError: one of `lat` and `lng` stands alone.

    """
    return _located(node, None)


def _located(node: Node, km: float | None) -> Node:
    match node:
        case Or(parts):
            return disjunction(_located(part, km) for part in parts)
        case Not(part):
            return negation(_located(part, km))
        case Filter() | And():
            return _located_conjunction(conjuncts(node), km)
        case _:
            return node


def _located_conjunction(parts: tuple[Node, ...], km: float | None) -> Node:
    loose = {part.name: part for part in parts if isinstance(part, Filter) and part.name in {"lat", "lng", "dist"}}
    if dist := loose.pop("dist", None):
        km = _number(dist)
    located: list[Node] = []
    for part in parts:
        match part:
            case Filter("lat" | "lng" | "dist"):
                continue
            case Filter(_, Choice(wanted, unwanted)):
                value = Choice(tuple(_with(i, km) for i in wanted), tuple(_with(i, km) for i in unwanted))
                located.append(replace(part, value=value))
            case Filter():
                located.append(part)
            case _:
                located.append(_located(part, km))
    if loose:
        located.append(_circle(loose, km))
    return conjunction(located)


def _with(item: Item, km: float | None) -> Item:
    match item:
        case Near(km=None) | Circle(km=None):
            return replace(item, km=km or DEFAULT_DISTANCE)
        case Cell(km=None) | PlusCode(km=None):
            return replace(item, km=km)
        case _:
            return item


def _circle(loose: dict[str, Filter], km: float | None) -> Filter:
    match loose:
        case {"lat": lat, "lng": lng}:
            circle = Circle(_number(lat), _number(lng), km or DEFAULT_DISTANCE)
            return Filter("latlng", Choice((circle,)), lat.source)
    name, lone = next(iter(loose.items()))
    other = "lng" if name == "lat" else "lat"
    raise InvalidQueryError(f"{name} needs {other}", field=lone.source.field, position=lone.source.start)


def _number(node: Filter) -> float:
    return node.value if isinstance(node.value, float) else 0.0
