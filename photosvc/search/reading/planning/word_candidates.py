"""The photos that the words of a query find by the full-text index."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, select

from photosvc.query.nodes import Node, terms
from photosvc.search.reading.conditions import full_text, word_index
from photosvc.search.reading.conditions.columns import select_ids
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.planning.counting import Candidates, Counter
from photosvc.search.reading.planning.vocabulary import estimate, expand, find_by_index, have_more

#: Prefixes of many words that are looked up without counting their photos first.
_FEW_PREFIXES = 4
#: Photos whose ranks are compared by sorting all of them.
_MOST_RANKED = 8000
#: Photos that the index may merge for all such prefixes, as a multiple of the limit.
_MERGED = 8


def expected(parts: Sequence[Node], context: Context, connection: Connection, counter: Counter) -> Candidates | None:
    """PostgreSQL: the photos that the words of these conjuncts find, if it expects few.

    Of frequent words it would compare the index's text of each row that it walks, which costs more than a substring.
    What it expects of any of several words may be far too much, as it knows the shares of frequent words only.
    """
    words = full_text.needed(parts)
    if words is None:
        return None
    found = _found_by(words, parts, {}, context)
    asked = word_index.as_tsquery(words)
    number = estimate(asked, connection)
    if number > counter.limit and terms(words) > 1:
        ids = find_by_index(asked, counter.limit + 1, connection)
        number = len(ids)
        found = replace(found, photos=select_ids(ids, context))
    return found if counter.record(found, number) <= counter.limit else None


def with_words(parts: Sequence[Node], context: Context, connection: Connection) -> Candidates | None:
    """The photos that the words of these conjuncts find, however many; None without words."""
    words = full_text.needed(parts)
    if words is None:
        return None
    expanded = {} if context.on_postgresql else expand(word_index.prefixes(words), connection)
    return _found_by(words, parts, expanded, context)


def are_many(candidates: Candidates, context: Context, connection: Connection) -> bool:
    """Whether words find so many photos that not all of them should be sorted."""
    if context.on_postgresql:
        return estimate(word_index.as_tsquery(candidates.parts[0]), connection) > _MOST_RANKED
    some = candidates.photos.limit(_MOST_RANKED + 1).subquery()
    return (connection.scalar(select(func.count()).select_from(some)) or 0) > _MOST_RANKED


def _found_by(words: Node, parts: Sequence[Node], expanded: Mapping[str, list[str]], context: Context) -> Candidates:
    exact = tuple(part for part in parts if full_text.is_words(part))
    return Candidates((words,), word_index.matching(words, expanded, context), exact)


def few_with(
    words: Node, parts: Sequence[Node], context: Context, connection: Connection, counter: Counter
) -> Iterator[Candidates]:
    """The candidates that these words find, unless a glance at the index shows that they are many."""
    # Words that have more photos than the limit as whole words have even more as prefixes.
    whole = word_index.whole_words(words)
    if counter.count(Candidates((whole,), word_index.matching(whole, {}, context))) > counter.limit:
        return
    prefixes = word_index.prefixes(words)
    expanded = expand(prefixes, connection)
    wide = [prefix for prefix in prefixes if prefix not in expanded]
    if len(wide) <= _FEW_PREFIXES or not have_more(wide, counter.limit * _MERGED, connection):
        yield _found_by(words, parts, expanded, context)
