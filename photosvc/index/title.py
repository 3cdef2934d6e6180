"""Titles for photos that bring none of their own."""

from photosvc.index.names import title_in
from photosvc.index.places.gazetteer import UNKNOWN, country_name

_LONG = 45


def make_title(*, people: list[str], city: str, country: str, base_name: str, year: int) -> str:
    """People, else place, else the words of the file's name; then the year. `Unknown` when nothing is known."""
    when = str(year) if year > 0 else ""
    where = "" if city in {"", UNKNOWN} else city
    land = country_name(country)
    land = "" if land == UNKNOWN else land
    if 0 < len(people) <= 3:
        parts = [_and(people), where or land, when]
    elif where:
        parts = [where, land if land != where and len(where) + len(land) < _LONG else "", when]
    elif land:
        parts = [land, when]
    else:
        parts = [title_in(base_name) or UNKNOWN, when]
    return " / ".join(filter(None, parts))[:200]


def _and(people: list[str]) -> str:
    return people[0] if len(people) == 1 else ", ".join(people[:-1]) + " & " + people[-1]
