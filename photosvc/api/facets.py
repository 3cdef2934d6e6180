"""GET /photos/facets: the values that filters have among the results of a search."""

from dataclasses import asdict

from flask import Blueprint, Response, request

from photosvc.api.openapi.parameters import facet_parameters
from photosvc.query.canonical import canonical_text
from photosvc.search.reading.facets import count_values, parse_facets
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.request import parse_node
from photosvc.web.answer import ReadyResponse, json_answer
from photosvc.web.conditional import ETAG, cache_headers, is_fresh
from photosvc.web.contract import NUMBER, TEXT, answers, json_object, refuses, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require

_VALUE = json_object("value label count", value={"type": ["string", "integer"]}, label=TEXT, count=NUMBER)
_FACETS = {"type": "object", "additionalProperties": {"type": "array", "items": _VALUE}}


def add_routes(api: Blueprint) -> None:
    """Add the facets to the API."""
    api.add_url_rule("/photos/facets", view_func=count_facets, methods=["GET"])


@require("photos.facets")
@takes_query(facet_parameters)
@answers(_FACETS, "The values of each filter, the most frequent first.", headers=ETAG)
@refuses(404)
def count_facets() -> Response:
    """How many files of a search have each value of the filters in `by`; with `primary=true`, how many photos."""
    sees_private = principal().sees_private
    facets = parse_facets(request.args.get("by", ""))
    node, album = parse_node(request.args.items(multi=True)), request.args.get("s", "").strip()
    with current_service().reading() as connection:
        etag = state_tag(connection, canonical_text(node), album, facets, sees_private=sees_private)
        if is_fresh(etag):
            return ReadyResponse(status=304, headers=cache_headers(etag))
        counted = count_values(connection, node, album, facets, sees_private=sees_private)
    answer = json_answer({name: [asdict(value) for value in values] for name, values in counted.items()})
    answer.headers.extend(cache_headers(etag))
    return answer
