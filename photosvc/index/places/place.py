"""Places as results name them: city, state and country, one label, one stable identifier."""

import hashlib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources

from photosvc.core.ids import BASE62

UNKNOWN = "Unknown"
UNKNOWN_ID = "zz"


@dataclass(frozen=True, slots=True)
class Place:
    """A city, town or village as results name it; only the country when nothing is near."""

    id: str
    """`<country>:<12 base-62 characters>`, the same in every run and on every machine; `zz` unknown."""
    label: str
    """`City, State, Country`, without repetition."""
    city: str
    state: str
    country: str
    """ISO 3166-1 code of two lower-case letters; `zz` unknown."""


UNKNOWN_PLACE = Place(UNKNOWN_ID, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN_ID)


def place_of(city: str, state: str, country: str) -> Place:
    """The place these three texts name; equal texts give equal places."""
    key = f"{country}|{state}|{city}".encode()
    number = int.from_bytes(hashlib.sha256(key).digest()[:12], "big")
    digits = []
    for _ in range(12):
        number, digit = divmod(number, 62)
        digits.append(BASE62[digit])
    return Place(f"{country}:{''.join(digits)}", _label(city, state, country_name(country)), city, state, country)


def country_name(code: str) -> str:
    """The English name of a country code, in either case; `Unknown` when there is none."""
    return _countries().get(code.lower(), UNKNOWN)


def _label(city: str, state: str, country: str) -> str:
    """`City, State, Country`; a state that only repeats its city or country is left out."""
    if _repeats(state, city) or _repeats(state, country) or _repeats(country, state):
        state = ""
    if _fold(city) == _fold(country):
        city = ""
    return ", ".join(filter(None, (city, state, country)))


def _repeats(state: str, name: str) -> bool:
    """Whether the words of `name` stand within `state`: San José, Provincia de San José."""
    return bool(name) and f" {_fold(name)} " in f" {_fold(state)} "


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


@cache
def _countries() -> dict[str, str]:
    lines = resources.files("photosvc.data").joinpath("countries.txt").read_text("utf-8").splitlines()
    return {line[:2].lower(): line[3:] for line in lines}
