"""The page of filters: the values that the photos of a search have, with their numbers, each a link that narrows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flask import Response, request

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.vocabulary import COLORS
from photosvc.pages.filter_words import STARS
from photosvc.pages.language import N_, _, country_label, month_names
from photosvc.pages.layout import page, pages, show_cacheable
from photosvc.pages.search_state import SearchState, chips_of, read_search, with_condition, with_value
from photosvc.pages.wording import COLOR_LABELS, TYPES
from photosvc.query.nodes import Filter, conjunction
from photosvc.search.limits import SearchTooLongError
from photosvc.search.reading.facets import FacetValue, KnownFacets
from photosvc.search.reading.photos import PhotoQuery
from photosvc.search.reading.request import parse_node
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: Values of a group that are shown at once, and after a click.
_FIRST: Final = 12
_MOST: Final = 200
_PRIMARY: Final = Filter("primary", True)


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter with its values."""

    title: str
    facet: str
    name: Callable[[FacetValue], str] = lambda value: value.label
    """Return the name of a value for people; empty if it means unknown."""
    by_label: bool = True
    """True if the filter gets the label of a value, which tells more in the query than the value."""
    in_order: Callable[[FacetValue], int] | None = None
    """Return the place of a value in the list; None: the most frequent are first."""
    foreign: bool = True
    """True if the language of the names is not known, so that pages do not claim it to be English."""


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A value that can be chosen."""

    name: str
    count: int
    href: str
    color: str
    """The class of its colour; empty: it has none."""


@dataclass(frozen=True, slots=True)
class FacetGroup:
    """A group as its template shows it."""

    facet: str
    title: str
    choices: Sequence[FacetChoice]
    rest: Sequence[FacetChoice]
    more: int
    """The number of further values."""
    foreign: bool


def _table(names: Mapping[str, str]) -> Callable[[FacetValue], str]:
    return lambda value: _(names.get(str(value.value), ""))


def _number(value: FacetValue) -> int:
    return int(value.value)


_GROUPS: Final = (
    Facet(N_("Year"), "year", lambda value: value.label if _number(value) > 0 else "", in_order=lambda v: -_number(v)),
    Facet(N_("Month"), "month", lambda value: month_names().get(_number(value), ""), in_order=_number, foreign=False),
    Facet(N_("Country"), "country", lambda value: country_label(str(value.value)), by_label=False, foreign=False),
    Facet(N_("City"), "city"),
    Facet(N_("People"), "person"),
    Facet(N_("Album"), "album"),
    Facet(N_("Kind"), "type", _table(TYPES), foreign=False),
    Facet(N_("Camera"), "camera"),
    Facet(N_("Lens"), "lens"),
    Facet(N_("Color"), "color", lambda value: _(COLOR_LABELS[value.label]), foreign=False),
    Facet(N_("Rating"), "rating", _table(STARS), in_order=lambda value: -_number(value), foreign=False),
)


@pages.get("/filters", endpoint="filters")
@page("photos.facets")
def show_filters() -> Response:
    """Show the values by which the search of the request can be narrowed."""
    search = read_search(request.args)
    groups, message, status = list[FacetGroup](), "", 200
    try:
        groups = _groups(search)
    except (InvalidValueError, NotFoundError, SearchTooLongError) as error:
        message, status = error.message, error.status
    return show_cacheable(
        "filters",
        status,
        search=search,
        chips=[] if message else chips_of(search.query),
        groups=groups,
        message=message,
        link=lambda q: replace(search, query=q).filters,
    )


def _groups(search: SearchState) -> list[FacetGroup]:
    who = principal()
    today = current_service().today()
    node = conjunction([parse_node([("q", search.whole)], today), _PRIMARY])
    with searching(who.owner_uid) as connection:
        facets = [group.facet for group in _GROUPS]
        known = current_service().only(KnownFacets)
        counted = known.count(connection, PhotoQuery(node, search.album, who.sees_private, today), facets)
    if len(counted["year"]) > 1:  # a month of several years is seldom what is looked for
        del counted["month"]
    shown = (_shown(search, group, counted[group.facet]) for group in _GROUPS if group.facet in counted)
    return [group for group in shown if group.choices]


def _shown(search: SearchState, group: Facet, values: Sequence[FacetValue]) -> FacetGroup:
    if group.in_order is not None:
        values = sorted(values, key=group.in_order)
    choices = list(filter(None, (_choice(search, group, value) for value in values)))
    shown, rest, more = choices[:_FIRST], choices[_FIRST:_MOST], max(0, len(choices) - _MOST)
    return FacetGroup(group.facet, group.title, shown, rest, more, group.foreign)


def _choice(search: SearchState, group: Facet, value: FacetValue) -> FacetChoice | None:
    """Return a value with the address of the search that it narrows; None if it means unknown."""
    condition = with_value(group.facet, value.label if group.by_label else str(value.value))
    name = condition and group.name(value)
    if not name:
        return None
    color = f"c{COLORS.index(value.label):x}" if group.facet == "color" else ""
    return FacetChoice(name, value.count, search.link(q=with_condition(search.query, condition)), color)
