"""The search: its results (GET /photos), their facets (GET /photos/facets), and suggestions (GET /suggest)."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode
from weakref import finalize

from flask import Response, request
from sqlalchemy import Connection

from photosvc.auth import link_tokens
from photosvc.auth.principal import Principal
from photosvc.query.completion import find_typed
from photosvc.query.filters import FILTERS, NAMES, FilterSpec, ValueKind
from photosvc.query.lexer import LONGEST_QUERY, check
from photosvc.records.photos import PhotoResultSchema
from photosvc.search.reading.facets import FACETS, KnownFacets, parse_facets
from photosvc.search.reading.guests import confine
from photosvc.search.reading.hints import MOST_HINTS, Hint, find_hints, finds, header_of, may_have_hints
from photosvc.search.reading.library import library_state, page_tag, state_tag
from photosvc.search.reading.pages import Page, find
from photosvc.search.reading.photos import parse_number, parse_query
from photosvc.search.reading.request import (
    ALBUM_ORDERS,
    DEFAULT_ORDER,
    ORDER_ALIASES,
    PRIME,
    parse_request,
)
from photosvc.search.reading.suggest import KINDS, MOST_SUGGESTED, read_names, suggest
from photosvc.web.contract import (
    ETAG,
    FLAG,
    NUMBER,
    TEXT,
    Header,
    Parameters,
    answers,
    describe,
    for_visitors,
    json_object,
    takes_query,
    unknown_parameters,
)
from photosvc.web.files import begin_transfer
from photosvc.web.paging import page_headers, page_numbers, page_parameters
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import JSON, ReadyResponse, cache_headers, cached_answer, is_fresh, not_modified
from photosvc.web.searching import searching
from photosvc.web.service import Service, current_service

search = OwnBlueprint("search", __name__)

_QUERY = {"type": "string", "maxLength": LONGEST_QUERY}
_FLAG = {"type": "boolean"}
#: Parameters that select photos.
_WHICH: Parameters = {
    "q": (_QUERY, "Words and filters."),
    "filter": (_QUERY, "A query that limits the whole search."),
    "s": ({"type": "string"}, "Only photos of the album with this UID."),
}
#: Parameters for the order and form of the results.
_HOW: Parameters = {
    **page_parameters("files"),
    "cursor": ({"type": "string"}, "Where the page begins, from the `Link` of the previous page."),
    "order": (
        {"type": "string", "enum": [*ALBUM_ORDERS, *ORDER_ALIASES], "default": DEFAULT_ORDER},
        "The order of the results; `manual` is that of one album, and its default if its `Order` is `manual`.",
    ),
    "reverse": (_FLAG, "Reverse the order."),
    "seed": ({"type": "integer", "minimum": 0, "maximum": PRIME - 1}, "The seed of a random order."),
    "merged": (_FLAG, "One result for each photo, with its files in `Files`."),
    "total": (_FLAG, "Count all matches, in `X-Total-Count`."),
}
#: Every parameter of a search, with its aliases.
_KNOWN = frozenset({*_WHICH, *_HOW, *NAMES})
#: Names and values of a query string, in order.
Pairs: TypeAlias = tuple[tuple[str, str], ...]
#: Most characters of a `Link`: many servers and clients read only 4 or 8 KiB of headers.
_LONGEST_LINK = 2048
#: The headers of a page.
PAGE_HEADERS = {
    **page_headers("files"),
    "X-Total-Count": Header("integer", "Files that match, if `total` was asked for."),
    "X-Unknown-Parameters": Header(
        "string", "Parameters that were ignored, each with the one that may be meant: `limit (count)`."
    ),
    "X-Search-Hint": Header(
        "string", "If nothing was found: similar words, and shorter queries that find photos; percent-encoded UTF-8."
    ),
    "X-Cursor": Header("string", "The `cursor` of the next page, if this one is full."),
    "Link": Header("string", "The next page, if this one is full and its address short enough (RFC 8288)."),
    "X-Preview-Token": Header("string", "Opens thumbnails.", "photos.preview"),
    "X-Download-Token": Header("string", "Opens originals, for an hour.", "photos.download"),
}
_VALUE = json_object(value={"type": ["string", "integer"]}, label=TEXT, count=NUMBER)
_FACETS = {"type": "object", "additionalProperties": {"type": "array", "items": _VALUE}}
_KINDS: Final = {"type": "string", "enum": ["filter", "value", *KINDS]}
_SUGGESTION: Final = json_object(
    kind=_KINDS, text=TEXT, label=TEXT, help=TEXT, count={"type": ["integer", "null"]}, more=FLAG
)
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


def search_parameters() -> list[dict[str, Any]]:
    """Return the parameters of GET /photos."""
    return [*describe({**_WHICH, **_HOW}), *_filters()]


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
    return [by, *describe(_WHICH), *_filters()]


def overview_parameters(further: Parameters) -> list[dict[str, Any]]:
    """Return these further parameters, followed by those that select photos."""
    return [*describe({**further, **_WHICH}), *_filters()]


def _filters() -> Iterator[dict[str, Any]]:
    for spec in FILTERS.values():
        schema = _FLAG if spec.kind in {ValueKind.FLAG, ValueKind.SWITCH} else _QUERY
        parameter = {"name": spec.name, "in": "query", "description": _meaning(spec), "schema": schema}
        if schema is _QUERY:
            parameter["example"] = _value(spec)
        yield parameter


def _meaning(spec: FilterSpec) -> str:
    also = f" Also called {' and '.join(spec.aliases)}." if spec.aliases else ""
    return f"{spec.help}{also} Takes {spec.kind.expected}."


def _value(spec: FilterSpec) -> str:
    """Return the value in the filter's example, without a further filter that may follow it there."""
    name = next(name for name in (spec.name, *spec.aliases) if f"{name}:" in spec.example)
    behind = spec.example.partition(f"{name}:")[2]
    return behind if '"' in behind else behind.partition(" ")[0]


@search.get("/photos")
@require("photos.search")
@takes_query(search_parameters)
@answers(PhotoResultSchema, "A page of results.", many=True, headers={**PAGE_HEADERS, **ETAG}, refuses=(404, 429))
@for_visitors
def search_photos() -> Response:
    """Search: files with the metadata of their photos, a page at a time."""
    service, who = current_service(), principal()
    pairs = tuple(request.args.items(multi=True))
    asked = confine(parse_request(pairs, service.today()), who, link_tokens.alias_key(service.settings, who))
    headers = [("X-Preview-Token", link_tokens.preview_token(service.settings, who))]
    if who.shared is None or who.shared.downloads:
        headers.append(("X-Download-Token", link_tokens.download_token(service.settings, who, service.now())))
    with searching(who.owner_uid) as connection:
        etag = page_tag(library_state(connection), asked, sees_private=who.sees_private)
        if is_fresh(etag):
            return not_modified(etag, headers)
        page = find(connection, asked, sees_private=who.sees_private)
        if not page.count and not asked.offset and asked.cursor is None:
            page = replace(page, hint=header_of(_hints(connection, service, who, pairs)))
        headers += [*cache_headers(etag), *headers_of_page(service, page, "photos", pairs)]
        return send_page(page, page.pieces, headers)


def _hints(connection: Connection, service: Service, who: Principal, pairs: Pairs) -> list[Hint]:
    # To somebody with a share, they would tell the words of the library.
    if who.shared is not None or not may_have_hints(pairs):
        return []
    names = service.kept(read_names).read(connection, sees_private=who.sees_private)
    return find_hints(connection, pairs, names, sees_private=who.sees_private, today=service.today())


def send_page(page: Page, pieces: Iterable[str], headers: list[tuple[str, str]]) -> Response:
    """Return the answer with these pieces as its body; unless the page is whole, they are read while they are sent."""
    if page.is_whole:
        return ReadyResponse("".join(pieces), content_type=JSON, headers=headers)
    answer = ReadyResponse(pieces, content_type=JSON, headers=headers)
    # `finalize`, because an answer that is dropped before a server reads it is never closed.
    answer.call_on_close(begin_transfer(answer))
    read = current_service().keep_open()
    answer.call_on_close(finalize(answer, read.close))
    answer.response = read.pieces(pieces)
    return answer


def headers_of_page(service: Service, page: Page, path: str, pairs: Pairs) -> list[tuple[str, str]]:
    """Return the headers with the numbers of a page and the address of the next one; `path` is that of the route."""
    headers = page_numbers(page.count, page.limit, page.offset)
    names = tuple(name for name, _ in pairs if name not in _KNOWN)
    if names and (unknown := unknown_parameters(names, _KNOWN)):
        headers.append(("X-Unknown-Parameters", unknown))
    if page.hint:
        headers.append(("X-Search-Hint", page.hint))
    if page.total is not None:
        headers.append(("X-Total-Count", str(page.total)))
    if page.next:
        further = tuple(pair for pair in pairs if pair[0] not in {"cursor", "offset", "seed"})
        query = "".join(f"{urlencode([pair])}&" for pair in further)
        cursor = str(page.next)
        following = f"{service.address_of(request, f'/api/v1/{path}')}?{query}cursor={cursor}"
        headers.append(("X-Cursor", cursor))
        link = f'<{following}>; rel="next"'
        if len(link) <= _LONGEST_LINK:
            headers.append(("Link", link))
    return headers


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
        if is_fresh(etag):
            return not_modified(etag)
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

    `hints` are queries that find photos, if there are no suggestions and `q` finds nothing.
    """
    query = request.args.get("q", "")
    check(query, "q")
    at = parse_number(request.args.get("at", ""), "at", 0, LONGEST_QUERY, len(query))
    who, service = principal(), current_service()
    today = service.today()
    with searching(who.owner_uid) as connection:
        etag = state_tag(connection, "suggest", query, at, sees_private=who.sees_private, today=today)
        if is_fresh(etag):
            return not_modified(etag)
        typed = find_typed(query, at)
        names = service.kept(read_names).read(connection, sees_private=who.sees_private)
        found = suggest(connection, typed, names, sees_private=who.sees_private)
        pairs = (("q", query),)
        finds_none = not found and not finds(connection, pairs, sees_private=who.sees_private, today=today)
        hints = _hints(connection, service, who, pairs) if finds_none else []
    suggested = {
        "start": typed.start,
        "end": typed.end,
        "suggestions": [asdict(one) for one in found],
        "hints": [{name: getattr(one, name) for name in _HINT_FIELDS} for one in hints],
    }
    return cached_answer(suggested, etag)
