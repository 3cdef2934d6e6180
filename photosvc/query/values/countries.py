"""Countries by their English names."""

from functools import cache
from typing import Final

from photosvc import data
from photosvc.query.fold import words

#: Further names in use, by folded words.
_FURTHER: Final = {
    "america": "us", "britain": "gb", "burma": "mm", "czech republic": "cz", "england": "gb", "great britain": "gb",
    "holland": "nl", "ivory coast": "ci", "scotland": "gb", "swaziland": "sz", "turkiye": "tr", "uae": "ae",
    "uk": "gb", "usa": "us", "united states of america": "us", "vatican": "va", "wales": "gb",
}  # fmt: skip


def country_code(name: str) -> str | None:
    """The ISO 3166-1 code in lower case of a country; None for what is no name of one. Case and accents are ignored."""
    return country_codes().get(" ".join(words(name)))


@cache
def country_codes() -> dict[str, str]:
    """The codes of all countries, by the folded words of their names."""
    lines = data.COUNTRIES.read_text("utf-8").splitlines()
    return _FURTHER | {" ".join(words(line[3:])): line[:2].lower() for line in lines}
