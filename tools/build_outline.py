"""Builds the map's outline of the world: `python -m tools.build_outline countries-50m.json world.svg`.

The source is the TopoJSON file `countries-50m.json` of the npm package world-atlas 2.0.2 (Natural Earth, public
domain). The result is a square picture of the whole world in Web Mercator, as tile servers project it, with the land
in white and the borders of countries in grey: the style sheet of the page makes a theme's colours of them. Land that
crosses 180 degrees is cut there, because it would draw a bar across the whole picture; what lies beyond the square's
northern and southern edge is cut as well.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

SIDE: Final = 16_384
"""Units of the picture's side: a pixel at zoom 6."""
_EDGE: Final = 85.051128779806604
_SMALLEST: Final = 6.0
"""Square units; smaller islands would be no pixel at any zoom at which the outline is shown."""

Point = tuple[float, float]
Ring = list[Point]


def arcs_of(topology: dict[str, Any]) -> list[Ring]:
    """Return the lines of which all shapes are made, in degrees: longitude and latitude."""
    (scale_x, scale_y), (move_x, move_y) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for arc in topology["arcs"]:
        x = y = 0
        line = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            line.append((x * scale_x + move_x, y * scale_y + move_y))
        arcs.append(line)
    return arcs


def numbers_of(shape: dict[str, Any]) -> Iterator[list[int]]:
    """Return the numbers of the lines of each ring of a shape; `~number` for a line that is followed backwards."""
    polygons = shape["arcs"] if shape["type"] == "MultiPolygon" else [shape.get("arcs", ())]
    return (ring for polygon in polygons for ring in polygon)


def rings_of(topology: dict[str, Any], arcs: list[Ring]) -> Iterator[Ring]:
    """Return the rings of all land."""
    for numbers in (ring for shape in topology["objects"]["land"]["geometries"] for ring in numbers_of(shape)):
        ring: Ring = []
        for number in numbers:
            line = arcs[number] if number >= 0 else arcs[~number][::-1]
            ring += line[1:] if ring else line
        yield ring


def borders_of(topology: dict[str, Any], arcs: list[Ring]) -> Iterator[Ring]:
    """Return the lines that two countries share."""
    shared = Counter[int]()
    for country in topology["objects"]["countries"]["geometries"]:
        shared.update({max(number, ~number) for ring in numbers_of(country) for number in ring})
    return (arcs[number] for number, countries in sorted(shared.items()) if countries > 1)


def unrolled(ring: Ring) -> Ring:
    """Return the ring without jumps at 180 degrees; one around a pole is closed through it."""
    found = [ring[0]]
    for lng, lat in ring[1:]:
        turns = round((found[-1][0] - lng) / 360)
        found.append((lng + 360 * turns, lat))
    if abs(found[-1][0] - found[0][0]) > 180:
        pole = math.copysign(90.0, sum(lat for _, lat in ring))
        found += [(found[-1][0], pole), (found[0][0], pole)]
    return found


def cut(ring: Ring, axis: int, limit: float, *, below: bool) -> Ring:
    """Return the part of a ring on one side of a line (Sutherland and Hodgman's method)."""
    inside: Callable[[Point], bool] = lambda point: (point[axis] <= limit) == below or point[axis] == limit  # noqa: E731
    found: Ring = []
    for start, end in zip([ring[-1], *ring], ring, strict=False):
        if inside(start) != inside(end):
            share = (limit - start[axis]) / (end[axis] - start[axis])
            other = start[1 - axis] + share * (end[1 - axis] - start[1 - axis])
            found.append((limit, other) if axis == 0 else (other, limit))
        if inside(end):
            found.append(end)
    return found


def pieces(ring: Ring) -> Iterator[Ring]:
    """Return the parts of an unrolled ring inside of the square."""
    for turn in (-360, 0, 360):
        part = [(lng + turn, lat) for lng, lat in ring]
        for axis, limit, below in ((0, -180, False), (0, 180, True), (1, -_EDGE, False), (1, _EDGE, True)):
            part = cut(part, axis, limit, below=below) if part else part
        if part:
            yield part


def project(point: Point) -> tuple[int, int]:
    """Return the position in the picture."""
    lng, lat = point
    y = math.asinh(math.tan(math.radians(lat))) / math.pi
    return round((lng + 180) / 360 * SIDE), round((1 - y) / 2 * SIDE)


def thinned(line: Iterable[Point]) -> list[tuple[int, int]]:
    """Return the line in units of the picture, without points between others on a straight line."""
    found: list[tuple[int, int]] = []
    for point in map(project, line):
        if found and found[-1] == point:
            continue
        while len(found) > 1 and _twice_area([found[-2], found[-1], point]) == 0:
            found.pop()
        found.append(point)
    return found


def is_visible(ring: list[tuple[int, int]]) -> bool:
    """Whether a ring is large enough to be drawn."""
    return len(ring) > 2 and abs(_twice_area(ring)) >= 2 * _SMALLEST


def path(line: list[tuple[int, int]]) -> str:
    """Return the line as a part of an SVG path."""
    (x, y), steps = line[0], []
    for to_x, to_y in line[1:]:
        steps.append(f"{to_x - x} {to_y - y}".replace(" -", "-"))
        x, y = to_x, to_y
    return f"M{line[0][0]} {line[0][1]}l{' '.join(steps).replace(' -', '-')}"


def draw(rings: Iterable[list[tuple[int, int]]], borders: Iterable[list[tuple[int, int]]]) -> str:
    """Return the picture as SVG. Borders have the same width at every zoom."""
    size = f'width="4096" height="4096" viewBox="0 0 {SIDE} {SIDE}"'
    land = f'<path fill="#fff" d="{"".join(f"{path(ring)}z" for ring in rings)}"/>'
    style = 'fill="none" stroke="#777" stroke-linejoin="round" vector-effect="non-scaling-stroke"'
    lines = f'<path {style} d="{"".join(map(path, borders))}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{land}{lines}</svg>\n'


def _twice_area(ring: list[tuple[int, int]]) -> int:
    return sum(x * other_y - other_x * y for (x, y), (other_x, other_y) in zip(ring, [*ring[1:], ring[0]], strict=True))


def main(source: Path, target: Path) -> None:
    """Write the picture of a source file."""
    topology = json.loads(source.read_text())
    arcs = arcs_of(topology)
    rings = (unrolled(ring) for ring in rings_of(topology, arcs))
    land = (thinned(piece) for ring in rings for piece in pieces(ring))
    borders = (thinned(border) for border in borders_of(topology, arcs))
    target.write_text(draw(filter(is_visible, land), (border for border in borders if len(border) > 1)))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
