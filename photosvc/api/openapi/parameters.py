"""Query parameters of the search and its facets, filters included."""

from collections.abc import Iterator
from typing import Any

from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters import FILTERS
from photosvc.query.lexer import LONGEST_QUERY
from photosvc.query.values.reader import EXPECTED
from photosvc.search.reading.facets import FACETS
from photosvc.search.reading.orders import DEFAULT_ORDER, ORDERS, PRIME
from photosvc.search.reading.request import DEFAULT_COUNT, MAX_COUNT

_QUERY = {"type": "string", "maxLength": LONGEST_QUERY}
_FLAG = {"type": "boolean"}

#: Parameters that select photos.
_WHICH: dict[str, tuple[dict[str, Any], str]] = {
    "q": (_QUERY, "Words and filters."),
    "filter": (_QUERY, "A query whose filters replace the parameters of the same names."),
    "s": ({"type": "string"}, "Only photos of the album with this UID."),
}
#: Parameters that say in which order and form results are sent.
_HOW: dict[str, tuple[dict[str, Any], str]] = {
    "count": (
        {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": DEFAULT_COUNT},
        "Files on a page.",
    ),
    "offset": ({"type": "integer", "minimum": 0, "default": 0}, "Files to skip."),
    "cursor": ({"type": "string"}, "Where the page begins, from the `Link` of the previous page."),
    "order": ({"type": "string", "enum": [*ORDERS], "default": DEFAULT_ORDER}, "The order of the results."),
    "seed": ({"type": "integer", "minimum": 0, "maximum": PRIME - 1}, "The seed of a random order."),
    "merged": (_FLAG, "One result for each photo, with its files in `Files`."),
    "total": (_FLAG, "Count everything that matches, in `X-Total-Count`."),
}


def search_parameters() -> list[dict[str, Any]]:
    """The parameters of GET /photos."""
    return [*_described({**_WHICH, **_HOW}), *_filters()]


def facet_parameters() -> list[dict[str, Any]]:
    """The parameters of GET /photos/facets."""
    by = {
        "name": "by",
        "in": "query",
        "required": True,
        "description": "Filters whose values are counted.",
        "schema": {"type": "array", "items": {"type": "string", "enum": [*FACETS]}, "minItems": 1},
        "style": "form",
        "explode": False,
    }
    return [by, *_described(_WHICH), *_filters()]


def _described(parameters: dict[str, tuple[dict[str, Any], str]]) -> Iterator[dict[str, Any]]:
    for name, (schema, description) in parameters.items():
        yield {"name": name, "in": "query", "description": description, "schema": schema}


def _filters() -> Iterator[dict[str, Any]]:
    for spec in FILTERS.values():
        schema = _FLAG if spec.kind in {Kind.FLAG, Kind.SWITCH} else _QUERY
        parameter = {"name": spec.name, "in": "query", "description": _meaning(spec), "schema": schema}
        if schema is _QUERY:
            parameter["example"] = _value(spec)
        yield parameter


def _meaning(spec: FilterSpec) -> str:
    also = f" Also called {' and '.join(spec.aliases)}." if spec.aliases else ""
    return f"{spec.help}{also} Takes {EXPECTED[spec.kind]}."


def _value(spec: FilterSpec) -> str:
    """The value in the filter's example; in the example, another filter may follow it."""
    name = next(name for name in (spec.name, *spec.aliases) if f"{name}:" in spec.example)
    behind = spec.example.partition(f"{name}:")[2]
    return behind if '"' in behind else behind.partition(" ")[0]
