"""The search: its results (GET /photos), their facets (GET /photos/facets), and suggestions (GET /suggest)."""

from dataclasses import asdict
from typing import Any, Final

from flask import Response, request
from sqlalchemy import Connection

from photosvc.auth import link_tokens
from photosvc.auth.principal import Principal
from photosvc.query.completion import find_fragment
from photosvc.query.lexer import LONGEST_QUERY, check_text
from photosvc.records.photos import PhotoResultSchema
from photosvc.search.reading.facets import FACETS, KnownFacets, parse_facets
from photosvc.search.reading.guests import confine
from photosvc.search.reading.hints import MOST_HINTS, Hint, find_hints, finds, header_of, may_have_hints
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.photos import parse_query
from photosvc.search.reading.request import (
    parse_number,
    parse_request,
)
from photosvc.search.reading.suggest import KINDS, MOST_SUGGESTED, PLACE, read_names, suggest
from photosvc.web.contract import (
    ETAG,
    FLAG,
    NUMBER,
    TEXT,
    answers,
    describe,
    for_visitors,
    json_object,
    takes_query,
)
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import cached_answer, require_modified
from photosvc.web.searching import PAGE_HEADERS, Pairs, answer_page, overview_parameters, search_parameters, searching
from photosvc.web.service import Service, current_service

search = OwnBlueprint("search", __name__)

_VALUE = json_object(value={"type": ["string", "integer"]}, label=TEXT, count=NUMBER)
_FACETS = {"type": "object", "additionalProperties": {"type": "array", "items": _VALUE}}
_KINDS: Final = {"type": "string", "enum": ["filter", "value", PLACE, *KINDS]}
_AREA: Final = {"type": ["array", "null"], "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
_SUGGESTION: Final = json_object(
    kind=_KINDS, text=TEXT, label=TEXT, help=TEXT, count={"type": ["integer", "null"]}, more=FLAG, hash=TEXT,
    turn=NUMBER, area=_AREA,
)  # fmt: skip
_HINT: Final = json_object(
    kind={"type": "string", "enum": ["word", "part"]}, text=TEXT, label=TEXT, count=NUMBER, more=FLAG
)
_HINT_FIELDS: Final = ("kind", "text", "label", "count", "more")
_SUGGESTIONS: Final = json_object(
    "start end suggestions hints",
    hints={"type": "array", "items": _HINT, "maxItems": MOST_HINTS},
    start=NUMBER,
    end=NUMBER,
    suggestions={"type": "array", "items": _SUGGESTION, "maxItems": MOST_SUGGESTED},
)


def facet_parameters() -> list[dict[str, Any]]:
    """Return the parameters of GET /photos/facets."""
    by = {
        "name": "by",
        "in": "query",
        "required": True,
        "description": "Filters whose values are counted.",
        "schema": {"type": "array", "items": {"type": "string", "enum": [*FACETS]}, "minItems": 1},
        "style": "form",
        "explode": False,
    }
    return [by, *overview_parameters({})]


@search.get("/photos")
@require("photos.search")
@takes_query(search_parameters)
@answers(PhotoResultSchema, "A page of results.", many=True, headers={**PAGE_HEADERS, **ETAG}, refuses=(404, 429))
@for_visitors
def search_photos() -> Response:
    """Search: files with the metadata of their photos, a page at a time."""
    service, who = current_service(), principal()
    pairs = tuple(request.args.items(multi=True))
    parsed = confine(parse_request(pairs, service.today()), who, link_tokens.alias_key(service.settings, who))
    return answer_page(parsed, "photos", hint=lambda connection: header_of(_hints(connection, service, who, pairs)))


def _hints(connection: Connection, service: Service, who: Principal, pairs: Pairs) -> list[Hint]:
    # To somebody with a share, they would tell the words of the library.
    if who.shared is not None or not may_have_hints(pairs):
        return []
    names = service.cached(read_names).read(connection, sees_private=who.sees_private)
    return find_hints(connection, pairs, names, sees_private=who.sees_private, today=service.today())


@search.get("/photos/facets")
@require("photos.facets")
@takes_query(facet_parameters)
@answers(_FACETS, "The values of each filter, the most frequent first.", headers=ETAG, refuses=(404,))
def count_facets() -> Response:
    """Count the files of a search by each value of the filters in `by`; with `primary=true`, its photos."""
    who, today = principal(), current_service().today()
    facets = parse_facets(request.args.get("by", ""))
    pairs = tuple(request.args.items(multi=True))
    query = parse_query(pairs, today, sees_private=who.sees_private)
    with searching(who.owner_uid, "by") as connection:
        etag = state_tag(connection, "facets", query, facets, sees_private=who.sees_private, today=today)
        require_modified(etag)
        counted = current_service().only(KnownFacets).count(connection, query, facets)
    return cached_answer({name: [asdict(value) for value in values] for name, values in counted.items()}, etag)


def _parameters() -> list[dict[str, Any]]:
    described: dict[str, tuple[dict[str, Any], str]] = {
        "q": ({"type": "string", "maxLength": LONGEST_QUERY}, "The typed text; it need not be a valid query."),
        "at": (
            {"type": "integer", "minimum": 0, "maximum": LONGEST_QUERY},
            "The position of the cursor, in code points; the end of `q` when left out.",
        ),
    }
    return describe(described)


@search.get("/suggest")
@require("photos.suggest")
@takes_query(_parameters)
@answers(_SUGGESTIONS, "Replacements for the code points from `start` to `end`.", headers=ETAG)
def suggest_values() -> Response:
    """Suggest filters, and values such as cameras, places, people, albums and keywords, for the text at `at`.

    `text` replaces the typed text, and `label` is the text to show. `count` is the number of photos with exactly this
    value that the caller may see; the search may find more. `more` is true if there are more photos than were counted.
    `hash` is a photo with it, of people, places, albums and keywords, and `area` the face of a person on that.

    `hints` are queries that find photos, if there are no suggestions and `q` finds nothing.
    """
    query = request.args.get("q", "")
    check_text(query, "q")
    at = parse_number(request.args.get("at", ""), "at", 0, LONGEST_QUERY, len(query))
    who, service = principal(), current_service()
    today = service.today()
    with searching(who.owner_uid) as connection:
        etag = state_tag(connection, "suggest", query, at, sees_private=who.sees_private, today=today)
        require_modified(etag)
        typed = find_fragment(query, at)
        names = service.cached(read_names).read(connection, sees_private=who.sees_private)
        suggestions = suggest(connection, typed, names, sees_private=who.sees_private)
        pairs = (("q", query),)
        finds_none = not suggestions and not finds(connection, pairs, sees_private=who.sees_private, today=today)
        hints = _hints(connection, service, who, pairs) if finds_none else []
    suggested = {
        "start": typed.start,
        "end": typed.end,
        "suggestions": [asdict(suggestion) for suggestion in suggestions],
        "hints": [{name: getattr(hint, name) for name in _HINT_FIELDS} for hint in hints],
    }
    return cached_answer(suggested, etag)
