"""Conditions on the words of photos.

Every one is a substring of `SearchText`, on both databases alike; which photos to look at is then the planner's
affair: `matching` asks the full-text index for the few that have a rare word.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, case, cast, func, literal, literal_column, select
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.sql.expression import column, table

from photosvc.models import SearchRow, SearchText
from photosvc.models.search.text import WORD_INDEX, WORD_TERMS, WORD_VOCABULARY
from photosvc.query.operands import Operand, Pattern, Word
from photosvc.search.reading.conditions.columns import LAST, fits
from photosvc.search.reading.conditions.context import Context
from photosvc.search.word_text import Term, needle

Condition = ColumnElement[bool]

_MOST_RANKED = 16

#: Words that a beginning may stand for before FTS5 looks them up by itself.
_MOST_NAMED = 64


def contains(section: str, terms: Sequence[Term], context: Context) -> Condition:
    """Whether a photo's words, or its `title`, `keywords` or `people`, have all of these terms."""
    found = [_has(getattr(SearchText, section), needle(term), context) for term in terms]
    query = select(1).where(SearchText.photo_id == SearchRow.photo_id, *found)
    if context.on_postgresql:
        indexed: Any = literal_column(f"{SearchText.__tablename__}.{WORD_TERMS}")
        query = query.where(indexed.op("@@")(cast(_tsquery(terms), TSQUERY)))
    return query.exists()


def named(name: str, context: Context) -> Condition:
    """Whether somebody on the photo has this whole name."""
    people: Any = literal(" ,") + SearchText.people + literal(", ")
    query = select(1).where(SearchText.photo_id == SearchRow.photo_id, _has(people, f" , {name} , ", context))
    return query.exists()


def described_as(item: Operand, _context: Context) -> Condition:
    """Whether the description fits a pattern."""
    if not isinstance(item, Pattern):
        raise TypeError(item)
    query = select(1).where(SearchText.photo_id == SearchRow.photo_id, fits(SearchText.description_key, item))
    return query.exists()


def matching(terms: Iterable[Term], context: Context, *, whole: bool = False) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy 2.0 and 2.1 differ
    """SQLite: the ids of photos that have all words of these terms, in any order, from the full-text index.

    With `whole` only those that have the words as they stand, not longer ones that begin so.
    """
    words = dict.fromkeys(word for term in terms for word in _words(term))
    found = (_longer(word, context) if prefix and not whole else f'"{word}"' for word, prefix in words)
    index = table(WORD_INDEX, column("rowid"))
    return select(index.c.rowid).where(literal_column(WORD_INDEX).op("MATCH")(" AND ".join(found)))


def rank(terms: Iterable[Term], context: Context) -> ColumnElement[int]:
    """How well a photo fits: where each term stands, whole words before beginnings of words.

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
    """Each word, and whether it may be the beginning of a longer one."""
    if isinstance(term, Word):
        return [(term.text, term.prefix)]
    return [*((word, False) for word in term.words[:-1]), (term.words[-1], term.prefix)]


def _longer(beginning: str, context: Context) -> str:
    """Any word that begins so.

    Before it gives the first photo, FTS5 merges those of all words that begin alike; those of words that are named it
    reads as far as they are wanted.
    """
    term: ColumnElement[str] = literal_column("term")
    known = select(term).select_from(table(WORD_VOCABULARY)).where(term >= beginning, term <= beginning + LAST)
    found = context.connection.scalars(known.limit(_MOST_NAMED + 1)).all()
    if not found or len(found) > _MOST_NAMED:
        return f'"{beginning}" *'
    return '("' + '" OR "'.join(found) + '")'


def _tsquery(terms: Iterable[Term]) -> str:
    words = dict.fromkeys(word for term in terms for word in _words(term))
    return " & ".join(f"'{word}'{':*' if prefix else ''}" for word, prefix in words)
