"""The words of photos: queries of the full-text index, conditions on `SearchText`, and the rank of a photo.

The full-text index (FTS5 on SQLite, a `tsvector` on PostgreSQL) finds photos where the planner asks for it or all rows
are read. A condition decides about one photo: whether `SearchText` contains a substring, on both databases alike.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_, case, cast, func, literal, literal_column, or_, select
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.expression import column, table
from sqlalchemy.types import UserDefinedType

from photosvc.models import SearchRow, SearchText
from photosvc.models.search import WORD_INDEX, WORD_TERMS
from photosvc.models.search_values import MARKS, RANK_BITS, Term, in_section, needles
from photosvc.query.filters import FILTERS
from photosvc.query.fold import other_forms
from photosvc.query.nodes import (
    And,
    Choice,
    Filter,
    Node,
    Not,
    Or,
    Phrase,
    Word,
    conjunction,
    disjunction,
)
from photosvc.search.reading.columns import Condition, Context

#: Operator of an index between two wanted queries -> the operator before a query whose photos are left out.
_BUT_NOT = {" AND ": " NOT ", " & ": " & !"}
#: Filters with these columns compare columns of `SearchText`; the last one only words, no patterns.
_TEXT_COLUMNS = frozenset({"keywords", "labels", "subjects", "description", "place", "title"})
#: The sections of words that filters compare, by the names of their columns; the words may stand in any of them.
SECTIONS = {"subjects": ("people",), "labels": ("keywords", "seen")} | {
    section: (section,) for section in MARKS if section not in {"people", "seen"}
}


class _TsQuery(UserDefinedType[str]):
    """PostgreSQL's `tsquery`, which can also be written into the text of a statement, to ask for its costs."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the name of the type."""
        return "TSQUERY"

    def literal_processor(self, dialect: Dialect) -> Callable[[str], str]:  # noqa: ARG002 - SQLAlchemy passes it
        """Return the function that quotes a text."""
        return lambda text: "'" + text.replace("'", "''") + "'"


def matching(words: Node, context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy 2.0 and 2.1 differ
    """Return the ids of photos that the full-text index finds; the words of a phrase count in any order.

    Args:
        words: a query of words, phrases, `And` and `Or` alone, as `needed` gives it.
    """
    if context.on_postgresql:
        return select(SearchText.photo_id).where(in_index(words, context))
    index = table(WORD_INDEX, column("rowid"))
    query = _written(words, lambda word, prefix: f'"{word}" *' if prefix else f'"{word}"', " AND ", " OR ")
    return select(index.c.rowid).where(literal_column(WORD_INDEX).op("MATCH")(query))


def in_index(words: Node, context: Context) -> Condition:
    """Return the condition on `SearchText` that the full-text index finds the photo."""
    if not context.on_postgresql:
        return SearchText.photo_id.in_(matching(words, context))
    terms: Any = literal_column(f"{SearchText.__tablename__}.{WORD_TERMS}")
    condition: Condition = terms.op("@@")(cast(as_tsquery(words), _TsQuery))
    return condition


def as_tsquery(words: Node) -> str:
    """Return the words in the query language of PostgreSQL's full-text index."""
    return _written(words, lambda word, prefix: f"'{word}'{':*' if prefix else ''}", " & ", " | ")


def _written(words: Node, written: Callable[[str, bool], str], both: str, either: str) -> str:
    """Return a query of words in the language of an index.

    Negations may stand in an `And`, beside wanted words.
    """
    match words:
        case Word(text, prefix, forms):
            every = [written(text, prefix), *(written(form, False) for form in forms)]
            return f"({either.join(every)})" if forms else every[0]
        case Phrase(parts, prefix):
            return both.join(written(*word) for word in _words(Phrase(parts, prefix)))
        case And(parts):
            wanted = (f"({_written(part, written, both, either)})" for part in parts if not isinstance(part, Not))
            others = (_written(part.part, written, both, either) for part in parts if isinstance(part, Not))
            return both.join(wanted) + "".join(f"{_BUT_NOT[both]}({other})" for other in others)
        case Or(parts):
            return either.join(f"({_written(part, written, both, either)})" for part in parts)
        case _:
            raise TypeError(words)


def _words(term: Term) -> list[tuple[str, bool]]:
    """Return each word of the term, and whether it is a prefix."""
    if isinstance(term, Word):
        return [(term.text, term.prefix)]
    return [*((word, False) for word in term.words[:-1]), (term.words[-1], term.prefix)]


def needed(parts: Iterable[Node]) -> Node | None:
    """Return the words that these conjuncts demand, as a query of words, phrases, `And` and `Or` alone.

    None when photos without any of the words may match too.
    """
    demanded = [words for words in map(_needed, parts) if words is not None]
    return conjunction(demanded) if demanded else None


def _needed(part: Node) -> Node | None:
    match part:
        case Word() | Phrase():
            return part
        case Filter(name, Choice(any_of)) if any_of and (sections := SECTIONS.get(FILTERS[name].columns[0])):
            terms = [operand for operand in any_of if isinstance(operand, Word | Phrase)]
            every = [in_section(term, section) for term in terms for section in sections]
            return disjunction(every) if len(terms) == len(any_of) else None
        case And(parts):
            return needed(parts)
        case Or(parts):
            each = [_needed(part) for part in parts]
            return disjunction([part for part in each if part is not None]) if None not in each else None
        case _:
            return None


def is_words(node: Node) -> bool:
    """Return whether the full-text index alone decides what the query matches.

    It does so for words, `And` and `Or`, but not for phrases. The words may be those of one section, as filters ask for
    them.
    """
    match node:
        case Word():
            return True
        case And(parts) | Or(parts):
            return all(map(is_words, parts))
        case Filter(name, Choice(any_of, ())) if any_of and FILTERS[name].columns[0] in SECTIONS:
            return all(isinstance(operand, Word) for operand in any_of)
        case _:
            return False


def is_mixed(node: Node, context: Context) -> bool:
    """Return whether the query is any of some words or another condition, as `videos`: the word or the type video.

    The text of all rows without the other condition would be read, so the words are looked up once for all instead.
    """
    if not isinstance(node, Or):
        return False
    others = [part for part in node.parts if not isinstance(part, Word | Phrase)]
    return 0 < len(others) < len(node.parts) and not any(reads_text(part, context) for part in others)


def reads_text(node: Node, context: Context) -> bool:
    """Return whether the condition of a query compares `SearchText`; it must then be inside `of_photo`."""
    if context.words_as_sets and is_words(node):
        return False
    match node:
        case Word() | Phrase():
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
    """Return the condition that the photo of a search row has a term.

    For a phrase, the text is read of the photos that have all of its words.
    """
    indexed = by_index(term, context)
    if isinstance(term, Word):
        return indexed
    texts = (SearchText.words, SearchText.seen)
    return and_(indexed, of_photo(or_(*(_has_term(text, term, context) for text in texts))))


def of_photo(condition: Condition) -> Condition:
    """Return a condition on the `SearchText` of a search row's photo, read once for all words of a query."""
    # Inside of another such condition, SQLAlchemy would take the text of that one.
    return select(1).where(SearchText.photo_id == SearchRow.photo_id, condition).correlate(SearchRow).exists()


def contains(section: str, term: Term, context: Context) -> Condition:
    """Return the condition on `SearchText` that a section of a photo's words contains a term.

    Args:
        section: a column of `SearchText`, such as `title`, or `words` for all of them.
    """
    condition = _has_term(getattr(SearchText, section), term, context)
    if section == "words":
        condition = or_(condition, _has_term(SearchText.seen, term, context))
    if not context.words_as_sets:
        return condition
    return and_(by_index(in_section(term, section) if section in MARKS else term, context), condition)


def by_index(words: Node, context: Context) -> Condition:
    """Return the condition that the full-text index finds a row's photo; for phrases, by all their words."""
    photos = matching(needed([words]) or words, context)
    if context.on_postgresql:
        return SearchRow.photo_id.in_(photos)
    # A part of the key, which the covering indexes of all rows contain; `photo_id` is not in them.
    photo_id: ColumnElement[int] = SearchRow.newest_key // 2**RANK_BITS
    return photo_id.in_(photos)


def names_person(name: str, context: Context) -> Condition:
    """Return the condition on `SearchText` that a person on the photo has this whole name."""
    people: Any = literal(" ,") + SearchText.people + literal(", ")
    return has_part(people, f" , {name} , ", context)


def _has_term(text: Any, term: Term, context: Context) -> Condition:  # noqa: ANN401
    return or_(*(has_part(text, needle, context) for needle in needles(term)))


def has_part(text: Any, part: str, context: Context) -> Condition:  # noqa: ANN401
    """Return the condition that a column of `SearchText` contains a text."""
    position = func.strpos if context.on_postgresql else func.instr
    condition: Condition = position(text, part) > 0
    return condition


#: Terms that count for the rank; further ones only decide whether a photo matches.
MOST_RANKED = 16
#: The points of a longer word that begins with a term, in each section.
_BEGUN = {"title": 3, "keywords": 2, "people": 2, "words": 1, "seen": 0}
#: The points of a term as a whole word, in each section. One whole word more outweighs the places of all other terms,
#: at most `MOST_RANKED`.
_WHOLE = {section: most + 2 * MOST_RANKED + 1 for section, most in _BEGUN.items()}


def rank(terms: Iterable[Term], context: Context) -> ColumnElement[int]:
    """Return the rank of the photo of a search row by its words."""
    return select(points(terms, context)).where(SearchText.photo_id == SearchRow.photo_id).scalar_subquery()


def as_whole(term: Term) -> Term:
    """Return the term as a whole word, which the plural of a word is too."""
    if isinstance(term, Word) and term.prefix:
        forms = (*term.forms, *other_forms(term.text, prefix=False))
        return Word(term.text, False, tuple(dict.fromkeys(forms)))
    return replace(term, prefix=False)


def points(ranked: Iterable[Term], context: Context) -> ColumnElement[int]:
    """Return the rank of a photo, the sum of the points of each term, as an expression on `SearchText`.

    A term as a whole word has more points than the beginning of a longer word. Among whole words, and among beginnings,
    a term has most points in the title, fewer in keywords and names of people, and fewer elsewhere; photos that only
    show it come last.
    """
    score: Any = 0
    for term in list(ranked)[:MOST_RANKED]:
        steps = []
        for points_of, texts in ((_WHOLE, needles(as_whole(term))), (_BEGUN, needles(term)[:1])):
            for section, number in points_of.items():
                words = getattr(SearchText, section)
                steps.append((or_(*(has_part(words, text, context) for text in texts)), number))
        score = score + case(*steps, else_=0)
    total: ColumnElement[int] = score
    return total
