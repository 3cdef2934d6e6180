"""GET /suggest: what the search field may suggest while a query is typed."""

from dataclasses import asdict
from typing import Any, Final

from flask import Blueprint, Response, request

from photosvc.query.lexer import LONGEST_QUERY, check
from photosvc.query.typed import find_typed
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.overview.photos import parse_number
from photosvc.search.reading.suggesting.kinds import KINDS
from photosvc.search.reading.suggesting.suggest import MOST_SUGGESTED, suggest
from photosvc.web.answers.answer import ReadyResponse, cache_headers, is_fresh, json_answer
from photosvc.web.contract import ETAG, FLAG, NUMBER, TEXT, answers, json_object, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import searching

_KINDS: Final = {"type": "string", "enum": ["filter", "value", *KINDS]}
_SUGGESTION: Final = json_object(
    "kind text label help count more",
    kind=_KINDS,
    text=TEXT,
    label=TEXT,
    help=TEXT,
    count={"type": ["integer", "null"]},
    more=FLAG,
)
_SUGGESTIONS: Final = json_object(
    "start end suggestions",
    start=NUMBER,
    end=NUMBER,
    suggestions={"type": "array", "items": _SUGGESTION, "maxItems": MOST_SUGGESTED},
)


def add_routes(api: Blueprint) -> None:
    """Add the suggestions to the API."""
    api.add_url_rule("/suggest", view_func=suggest_values, methods=["GET"])


def _parameters() -> list[dict[str, Any]]:
    described: dict[str, tuple[dict[str, Any], str]] = {
        "q": ({"type": "string", "maxLength": LONGEST_QUERY}, "What has been typed; it need not be a valid query."),
        "at": (
            {"type": "integer", "minimum": 0, "maximum": LONGEST_QUERY},
            "The position of the cursor, in code points; the end of `q` when left out.",
        ),
    }
    return [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, (schema, description) in described.items()
    ]


@require("photos.suggest")
@takes_query(_parameters)
@answers(_SUGGESTIONS, "What may be written in place of the code points from `start` to `end`.", headers=ETAG)
def suggest_values() -> Response:
    """Filters, and values of cameras, lenses, places, people, albums, keywords and others, for what is typed at `at`.

    `text` is what to write, `label` what to show. `count` is the number of photos that have the very value, as far as
    the caller may see them; the search may find more. `more`: there are more photos than were counted.
    """
    query = request.args.get("q", "")
    check(query, "q")
    at = parse_number(request.args.get("at", ""), "at", 0, LONGEST_QUERY, len(query))
    who, service = principal(), current_service()
    with searching(who.owner_uid) as connection:
        etag = state_tag(connection, "suggest", query, at, sees_private=who.sees_private)
        if is_fresh(etag):
            return ReadyResponse(status=304, headers=cache_headers(etag))
        typed = find_typed(query, at)
        names = service.names.read(connection, sees_private=who.sees_private)
        found = suggest(connection, typed, names, sees_private=who.sees_private)
    answer = json_answer({"start": typed.start, "end": typed.end, "suggestions": [asdict(one) for one in found]})
    answer.headers.extend(cache_headers(etag))
    return answer
