"""The map of a search: its countries and towns, which lead to their photos also without scripts, and its tiles."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request, url_for

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.data.place_names import country_in
from photosvc.index.gazetteer import country_name
from photosvc.pages.grid import grid_data
from photosvc.pages.language import languages
from photosvc.pages.layout import allow_pictures, page, pages, show_cacheable
from photosvc.pages.search_state import Chip, SearchState, narrowed, read_chips, read_search
from photosvc.query.lexer import quote
from photosvc.search.limits import SearchTooLongError
from photosvc.search.reading.clusters import CountedTown, find_towns
from photosvc.search.reading.photos import PhotoQuery
from photosvc.search.reading.request import parse_request
from photosvc.settings import Settings
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: The most towns shown of a country.
MOST_SHOWN: Final = 40
_ADDRESS: Final = re.compile(r"(?:^|\s)(https?://\S+)$")
_OUTLINE: Final = "Natural Earth"


@dataclass(frozen=True, slots=True)
class Spot:
    """A country or town."""

    name: str
    count: int
    query: str
    """The query that finds its photos within the search."""


@dataclass(frozen=True, slots=True)
class Country:
    """A country and its towns with the most photos."""

    whole: Spot
    towns: list[Spot]
    more: int
    """The number of towns that are not shown."""


def countries_of(counted: Iterable[CountedTown], search: str, languages: Sequence[str] = ()) -> list[Country]:
    """Group towns by country, the countries with the most photos first.

    Args:
        search: the query that found their photos, as `narrowed` gives it.
        languages: those in which countries are named, the preferred one first; else in English.
    """
    towns = defaultdict[str, list[CountedTown]](list)
    for town in counted:
        towns[town.country].append(town)
    countries = [_country(code, members, search, languages) for code, members in towns.items()]
    return sorted(countries, key=lambda country: (-country.whole.count, country.whole.name))


def _country(code: str, members: list[CountedTown], search: str, languages: Sequence[str]) -> Country:
    whole = f"{search} country:{code}".strip()
    named = [town for town in members if town.name]
    spots = [Spot(town.name, town.count, f"{whole} city:{quote(town.name)}") for town in named[:MOST_SHOWN]]
    total = sum(town.count for town in members)
    name = country_in(languages, code) or country_name(code)
    return Country(Spot(name, total, whole), spots, max(0, len(named) - MOST_SHOWN))


@dataclass(frozen=True, slots=True)
class MapSource:
    """The source of a map's tiles, and its credit."""

    tiles: str
    """The address of tiles, with {z}, {x} and {y}; empty: only the outline is shown."""
    origin: str
    """Scheme, host and port of the tiles; empty if this service has them, or there are none."""
    credit: str
    credit_link: str


def map_source(settings: Settings) -> MapSource:
    """Return the source of the tiles from the settings."""
    tiles, credit = settings.map_tiles, settings.map_attribution
    link = _ADDRESS.search(credit)
    text = credit[: link.start()].strip() if link else credit
    origin = "" if tiles.startswith("/") else "/".join(tiles.split("/", 3)[:3])
    if not tiles:
        return MapSource("", "", _OUTLINE, "")
    return MapSource(tiles, origin, text or (link[1] if link else ""), link[1] if link else "")


@pages.get("/places", endpoint="places")
@page("photos.clusters")
def show_places() -> Response:
    """Show the photos of a search on a map, and by country and town."""
    search = read_search(request.args)
    countries, message, status, chips, within = list[Country](), "", 200, list[Chip](), ""
    typed = search.query
    try:
        search_request = parse_request(search.pairs(), current_service().today())
        (chips, typed), within = read_chips(search.query), narrowed(search.query)
        query = PhotoQuery(search_request.node, search_request.album, principal().sees_private, search_request.today)
        with searching(principal().owner_uid) as connection:
            countries = countries_of(find_towns(connection, query), within, languages())
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    source = map_source(current_service().settings)
    answer = show_cacheable(
        "places",
        status,
        search=search,
        query=search.query,
        data=_map_data(search, within, source) if not message else {},
        source=source,
        chips=chips,
        typed=typed,
        countries=countries,
        message=message,
        link=lambda **changes: search.link(**changes).replace(search.address, url_for(".places"), 1),
    )
    if source.origin:
        allow_pictures(answer, source.origin)
    return answer


def _map_data(search: SearchState, within: str, source: MapSource) -> dict[str, Any]:
    """Return the data attributes of the map for its scripts."""
    return {**grid_data(principal(), search), "photos": search.address, "within": within, "tiles": source.tiles}
