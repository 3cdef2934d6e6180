"""Words of free text that mean a filter: dates, numbers of cameras, kinds of photos, places and albums.

Each meaning is a query, which explanations show. A single word finds its meaning and itself: `videos` in a title, too.
Several words, such as `june 2019`, find only their meaning. Words in quotes or with a `*` at the end find only
themselves.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import Final

from photosvc.data.place_names import is_frequent_word, is_town, own_names, states
from photosvc.query.fold import fold, word_line, words
from photosvc.query.lexer import ELIDED, quote
from photosvc.query.reader import country_code, country_codes
from photosvc.query.spoken_dates import FIRST_WORDS, LEADING_WORDS, Meaning, read_dates

#: Words for kinds of photos, with the queries that find them. Words such as `people`, `photo` and `orange`, which stand
#: in titles as well, are left out: they would find much of a library.
_KINDS: Final = {
    word: query
    for query, names in (
        ("favorite:true", "starred favoriten favoris favoritos"),
        ("panorama:true", "panorama panoramas panoramen panoramique panoramiques panoramica panoramicas"),
        ("video:true", "video videos"),
        ("lens:front", "selfie selfies"),
        ("camera:dji|parrot|autel|skydio|mavic|drone", "drone drones drohne drohnen dron"),
        ('name:"img-*-wa*"|"vid-*-wa*"', "whatsapp"),
    )
    for word in names.split()
}
#: The numbers that Samsung writes into photos in place of the names of models.
_GALAXIES: Final = {"s10": ("g973", "g975"), "s20": ("g98",), "s21": ("g99",), "s22": ("s90",), "s23": ("s91",),
                    "s24": ("s92",)}  # fmt: skip
_END: Final = r"(?![^ ])"
_STARS: Final = r"(?:stars?|sterne?n?|etoiles?|estrellas?)"
#: Numbers of cameras and other kinds of photos, with the queries that they mean.
_FORMS: Final = tuple(
    (re.compile(form + _END, re.ASCII), query)
    for form, query in (
        (r"iso ?(\d{2,6}(?:-\d{2,6})?)", r"iso:\1"),
        (r"f/(\d{1,2}(?:\.\d{1,2})?)", r"f:\1"),
        (r"f(\d{1,2}\.\d{1,2})", r"f:\1"),
        (r"(\d{1,3}) ?mm", r"mm:\1 | lens:\1mm"),
        (r"1/(\d{1,5})s?", r'exposure:"1/\1"'),
        (r"(\d{4})\.\.(\d{4})", r"year:\1..\2"),
        (rf"([1-5])\+ {_STARS}", r"rating:\1-"),
        (rf"([1-5]) {_STARS}", r"rating:\1"),
        (r"(\d{1,3}) ?(?:mp|megapixel(?:e?s)?)", r"mp:\1"),
    )
)
#: Folded words before the name of a place or the title of an album.
_NEAR: Final = (("near",), ("nahe", "von"), ("nahe",), ("bei",), ("pres", "de"), ("cerca", "de"))
_OF_ELIDED: Final = re.compile("d['\u2019]", re.IGNORECASE)
_IN_ALBUM: Final = (("in", "album"), ("im", "album"), ("dans", "album"), ("en", "album"), ("en", "el", "album"))
_FIRST: Final = frozenset((*FIRST_WORDS, *_KINDS, "iso", "galaxy", *(words[0] for words in (*_NEAR, *_IN_ALBUM))))
#: Words that mean a filter by themselves.
SPOKEN_WORDS: Final = frozenset((*_KINDS, *FIRST_WORDS)) - LEADING_WORDS - {"il", "hace"}
#: Beginnings of words with a meaning, such as `2019`, `'80s`, `iso100`, `f/1.8`.
_SIGNS: Final = re.compile(r"'?\d|iso\d|f/?\d", re.ASCII)
_FOLLOWING: Final = frozenset(("album", "el", "of", "de", "del"))
_PUNCTUATION: Final = ",.;:!?"
#: The most words that are read together, of a date, and of the name of a place.
MOST_WORDS: Final = 12
_MOST_OF_DATE: Final = 9
_MOST_OF_PLACE: Final = 4


def may_mean(word: str) -> bool:
    """Return whether words that mean a filter may begin with this word; a fast test that rules most words out."""
    low = word.lower()
    if low in _FIRST:
        return True
    if low.isascii() and low.isalpha():
        return False
    return bool(_SIGNS.match(low)) or _plain(low) in _FIRST


def _plain(word: str) -> str:
    """Return a word folded, without punctuation at its ends and an elided article."""
    return ELIDED.sub("", fold(word).replace("\u2019", "'").strip(_PUNCTUATION), 1)


def takes_phrase(typed: Sequence[str]) -> bool:
    """Return whether a phrase in quotes behind these words may belong to them."""
    return tuple(map(_plain, typed)) in (*_NEAR, *_IN_ALBUM)


def read_spoken(typed: Sequence[str], today: date) -> Meaning | None:
    """Return the meaning of the first of some words; None if they mean only themselves.

    Args:
        typed: words of a query, as they were typed; a phrase in quotes may follow `near` and `in album`.
    """
    if typed[0].lower() in LEADING_WORDS:  # they mean nothing by themselves
        following = typed[1] if len(typed) > 1 else ""
        if _plain(following) not in _FOLLOWING and not may_mean(following):
            return None
    plain = [_plain(word) for word in typed[:_MOST_OF_DATE]]
    if (before := _beginning_of(plain, _IN_ALBUM)) and len(typed) > before:
        return Meaning(len(typed), f"album:{_beginning(' '.join(typed[before:]))}")
    if before := _beginning_of(plain, _NEAR):
        near = _near(typed[before - 1 :])
        return near and near._replace(words=near.words + before - 1)
    if plain[0] == "pres" and (of := _OF_ELIDED.match(" ".join(typed[1:2]))):  # près d'Avignon
        return _near([typed[0], typed[1][of.end() :], *typed[2:]])
    text = " ".join(plain)
    for form, query in _FORMS:
        if match := form.match(text):
            return Meaning(match[0].count(" ") + 1, match.expand(query))
    if plain[0] == "galaxy" and (models := _GALAXIES.get("".join(plain[1:2]))):
        return Meaning(2, f'"{plain[0]} {plain[1]}" | camera:{"|".join(f"sm-{model}*" for model in models)}')
    if plain[0] in _KINDS:
        return Meaning(1, _KINDS[plain[0]])
    return read_dates(text, today)


def _beginning_of(plain: Sequence[str], beginnings: Iterable[tuple[str, ...]]) -> int:
    """Return the number of words of the beginning that a text has; 0 without one."""
    return next((len(words) for words in beginnings if tuple(plain[: len(words)]) == words), 0)


def _beginning(title: str) -> str:
    """Return the value of `album` for titles that begin with a text; a phrase in quotes is the whole title."""
    quoted = quote(title)
    return title if title.startswith('"') or quoted == title else f'{quoted[:-1]}*"'


def _near(typed: Sequence[str]) -> Meaning | None:
    """Return the surroundings of the place that the words behind `near` name; the longest name counts.

    A frequent English word that names only small places, as in `near lakes`, is not meant as one, unless it is quoted
    or a state or country follows it.
    """
    for length in range(min(len(typed) - 1, _MOST_OF_PLACE), 0, -1):
        name, _, region = " ".join(typed[1 : length + 1]).strip('"').strip(_PUNCTUATION).partition(",")
        town, in_region = words(name), not region or _is_region(word_line(region))
        meant = bool(region) or typed[1].startswith('"') or not is_frequent_word(" ".join(town))
        if town and in_region and meant and is_town(" ".join(town), long=len(town) > 1):
            return Meaning(length + 1, f"near:{quote(f'{name},{region}'.strip(','))}")
    return None


def _is_region(name: str) -> bool:
    return name in _regions() or bool(country_code(name) or own_names(name, "state"))


@lru_cache(1)
def _regions() -> frozenset[str]:
    return frozenset(map(word_line, states())) | country_codes().keys()
