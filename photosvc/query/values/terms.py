"""The word rule: which words or phrase a piece of text means, in free text and in filter values."""

import unicodedata

from photosvc.query.fold import LONGEST_WORD, words
from photosvc.query.operands import Phrase, Word
from photosvc.query.plural import other_forms

#: Beginnings of the Unicode names of letters that make words of many, and of digits.
_MANY_LETTERS = ("LATIN", "GREEK", "CYRILLIC", "DIGIT", "MODIFIER")


def read_term(text: str, *, quoted: bool, whole: bool = False) -> Word | Phrase | None:
    """The condition for a piece of text; None when it contains neither letter, digit nor emoji.

    Text of several words, quoted or held together by punctuation (`IMG_1234`), is a phrase. The last word may be
    the start of a longer one if the text is not quoted and it is long enough, or if a `*` follows it. A single word
    that is neither quoted nor followed by a `*` also stands for its plural or singular. A `*` in front of words says
    nothing: it is left out.

    Args:
        text: the text.
        quoted: whether it stood in quotes.
        whole: whether a word without a `*` is always a whole one.

    Raises:
        ValueError: a `*` stands between the characters of an unquoted word.

    """
    if text.isascii() and text.isalnum():  # most words: they need neither folding nor splitting
        return _word(text[:LONGEST_WORD].lower(), starred=False, quoted=quoted, whole=whole)
    body = text.rstrip("*")
    if "*" in body.lstrip("*") and not quoted:
        raise ValueError("in free text * may only end a word")
    found = words(body)
    if not found:
        return None
    starred = body != text and not body[-1].isspace()
    if len(found) == 1:
        return _word(found[0], starred=starred, quoted=quoted, whole=whole)
    return Phrase(found, starred or not (quoted or whole or len(found[-1]) < shortest_prefix(found[-1])))


def _word(word: str, *, starred: bool, quoted: bool, whole: bool) -> Word:
    if starred or quoted:
        return Word(word, starred)
    prefix = not whole and len(word) >= shortest_prefix(word)
    return Word(word, prefix, other_forms(word, prefix=prefix))


def shortest_prefix(word: str) -> int:
    """From this many characters on, an unquoted word also stands for the words that start with it.

    Words of two letters are frequent in Latin, Greek and Cyrillic script; in others, such as Hangul, each letter says
    more.
    """
    return 3 if unicodedata.name(word[0], "LATIN").startswith(_MANY_LETTERS) else 2
