"""Plain words with a meaning of their own: `videos` is also the filter `video:true`, and `the` is left out.

A word is plain when it is neither quoted nor ends in `*`.
"""

import re
from typing import Final

from photosvc.core.values.colors import COLOR_NUMBERS
from photosvc.query.errors import InvalidQueryError, shown
from photosvc.query.filters import FILTERS, NAMES
from photosvc.query.nodes import Node, Source
from photosvc.query.values.reader import read_filter

#: Articles, prepositions and `and`: left out of a query that has other words.
LITTLE_WORDS: Final = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"))

#: Words that people write for a kind of photos, and the filter with which these are found.
_MAGIC: Final = {
    "animated": "animated", "gif": "animated", "gifs": "animated",
    "audio": "audio", "sound": "audio", "sounds": "audio",
    "document": "document", "documents": "document",
    "faces": "faces", "people": "faces",
    "favorite": "favorite", "favorites": "favorite", "favourite": "favorite", "favourites": "favorite",
    "live": "live",
    "mono": "mono", "monochrome": "mono",
    "panorama": "panorama", "panoramas": "panorama",
    "photo": "photo", "photos": "photo", "picture": "photo", "pictures": "photo",
    "raw": "raw", "raws": "raw",
    "scan": "scan", "scans": "scan",
    "stack": "stack", "stacks": "stack",
    "vector": "vector", "vectors": "vector",
    "video": "video", "videos": "video",
}  # fmt: skip
MAGIC_WORDS: Final = {word: (name, "true") for word, name in _MAGIC.items()} | {
    color: ("color", color) for color in COLOR_NUMBERS
}

_APERTURE: Final = re.compile(r"f/(\d{1,2}(?:\.\d{1,2})?)", re.ASCII | re.IGNORECASE)
_YEARS: Final = re.compile(r"\d{4}\.\.\d{4}", re.ASCII)
#: A comparison without a colon, or without the name of what is compared.
_COMPARISON: Final = re.compile(r"(?P<key>[^\W\d_][\w-]*+)?(?P<sign>[<>]=?|=)(?P<value>.*)", re.DOTALL)


def also_means(text: str, word: str, source: Source) -> Node | None:
    """The filter that a plain word also means, or None: `text` as it was typed, `word` as it is searched for.

    `Vidéos` and `videos:` are searched for as `videos`, so they mean the same filter too.
    """
    name, value = MAGIC_WORDS.get(word, ("", ""))
    if aperture := _APERTURE.fullmatch(text):
        name, value = "f", aperture[1]
    elif _YEARS.fullmatch(text):
        name, value = "year", text
    return read_filter(FILTERS[name], value, source) if name else None


def refuse_comparison(word: str, source: Source) -> None:
    """Refuse `iso>800` and `>800`, which are meant as filters and not as words to find.

    Raises:
        InvalidQueryError: the word is such a comparison; says how it is written.

    """
    found = _COMPARISON.fullmatch(word)
    if found is None:
        return
    key, sign, value = found["key"], found["sign"].removeprefix("="), found["value"]
    if key and key.lower() in NAMES:
        msg = f"{shown(word)} is neither a word nor a filter; did you mean {key.lower()}:{shown(sign + value)[1:-1]}?"
    elif not key and sign and value[:1].isdecimal():
        msg = f"{shown(word)} compares nothing; write the name of a filter before it, as in iso:>800"
    else:
        return
    raise InvalidQueryError(msg, field=source.field, position=source.start)
