"""Countries and their towns, each with the search for its photos."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from photosvc.index.places import country_name
from photosvc.query.lexer import TokenKind, tokens
from photosvc.query.parser import OPERATOR_WORDS, split_order
from photosvc.query.typed import quote
from photosvc.search.reading.overview.towns import Town

#: Towns of a country that are shown.
MOST_SHOWN: Final = 40
_EITHER_WORDS: Final = frozenset(word for word, kind in OPERATOR_WORDS.items() if kind is TokenKind.EITHER)


@dataclass(frozen=True, slots=True)
class Spot:
    """A country or town."""

    name: str
    count: int
    query: str
    """What finds its photos within the search."""


@dataclass(frozen=True, slots=True)
class Country:
    """A country and its towns with the most photos."""

    whole: Spot
    towns: list[Spot]
    more: int
    """Towns that are not shown."""


def countries_of(found: Iterable[Town], search: str) -> list[Country]:
    """The countries of these towns, those with the most photos first.

    Args:
        found: the towns.
        search: the query that found their photos, as `narrowed` gives it.

    """
    towns = defaultdict[str, list[Town]](list)
    for town in found:
        towns[town.country].append(town)
    countries = [_country(code, members, search) for code, members in towns.items()]
    return sorted(countries, key=lambda country: (-country.whole.count, country.whole.name))


def narrowed(query: str) -> str:
    """A valid query, to which a further condition can be added: alternatives in parentheses, without its order."""
    text = split_order(query)[0].strip()
    either = any(one.kind is TokenKind.EITHER or one.text.lower() in _EITHER_WORDS for one in tokens(text))
    return f"({text})" if either else text


def _country(code: str, members: list[Town], search: str) -> Country:
    whole = f"{search} country:{code}".strip()
    named = [town for town in members if town.name]
    spots = [Spot(town.name, town.count, f"{whole} city:{quote(town.name)}") for town in named[:MOST_SHOWN]]
    total = sum(town.count for town in members)
    return Country(Spot(country_name(code), total, whole), spots, max(0, len(named) - MOST_SHOWN))
