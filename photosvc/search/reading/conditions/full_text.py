"""Conditions on the words of photos.

A condition asks whether `SearchText` contains a substring, on both databases alike. It decides about one photo;
`word_index.matching` finds photos by their words in the full-text index, where the planner asks for it or all rows are
read.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal, or_, select

from photosvc.models import SearchRow, SearchText
from photosvc.models.search.values import RANK_BITS
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import And, Filter, Node, Not, Or, conjunction, disjunction
from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Word
from photosvc.search.reading.conditions.columns import fits
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.word_index import matching
from photosvc.search.word_text import MARKS, Term, in_section, needles

Condition = ColumnElement[bool]


#: Filters with these columns compare columns of `SearchText`; the last one only words, no patterns.
_TEXT_COLUMNS = frozenset({"keywords", "subjects", "description", "place", "title"})
#: The sections of words that filters compare, by the names of their columns.
_SECTIONS = {"subjects": "people"} | {section: section for section in MARKS if section != "people"}


def needed(parts: Iterable[Node]) -> Node | None:
    """What these conjuncts demand of the words of a photo, as a query of words, phrases, `And` and `Or` alone.

    None when photos without any of the words may match too.
    """
    demanded = [one for one in map(_needed, parts) if one is not None]
    return conjunction(demanded) if demanded else None


def _needed(part: Node) -> Node | None:
    match part:
        case Word() | Phrase():
            return part
        case Filter(name, Choice(any_of)) if any_of and (section := _SECTIONS.get(FILTERS[name].columns[0])):
            terms = [in_section(operand, section) for operand in any_of if isinstance(operand, Word | Phrase)]
            return disjunction(terms) if len(terms) == len(any_of) else None
        case And(parts):
            return needed(parts)
        case Or(parts):
            each = [_needed(one) for one in parts]
            return disjunction([one for one in each if one is not None]) if None not in each else None
        case _:
            return None


def is_words(node: Node) -> bool:
    """Whether the full-text index alone decides what the query matches: it has words, `And` and `Or`, no phrases.

    The words may be those of one section, as filters ask for them.
    """
    match node:
        case Word():
            return True
        case And(parts) | Or(parts):
            return all(map(is_words, parts))
        case Filter(name, Choice(any_of, ())) if any_of and FILTERS[name].columns[0] in _SECTIONS:
            return all(isinstance(operand, Word) for operand in any_of)
        case _:
            return False


def is_mixed(node: Node, context: Context) -> bool:
    """Whether the query is any of some words or another condition, as `videos` is: the word or the type video.

    Rows without the other condition would all have their text read. The words are looked up once for all instead.
    """
    if not isinstance(node, Or):
        return False
    others = [part for part in node.parts if not isinstance(part, Word | Phrase)]
    return 0 < len(others) < len(node.parts) and not any(reads_text(part, context) for part in others)


def reads_text(node: Node, context: Context) -> bool:
    """Whether the condition of a query compares columns of `SearchText`; it must then be inside `of_photo`."""
    if context.words_as_sets and is_words(node):
        return False
    match node:
        case Word():
            return True
        case Phrase():
            return True
        case Filter("title", Choice(any_of, none_of)):
            return any(isinstance(operand, Word | Phrase) for operand in any_of + none_of)
        case Filter(name):
            return FILTERS[name].columns[0] in _TEXT_COLUMNS
        case Not(part):
            return reads_text(part, context)
        case Or() if is_mixed(node, context):
            return False
        case And(parts) | Or(parts):
            return any(reads_text(part, context) for part in parts)
        case _:
            return False


def found_by_index(term: Term, context: Context) -> Condition:
    """Whether the photo of a search row has a term; of a phrase, the text is read where it has all of its words."""
    found = by_index(term, context)
    if isinstance(term, Word):
        return found
    return and_(found, of_photo(_has_term(SearchText.words, term, context)))


def of_photo(condition: Condition) -> Condition:
    """A condition on `SearchText`, of the photo of a search row: its text is read once, for all words of a query."""
    # Inside of another such condition, SQLAlchemy would take the text of that one.
    return select(1).where(SearchText.photo_id == SearchRow.photo_id, condition).correlate(SearchRow).exists()


def contains(section: str, term: Term, context: Context) -> Condition:
    """Whether a section of a photo's words contains a term: a condition on `SearchText`.

    Args:
        section: a column of `SearchText`, such as `words` (all of them) or `title`.
        term: a word or phrase.
        context: the database.

    """
    found = _has_term(getattr(SearchText, section), term, context)
    if not context.words_as_sets:
        return found
    return and_(by_index(in_section(term, section) if section in MARKS else term, context), found)


def by_index(words: Node, context: Context) -> Condition:
    """Whether a search row is of a photo that the full-text index finds; for phrases, of one with all their words."""
    photos = matching(needed([words]) or words, {}, context)
    if context.on_postgresql:
        return SearchRow.photo_id.in_(photos)
    # A part of the key, which the covering indexes of all rows contain; `photo_id` is not in them.
    photo_id: ColumnElement[int] = SearchRow.newest_key // 2**RANK_BITS
    return photo_id.in_(photos)


def names_person(name: str, context: Context) -> Condition:
    """Whether a person on the photo has this whole name: a condition on `SearchText`."""
    people: Any = literal(" ,") + SearchText.people + literal(", ")
    return has_part(people, f" , {name} , ", context)


def described_as(item: Operand) -> Condition:
    """Whether the description fits a pattern: a condition on `SearchText`."""
    if not isinstance(item, Pattern):
        raise TypeError(item)
    return fits(SearchText.description_key, item)


def _has_term(text: Any, term: Term, context: Context) -> Condition:  # noqa: ANN401
    return or_(*(has_part(text, needle, context) for needle in needles(term)))


def has_part(text: Any, part: str, context: Context) -> Condition:  # noqa: ANN401
    """Whether a column of `SearchText` contains a text."""
    position = func.strpos if context.on_postgresql else func.instr
    found: Condition = position(text, part) > 0
    return found
