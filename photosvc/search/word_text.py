"""Word texts: the form in which words of photos are stored, and the search for a term in it.

A word text holds folded words with a blank on both sides; ` , ` stands between sections, so that a phrase never
reaches from one into the next: ` at the lake , summer `. Only this module knows the form.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeAlias

from photosvc.query.fold import MOST_WORDS, words_recurring
from photosvc.query.nodes import Phrase, Word

Term: TypeAlias = Word | Phrase

_BREAK: Final = " , "

#: The full-text index has each word of a section once more, after this character. No word contains one.
MARKS: Final = {"title": "\ue001", "keywords": "\ue002", "people": "\ue003", "description": "\ue004", "place": "\ue005"}


#: The most characters of all words of a photo, and of one section: PostgreSQL indexes a megabyte of UTF-8 together.
LONGEST_WORDS: Final = 110_000
LONGEST_SECTION: Final = 25_000


def word_text(sections: Iterable[str], longest: int = LONGEST_SECTION) -> str:
    """Return the word text of these texts without empty and repeated ones.

    Keep at most `MOST_WORDS` words and `longest` characters.
    """
    folded = dict.fromkeys(" ".join(words_recurring(section)) for section in sections)
    folded.pop("", None)
    text = _BREAK.join(folded)
    if text.count(" ") >= MOST_WORDS - 1:
        text = " ".join(text.split(" ", MOST_WORDS - 1)[:-1])
    text = f" {text} " if text else ""
    return text if len(text) <= longest else text[: text.rindex(" ", 0, longest) + 1]


def needles(term: Term) -> tuple[str, ...]:
    """Return the texts of which a word text contains at least one if and only if the term matches it."""
    text = term.text if isinstance(term, Word) else " ".join(term.words)
    forms = term.forms if isinstance(term, Word) else ()
    return (f" {text}" if term.prefix else f" {text} ", *(f" {form} " for form in forms))


def in_section(term: Term, section: str) -> Term:
    """Return the term as the full-text index stores it for one section."""
    mark = MARKS[section]
    if isinstance(term, Word):
        return replace(term, text=mark + term.text, forms=tuple(mark + form for form in term.forms))
    return replace(term, words=tuple(mark + word for word in term.words))


def gear_name(make: str, model: str) -> str:
    """Return the name of a camera or lens whose words the filters `camera` and `lens` compare."""
    return f"{make} {model}".strip()
