"""The photos that the index of values finds when it is read from end to end.

A walk along an order reads whole rows, one by one in places far apart, until the page is full. Where few photos match,
that is all of them: 270 ms for 200,000 files. The index of values has a fifth of the size of the rows and lies
together, so all of it is read in a tenth of the time. A walk therefore ends after a part of the library (see
`most_walked`); if the page is not full by then, the index of values finds the photos that match.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import select

from photosvc.models import FILTER_COLUMNS, SCANNED_COLUMNS, SearchRow
from photosvc.models.search.values import RANK_BITS
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import And, Everything, Filter, Node, Not, Nothing, Or
from photosvc.query.operands import Word
from photosvc.search.reading.conditions import full_text
from photosvc.search.reading.conditions.compile import compile_all
from photosvc.search.reading.conditions.context import Context

#: The part of the library that is walked before the index of values is read: about as long as that takes.
_PART: Final = 20
#: Rows that are walked for each row of the page at least.
_LEAST: Final = 10

_SCANNED: Final = frozenset((*SCANNED_COLUMNS, "private"))


def most_walked(photos: int, rows_needed: int) -> int | None:
    """How many rows of a library of so many photos are walked for so many rows of a page; None: all."""
    rows = max(photos // _PART, _LEAST * rows_needed)
    return rows if rows * 2 < photos else None


def scan_values(parts: Sequence[Node], context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The SELECT of the ids of all photos that match these conjuncts, and maybe further ones; None without an index."""
    scanned = sorted((part for part in parts if is_scanned(part, context)), key=full_text.is_words)
    if context.opened or not scanned:  # the index has only listed rows
        return None
    found = select(SearchRow.newest_key // 2**RANK_BITS)  # words are looked up last, for the rows that are left
    return found.where(SearchRow.listed, compile_all(scanned, replace(context, words_as_sets=True)))


def is_scanned(node: Node, context: Context) -> bool:
    """Whether the index of values, on SQLite with the one of words, decides alone what a query matches.

    PostgreSQL would read the rows of all photos with the words instead.
    """
    match node:
        case Everything() | Nothing():
            return True
        case Word() | Filter() if full_text.is_words(node):
            return not context.on_postgresql
        case Filter("unsorted") if not context.sees_private:  # its column counts private albums too
            return False
        case Filter(name):
            return _SCANNED.issuperset(FILTER_COLUMNS.get(column, column) for column in FILTERS[name].columns)
        case Not(part):
            return is_scanned(part, context)
        case And(parts) | Or(parts):
            return all(is_scanned(part, context) for part in parts)
        case _:
            return False
