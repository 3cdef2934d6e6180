"""Folding: how text is made comparable, both when it is indexed and when it is searched.

Both databases store and compare folded words, so their own rules for case, accents and word boundaries do not matter.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import islice
from typing import Final

LONGEST_WORD = 64
"""Characters of a word that count; the rest is cut, both in the index and in queries."""

MOST_WORDS = 4096
LONGEST_TEXT = 65_536

#: Characters of a text that is remembered at most, and how many are.
_SHORT: Final = 80
_REMEMBERED: Final = 2048

#: Letters that Unicode does not decompose, as people type them on other keyboards; and invisible characters (soft
#: hyphen, joiners, variation selectors, tags) and skin tones of emoji, that would split words.
_PLAIN = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
        "ŧ": "t", "ŋ": "n", "ı": "i", "ĸ": "k", "ƒ": "f", "ɨ": "i", "ɵ": "o", "ə": "e",
    }
    | dict.fromkeys(map(chr, (0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400),
                         *range(0xE0020, 0xE0080))), "")
)  # fmt: skip

#: Scripts written without blanks: each character is a word, and a run of them a phrase.
_UNSPACED = "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"

#: Vowel signs of Indic and other scripts: parts of words although Unicode does not class them as letters.
_SIGNS = "".join(
    chr(code)
    for code in (*range(0x0900, 0x1D00), *range(0xA800, 0xAC00))
    if unicodedata.category(chr(code)).startswith("M") and not unicodedata.combining(chr(code))
)

#: Emoji and other pictorial signs, those of later versions of Unicode too: each is a word.
_PICTURES = "".join(
    chr(code)
    for code in (*range(0x2300, 0x2C00), *range(0x1F000, 0x1FB00))
    if unicodedata.category(chr(code)) in {"So", "Cn"}
)

_BLANKS = re.compile(r"\s+")
#: The large sets are looked at only where a character may be in them: `re` compares it with all their ranges.
_WORD = re.compile(
    rf"(?=\w)[{_UNSPACED}]"
    rf"|[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|(?=[^\0-\u08ff])[{_SIGNS}])*"
    rf"|(?=[^\0-\u22ff])[{_PICTURES}]"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def fold(text: str) -> str:
    """`text` without case, accents and typographic variants; folding twice gives the same as folding once.

    Compatibility decomposition (Unicode NFKD), full case folding, combining marks dropped, letters such as ø and ł
    replaced by plain ones, runs of blanks by one blank. At most `LONGEST_TEXT` characters are read.
    """
    text = text[:LONGEST_TEXT]
    if text.isascii():
        return _BLANKS.sub(" ", text).lower()
    bare = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    letters = "".join(c for c in bare if not unicodedata.combining(c)).translate(_PLAIN)
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", letters))


def words(text: str, limit: int = MOST_WORDS) -> tuple[str, ...]:
    """The folded words of `text` in order: runs of letters and digits, and emoji, at most `limit` of them."""
    folded = fold(text)
    pattern = _ASCII_WORD if folded.isascii() else _WORD
    return tuple([match[0][:LONGEST_WORD] for match in islice(pattern.finditer(folded), limit)])


def fold_recurring(text: str) -> str:
    """`fold`, remembered for a short text: for names of places and folders, which recur with every photo."""
    return _remembered_fold(text) if len(text) <= _SHORT else fold(text)


def words_recurring(text: str) -> tuple[str, ...]:
    """`words`, remembered for a short text."""
    return _remembered_words(text) if len(text) <= _SHORT else words(text)


_remembered_fold = lru_cache(_REMEMBERED)(fold)
_remembered_words = lru_cache(_REMEMBERED)(words)
