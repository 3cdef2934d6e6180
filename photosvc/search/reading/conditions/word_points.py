"""The rank of a photo by its words, for the order `relevance`."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, case, or_, select

from photosvc.models import SearchRow, SearchText
from photosvc.query.nodes import And, Node, Not, Or, conjunction, disjunction
from photosvc.query.operands import Word
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.full_text import has_part
from photosvc.search.word_text import MARKS, Term, in_section, needles

#: Terms that count for the rank; further ones only decide whether a photo matches.
_MOST_RANKED = 16
#: The points of a whole word in each section; a word that only begins so has one less.
_POINTS = {"title": 6, "keywords": 4, "people": 4, "words": 2}


def rank(terms: Iterable[Term], context: Context) -> ColumnElement[int]:
    """The rank of the photo of a search row by its words."""
    return select(points(terms, context)).where(SearchText.photo_id == SearchRow.photo_id).scalar_subquery()


def without_ranks(words: Node, ranked: Sequence[Term], ranks: Collection[int]) -> Node:
    """The query of words without most of the photos with these ranks, as far as the full-text index knows them.

    It knows those that have each term as a whole word of the title, which is the best rank; and of a single term those
    that have it as a whole word among the keywords, or in no section that counts more.
    """
    if not all(isinstance(term, Word) for term in ranked) or len(ranked) > _MOST_RANKED:
        return words
    found: list[Node] = []
    if most_points(ranked) in ranks:
        found.append(conjunction([in_section(_as_whole(term), "title") for term in ranked]))
    if len(ranked) == 1:
        (term,) = ranked
        begun = {section: in_section(term, section) for section in _POINTS if section in MARKS}
        if _POINTS["keywords"] in ranks:
            found.append(And((in_section(_as_whole(term), "keywords"), Not(begun["title"]))))
        if _POINTS["words"] in ranks:
            found.append(And((_as_whole(term), Not(Or(tuple(begun.values()))))))
    return And((words, Not(disjunction(found)))) if found else words


def _as_whole(term: Term) -> Term:
    return replace(term, prefix=False)


def most_points(ranked: Sequence[Term]) -> int:
    """The rank of a photo that has each term as a whole word where it counts most."""
    return max(_POINTS.values()) * len(ranked[:_MOST_RANKED])


def points(ranked: Iterable[Term], context: Context) -> ColumnElement[int]:
    """The rank of a photo by the place of each term: an expression on `SearchText`; whole words count more.

    The sum over the terms of 6 and 5 in the title, 4 and 3 in keywords and names of people, 2 and 1 elsewhere.
    """
    score: Any = 0
    for term in list(ranked)[:_MOST_RANKED]:
        begun, *forms = needles(term)
        whole = begun.rstrip() + " "
        steps = []
        for section, most in _POINTS.items():
            text = getattr(SearchText, section)
            is_whole = or_(*(has_part(text, one, context) for one in (whole, *forms)))
            steps += [(is_whole, most), (has_part(text, begun, context), most - 1)]
        score = score + case(*steps, else_=0)
    found: ColumnElement[int] = score
    return found
