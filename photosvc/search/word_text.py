"""Word texts: the form in which words of photos are stored, and the search for a term in it.

A word text holds folded words with a blank on both sides; ` , ` stands between sections, so that a phrase never
reaches from one into the next: ` at the lake , summer `. Only this module knows the form.
"""

from collections.abc import Iterable
from itertools import chain, islice
from typing import TypeAlias

from photosvc.query.fold import MOST_WORDS, words_recurring
from photosvc.query.operands import Phrase, Word

Term: TypeAlias = Word | Phrase

_BREAK = ","


def word_text(sections: Iterable[str]) -> str:
    """The word text of these texts: empty and repeated ones are left out, at most `MOST_WORDS` words are kept."""
    folded = dict.fromkeys(found for section in sections if (found := words_recurring(section)))
    every = chain.from_iterable((_BREAK, *found) for found in folded)
    kept = list(islice(every, 1, MOST_WORDS))
    return f" {' '.join(kept)} " if kept else ""


def needles(term: Term) -> tuple[str, ...]:
    """The texts of which a word text contains one if and only if the term matches it."""
    text = term.text if isinstance(term, Word) else " ".join(term.words)
    forms = term.forms if isinstance(term, Word) else ()
    return (f" {text}" if term.prefix else f" {text} ", *(f" {form} " for form in forms))


def gear_name(make: str, model: str) -> str:
    """The name of a camera or lens whose words the filters `camera` and `lens` compare."""
    return f"{make} {model}".strip()
