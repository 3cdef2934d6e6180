"""Conditions on the words of photos.

A condition asks whether `SearchText` contains a substring, on both databases alike. It decides about one photo;
`matching` finds photos by their words in the full-text index of SQLite, where the planner asks for it or all rows are
read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_, case, cast, func, literal, literal_column, select
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.expression import column, table

from photosvc.models import SearchRow, SearchText
from photosvc.models.search.tables import WORD_INDEX, WORD_TERMS
from photosvc.models.search.values import RANK_BITS
from photosvc.query.operands import Operand, Pattern, Word
from photosvc.search.reading.conditions.columns import fits
from photosvc.search.reading.conditions.context import Context
from photosvc.search.word_text import Term, needle

Condition = ColumnElement[bool]


class _TsQuery(TSQUERY):
    """`TSQUERY` that can also be written into the text of a statement, as `explain` does."""

    def literal_processor(self, dialect: Dialect) -> Callable[[str], str]:  # noqa: ARG002 - SQLAlchemy passes it
        """The function that quotes a text."""
        return lambda text: "'" + text.replace("'", "''") + "'"


#: Terms that count for the rank; further ones only decide whether a photo matches.
_MOST_RANKED = 16


def contains(section: str, terms: Sequence[Term], context: Context) -> Condition:
    """Whether a section of a photo's words contains all of these terms.

    Args:
        section: a column of `SearchText`: `words` (all of them), `title`, `keywords` or `people`.
        terms: words and phrases.
        context: the database.

    """
    found = [_has(getattr(SearchText, section), needle(term), context) for term in terms]
    # A part of the key, which the covering indexes of all rows contain; `photo_id` is not in them.
    photo_id: ColumnElement[int] = SearchRow.newest_key // 2**RANK_BITS
    if context.on_postgresql:
        indexed: Any = literal_column(f"{SearchText.__tablename__}.{WORD_TERMS}")
        found.append(indexed.op("@@")(cast(_tsquery(terms), _TsQuery)))
        if context.words_as_sets:
            return photo_id.in_(select(SearchText.photo_id).where(*found))
    elif context.words_as_sets:
        with_words: Condition = photo_id.in_(matching(terms, {}))
        if section == "words" and all(isinstance(term, Word) for term in terms):
            return with_words
        return and_(with_words, contains(section, terms, replace(context, words_as_sets=False)))
    return select(1).where(SearchText.photo_id == SearchRow.photo_id, *found).exists()


def names_person(name: str, context: Context) -> Condition:
    """Whether a person on the photo has this whole name."""
    people: Any = literal(" ,") + SearchText.people + literal(", ")
    query = select(1).where(SearchText.photo_id == SearchRow.photo_id, _has(people, f" , {name} , ", context))
    return query.exists()


def described_as(item: Operand) -> Condition:
    """Whether the description fits a pattern."""
    if not isinstance(item, Pattern):
        raise TypeError(item)
    query = select(1).where(SearchText.photo_id == SearchRow.photo_id, fits(SearchText.description_key, item))
    return query.exists()


def matching(terms: Iterable[Term], expanded: Mapping[str, Sequence[str]]) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy 2.0 and 2.1 differ
    """SQLite: the ids of photos that contain every word of these terms, in any order, from the full-text index.

    Args:
        terms: words and phrases.
        expanded: the words that some of the `prefixes` stand for; without any, the prefix is left to FTS5.

    """
    found = (
        (_any_of(expanded.get(word, ())) or f'"{word}" *') if prefix else f'"{word}"'
        for word, prefix in _distinct_words(terms)
    )
    index = table(WORD_INDEX, column("rowid"))
    return select(index.c.rowid).where(literal_column(WORD_INDEX).op("MATCH")(" AND ".join(found)))


def prefixes(terms: Iterable[Term]) -> list[str]:
    """The words of these terms that may be the beginning of a longer one."""
    return [word for word, prefix in _distinct_words(terms) if prefix]


def rank(terms: Iterable[Term], context: Context) -> ColumnElement[int]:
    """The rank of a photo by the place of each term; whole words count more than prefixes.

    The sum over the terms of 6 and 5 in the title, 4 and 3 in keywords and names of people, 2 and 1 elsewhere.
    """
    score: Any = 0
    for term in list(terms)[:_MOST_RANKED]:
        begun = needle(term)
        whole = begun.rstrip() + " "
        steps = []
        for section, points in (("title", 6), ("keywords", 4), ("people", 4), ("words", 2)):
            text = getattr(SearchText, section)
            steps += [(_has(text, whole, context), points), (_has(text, begun, context), points - 1)]
        score = score + case(*steps, else_=0)
    return select(score).where(SearchText.photo_id == SearchRow.photo_id).scalar_subquery()


def _has(text: Any, part: str, context: Context) -> Condition:  # noqa: ANN401
    position = func.strpos if context.on_postgresql else func.instr
    found: Condition = position(text, part) > 0
    return found


def _words(term: Term) -> list[tuple[str, bool]]:
    """Each word of the term, and whether it is a prefix."""
    if isinstance(term, Word):
        return [(term.text, term.prefix)]
    return [*((word, False) for word in term.words[:-1]), (term.words[-1], term.prefix)]


def _distinct_words(terms: Iterable[Term]) -> list[tuple[str, bool]]:
    return list(dict.fromkeys(word for term in terms for word in _words(term)))


def _any_of(words: Sequence[str]) -> str:
    return '("' + '" OR "'.join(words) + '")' if words else ""


def _tsquery(terms: Iterable[Term]) -> str:
    return " & ".join(f"'{word}'{':*' if prefix else ''}" for word, prefix in _distinct_words(terms))
