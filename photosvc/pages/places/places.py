"""The map of a search. Without scripts, its countries and towns lead to their photos."""

from typing import Any

from flask import Blueprint, Response, request, url_for

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.pages.layout import allow_pictures, page, show
from photosvc.pages.photos.asked import Asked, read_asked
from photosvc.pages.photos.chips import Chip, chips_of
from photosvc.pages.photos.grid_data import grid_data
from photosvc.pages.places.countries import Country, countries_of, narrowed
from photosvc.pages.places.map_source import MapSource, map_source
from photosvc.search.limits.errors import SearchTooLongError
from photosvc.search.reading.overview.photos import PhotoQuery
from photosvc.search.reading.overview.towns import find_towns
from photosvc.search.reading.request import parse_request
from photosvc.web.actions import is_mounted
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searches.searching import searching


def add_routes(pages: Blueprint) -> None:
    """Add the map to the pages."""
    pages.add_url_rule("/places", "places", show_places, methods=["GET"])


@page("photos.clusters")
def show_places() -> Response:
    """The photos of a search on a map, and by country and town."""
    search = read_asked(request.args)
    countries, message, status, chips, within = list[Country](), "", 200, list[Chip](), ""
    try:
        asked = parse_request(search.pairs())
        chips, within = chips_of(search.query), narrowed(search.query)
        countries = _countries(PhotoQuery(asked.node, asked.album, principal().sees_private), within)
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    source = map_source(current_service().settings)
    answer = show(
        "places",
        status,
        search=search,
        query=search.query,
        data=_map_data(search, within, source) if not message else {},
        source=source,
        chips=chips,
        countries=countries,
        message=message,
        link=lambda **changes: search.link(**changes).replace(search.address, url_for(".places"), 1),
    )
    if source.origin:
        allow_pictures(answer, source.origin)
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


def _countries(query: PhotoQuery, within: str) -> list[Country]:
    with searching(principal().owner_uid) as connection:
        return countries_of(find_towns(connection, query), within)


def _map_data(search: Asked, within: str, source: MapSource) -> dict[str, Any]:
    """What the scripts of the map need to know; nothing where the API that they call is not mounted."""
    if not is_mounted("photos.clusters"):
        return {}
    data = grid_data(principal(), search)
    return data and {**data, "photos": search.address, "within": within, "tiles": source.tiles}
