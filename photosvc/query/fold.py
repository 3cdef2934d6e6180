"""Folding of text for comparison, in the index and in queries, and other forms of words.

The databases store and compare folded words, so that their own rules for case, accents and word boundaries do not
matter.

In free text, an English plural and its singular stand for each other. The databases compare plain words, so that a
query names the other forms. A rule may give a form that is no word, such as `leafe` for `leaves`; it does no harm,
because no text contains it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby, islice
from typing import Final

LONGEST_WORD = 64
"""Characters to which a word is cut, both in the index and in queries."""
MOST_WORDS = 4096
LONGEST_TEXT = 65_536
#: Scripts without blanks between words: each character is a word, and a run of characters a phrase.
_UNSPACED = "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
#: Letters of Thai, Lao, Burmese and Khmer, which have no blanks between words: a consonant with the vowels around it is
#: a word, and a run of such clusters a phrase.
_LEADING_VOWELS: Final = "\u0e40-\u0e44\u0ec0-\u0ec4"
_TRAILING_VOWELS: Final = "\u0e30-\u0e3a\u0e45\u0eb0-\u0ebd"
_CONSONANTS: Final = (
    "\u0e01-\u0e2f\u0e46\u0e81-\u0eaf\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u17d7"
)
_CLUSTERED: Final = _LEADING_VOWELS + _TRAILING_VOWELS + _CONSONANTS


def _ranges(codes: Iterable[int]) -> str:
    """Return ascending code points as ranges for a set of `re`, which compares a character with each range."""
    runs = groupby(enumerate(codes), lambda numbered: numbered[1] - numbered[0])
    ends = ((run[0][1], run[-1][1]) for run in (list(numbered) for _, numbered in runs))
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ends)


#: Emoji and other pictorial signs, also of later versions of Unicode: each is a word.
_PICTURES = _ranges(
    code
    for code in (*range(0x2300, 0x2C00), *range(0x1F000, 0x1FB00))
    if unicodedata.category(chr(code)) in {"So", "Cn"}
)
#: Umlauts in German spelling without their letters; in `neue`, `Frauen` and `Quelle`, `ue` is none.
_SPELLED_OUT = re.compile(r"ae|oe|(?<![aeq])ue")
_SPELLING = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_BLANKS = re.compile(r"\s+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_SHORTEST: Final = 3
_IRREGULAR: Final = {
    "child": "children", "foot": "feet", "goose": "geese", "man": "men", "mouse": "mice", "ox": "oxen",
    "person": "people", "tooth": "teeth",
}  # fmt: skip
_REGULAR: Final = {plural: singular for singular, plural in _IRREGULAR.items()}
#: Endings of plurals, of which the first that fits applies, and the singular endings that may replace them.
_PLURALS: Final = (
    ("ies", ("y", "ie")), ("ves", ("f", "fe", "ve")), ("ses", ("s", "se")), ("xes", ("x", "xe")), ("zes", ("z", "ze")),
    ("ches", ("ch", "che")), ("shes", ("sh",)), ("oes", ("o", "oe")), ("men", ("man",)), ("ss", ()), ("us", ()),
    ("is", ()), ("s", ("",)),
)  # fmt: skip
#: Endings of singulars, of which the first that fits applies, and the plural endings that may replace them.
_SINGULARS: Final = (
    *((f"{vowel}y", (f"{vowel}ys",)) for vowel in "aeou"),
    ("y", ("ies", "ys")), ("fe", ("ves", "fes")), ("f", ("ves", "fs")), ("man", ("men", "mans")),
    *((sibilant, (f"{sibilant}es",)) for sibilant in ("s", "x", "z", "ch", "sh")),
    ("o", ("oes", "os")), ("", ("s",)),
)  # fmt: skip


#: Letters that Unicode does not decompose, with the letters that people type instead. Invisible characters (soft
#: hyphen, joiners, variation selectors, tags) and skin tones of emoji, which would split words, are removed.
_PLAIN = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
        "ŧ": "t", "ŋ": "n", "ı": "i", "ĸ": "k", "ƒ": "f", "ɨ": "i", "ɵ": "o", "ə": "e",
    }
    | dict.fromkeys(map(chr, (0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400),
                         *range(0xE0020, 0xE0080))), "")
)  # fmt: skip
#: Vowel signs of Indic and other scripts: parts of words, although Unicode does not class them as letters.
_SIGNS = _ranges(
    code
    for code in (*range(0x0900, 0x1D00), *range(0xA800, 0xAC00))
    if unicodedata.category(chr(code)).startswith("M") and not unicodedata.combining(chr(code))
)
#: A lookahead guards each large set, because `re` compares a character with all ranges of a set.
_WORD = re.compile(
    rf"(?=\w)[{_UNSPACED}]"
    rf"|(?=[\u0e00-\u17ff])(?:[{_LEADING_VOWELS}]?[{_CONSONANTS}][{_TRAILING_VOWELS}{_SIGNS}]*|(?=\w)[{_CLUSTERED}])"
    rf"|[^\W_{_UNSPACED}{_CLUSTERED}](?:[^\W_{_UNSPACED}{_CLUSTERED}]|(?=[^\0-\u08ff])[{_SIGNS}])*"
    rf"|(?=[^\0-\u22ff])[{_PICTURES}]"
)


def fold(text: str) -> str:
    """Return `text` without case, accents and typographic variants; folding twice gives the same as folding once.

    Compatibility decomposition (Unicode NFKD), full case folding, combining marks dropped, letters such as ø and ł
    replaced by plain ones, runs of blanks by one blank. At most `LONGEST_TEXT` characters are read.
    """
    text = text[:LONGEST_TEXT]
    if text.isascii():
        return _BLANKS.sub(" ", text).lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    letters = "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_PLAIN)
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", letters))


def words(text: str, limit: int = MOST_WORDS) -> tuple[str, ...]:
    """Return the folded words of `text` in order: runs of letters and digits, and emoji, at most `limit`."""
    folded = fold(text)
    pattern = _ASCII_WORD if folded.isascii() else _WORD
    return tuple([match[0][:LONGEST_WORD] for match in islice(pattern.finditer(folded), limit)])


def word_line(text: str) -> str:
    """Return the folded words of `text` with single blanks between them, as names are compared and looked up."""
    return " ".join(words(text))


@lru_cache(2048)
def other_forms(word: str, *, prefix: bool) -> tuple[str, ...]:
    """Return the singular of a folded English plural, else the plural; nothing for words with other letters.

    Args:
        prefix: true if the word already stands for all words that begin with it.
    """
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return ()
    forms = tuple(_singulars(word)) or tuple(_plurals(word))
    return tuple(form for form in forms if len(form) > 1 and not (prefix and form.startswith(word)))


def umlaut_forms(word: str) -> tuple[str, ...]:
    """Return the folded form of a word with umlauts spelled out, or the other way around.

    Folding leaves `muenchen` unchanged and makes `munchen` of `münchen`: each word gives the folded form of the other.
    """
    if word.isascii():
        other = _SPELLED_OUT.sub(lambda umlaut: umlaut[0][0], word)
        return (other,) if other != word else ()
    composed = unicodedata.normalize("NFC", word)
    spelled = composed.translate(_SPELLING)
    return words(spelled)[:1] if spelled != composed else ()


def _singulars(word: str) -> Iterator[str]:
    if word in _REGULAR:
        yield _REGULAR[word]
    elif len(word) > _SHORTEST:
        ending, singulars = next((row for row in _PLURALS if word.endswith(row[0])), ("", ()))
        yield from (word.removesuffix(ending) + singular for singular in singulars)


def _plurals(word: str) -> Iterator[str]:
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    else:
        ending, plurals = next(row for row in _SINGULARS if word.endswith(row[0]))
        yield from (word.removesuffix(ending) + plural for plural in plurals)
