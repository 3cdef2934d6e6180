"""Queries of the full-text index: of FTS5 on SQLite, of a `tsvector` on PostgreSQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, cast, literal_column, select
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.expression import column, table

from photosvc.models import SearchText
from photosvc.models.search.tables import WORD_INDEX, WORD_TERMS
from photosvc.query.nodes import And, Node, Not, Or
from photosvc.query.operands import Phrase, Word
from photosvc.search.reading.conditions.context import Context
from photosvc.search.word_text import Term

Condition = ColumnElement[bool]

#: What stands between a query and another one whose photos are left out, by what stands between two that are wanted.
_BUT_NOT = {" AND ": " NOT ", " & ": " & !"}


class _TsQuery(TSQUERY):
    """`TSQUERY` that can also be written into the text of a statement, as `explain` does."""

    def literal_processor(self, dialect: Dialect) -> Callable[[str], str]:  # noqa: ARG002 - SQLAlchemy passes it
        """The function that quotes a text."""
        return lambda text: "'" + text.replace("'", "''") + "'"


def matching(words: Node, expanded: Mapping[str, Sequence[str]], context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy 2.0 and 2.1 differ
    """The ids of photos that the full-text index finds; the words of a phrase count in any order.

    Args:
        words: a query of words, phrases, `And` and `Or` alone, as `needed` gives it.
        expanded: SQLite: all words that some prefixes stand for; other prefixes are left to the index.
        context: the database.

    """
    if context.on_postgresql:
        return select(SearchText.photo_id).where(in_index(words, context))
    index = table(WORD_INDEX, column("rowid"))

    def written(word: str, prefix: bool) -> str:
        if not prefix or expanded.get(word) == []:  # no word begins with it
            return f'"{word}"'
        return '("' + '" OR "'.join(expanded[word]) + '")' if word in expanded else f'"{word}" *'

    asked = _written(words, written, " AND ", " OR ")
    return select(index.c.rowid).where(literal_column(WORD_INDEX).op("MATCH")(asked))


def in_index(words: Node, context: Context) -> Condition:
    """Whether the full-text index finds a photo: a condition on `SearchText`."""
    if not context.on_postgresql:
        return SearchText.photo_id.in_(matching(words, {}, context))
    terms: Any = literal_column(f"{SearchText.__tablename__}.{WORD_TERMS}")
    found: Condition = terms.op("@@")(cast(as_tsquery(words), _TsQuery))
    return found


def as_tsquery(words: Node) -> str:
    """The words as PostgreSQL's full-text index is asked for them."""
    return _written(words, lambda word, prefix: f"'{word}'{':*' if prefix else ''}", " & ", " | ")


def _written(words: Node, written: Callable[[str, bool], str], both: str, either: str) -> str:
    """A query of words in the language of an index. Negations may stand in an `And`, beside what is wanted."""
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


def whole_words(words: Node) -> Node:
    """The query with every prefix as a whole word: it matches some of the photos."""
    match words:
        case And(parts) | Or(parts):
            return type(words)(tuple(map(whole_words, parts)))
        case Word() | Phrase():
            return replace(words, prefix=False)
        case _:
            raise TypeError(words)


def prefixes(words: Node) -> list[str]:
    """The words of the query that may be the beginning of a longer one, each once."""
    return list(dict.fromkeys(_prefixes(words)))


def _prefixes(words: Node) -> Iterator[str]:
    match words:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _prefixes(part)
        case Word() | Phrase():
            yield from (word for word, prefix in _words(words) if prefix)


def _words(term: Term) -> list[tuple[str, bool]]:
    """Each word of the term, and whether it is a prefix."""
    if isinstance(term, Word):
        return [(term.text, term.prefix)]
    return [*((word, False) for word in term.words[:-1]), (term.words[-1], term.prefix)]
