"""The parsers of queries and requests, on the day of the tests' clock."""

from functools import partial

from photosvc.query import parameters, parser
from photosvc.search.reading import photos, request
from tests.helpers.clock import NOW

TODAY = NOW.date()
parse_query = partial(parser.parse_query, today=TODAY)
parse_scope = partial(parameters.parse_filter_parameter, today=TODAY)
understand = partial(parser.understand, today=TODAY)
best_order = partial(request.best_order, today=TODAY)
parse_node = partial(request.parse_node, today=TODAY)
parse_request = partial(request.parse_request, today=TODAY)


def photo_query(text: str = "", *, sees_private: bool = True) -> photos.PhotoQuery:
    return photos.parse_query([("q", text)], TODAY, sees_private=sees_private)
