"""GET parameters to nodes, and what they and the query text mean together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from photosvc.query.errors import InvalidQueryError
from photosvc.query.filters import FILTERS, NAMES
from photosvc.query.lexer import check
from photosvc.query.nodes import Everything, Filter, Node, Not, Source, conjunction, conjuncts, terms
from photosvc.query.parser import MOST_TERMS, parse_query
from photosvc.query.values.areas import locate
from photosvc.query.values.reader import read_filter

Pairs: TypeAlias = Mapping[str, Sequence[str]] | Iterable[tuple[str, str]]


def parse_parameters(pairs: Pairs) -> Node:
    """The conditions of ordinary GET parameters.

    Each parameter that names a filter has one value of it, in which blanks and parentheses need no quotes. Other names
    and empty values are ignored. Of a repeated parameter (also by an alias) the last value that is not empty counts.

    Raises:
        InvalidQueryError: a value is not valid; names its parameter.

    """
    given: dict[str, tuple[str, str]] = {}
    for key, text in _flat(pairs):
        if text.strip() and (spec := NAMES.get(key)):
            given[spec.name] = (key, text)
    parts = []
    for name, (key, text) in given.items():
        check(text, key)
        parts.append(read_filter(FILTERS[name], text, Source(key, 0, len(text))))
        if sum(map(terms, parts)) > MOST_TERMS:
            raise InvalidQueryError(f"more than {MOST_TERMS} terms", field=key)
    return conjunction(parts)


def parse_scope(pairs: Pairs) -> Node:
    """The query in the parameter `filter`, within which everything else is searched; the last one that is not empty.

    Raises:
        InvalidQueryError: it is not a query.

    """
    texts = [text for key, text in _flat(pairs) if key == "filter" and text.strip()]
    return locate(parse_query(texts[-1], field="filter")) if texts else Everything()


def combine(query: Node, parameters: Node) -> Node:
    """The query with the conditions of both: `overlay`, then `locate`.

    Raises:
        InvalidQueryError: see `locate`.

    """
    return locate(overlay(query, parameters))


def overlay(query: Node, parameters: Node) -> Node:
    """The conditions of both; a filter at the top of `query` replaces parameters of the same name."""
    named = {name for part in conjuncts(query) if (name := _name(part))}
    return conjunction([*conjuncts(query), *(p for p in conjuncts(parameters) if _name(p) not in named)])


def _flat(pairs: Pairs) -> Iterable[tuple[str, str]]:
    if isinstance(pairs, Mapping):
        return ((key, text) for key, texts in pairs.items() for text in texts)
    return pairs


def _name(node: Node) -> str | None:
    if isinstance(node, Not):
        node = node.part
    return node.name if isinstance(node, Filter) else None
