"""Free text as conditions: the word rule, the same for words of the query and for values made of words."""

from photosvc.query.fold import LONGEST_WORD, words
from photosvc.query.items import Phrase, Word

SHORTEST_PREFIX = 3
"""From this many characters on, an unquoted word also stands for the words that start with it."""


def read_term(text: str, *, quoted: bool) -> Word | Phrase | None:
    """The condition that a piece of text makes; None when it holds neither letter nor digit.

    Text of several words, quoted or held together by punctuation (`IMG_1234`), is a phrase. The last word may be
    the start of a longer one if the text is not quoted and it has three characters, or if a `*` follows it.

    Raises:
        ValueError: a `*` stands before the end of an unquoted word.

    """
    if text.isascii() and text.isalnum():  # most words: nothing to fold or to part
        return Word(text[:LONGEST_WORD].lower(), prefix=not quoted and len(text) >= SHORTEST_PREFIX)
    body = text.rstrip("*")
    if "*" in body and not quoted:
        raise ValueError("in free text * may only end a word")
    found = words(body)
    if not found:
        return None
    starred = body != text and not body[-1].isspace()
    prefix = starred or (not quoted and len(found[-1]) >= SHORTEST_PREFIX)
    return Word(found[0], prefix) if len(found) == 1 else Phrase(found, prefix)
