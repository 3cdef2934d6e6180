"""GET parameters that narrow a search down, and their combination with its query."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Final, TypeAlias

from photosvc.core.message import Message
from photosvc.query.areas import locate
from photosvc.query.filters import FILTERS, NAMES, FilterSpec, ValueKind
from photosvc.query.lexer import check_text
from photosvc.query.nodes import Everything, Filter, InvalidQueryError, Node, Not, Span, conjunction, conjuncts, terms
from photosvc.query.parser import BINDERS, MOST_TERMS, parse_query, top_filters
from photosvc.query.reader import read_filter

#: Values by which clients say that a parameter is not set; the numbers only of names, texts, days and areas.
_NO_VALUE: Final = frozenset({"null", "nil"})
_NO_NAME: Final = _NO_VALUE | {"0", "-1"}
_NAMING: Final = frozenset({
    ValueKind.TEXT, ValueKind.PATH, ValueKind.NAME, ValueKind.WORDS, ValueKind.WHOLE_WORDS, ValueKind.ID_OR_WORDS,
    ValueKind.EXTENSION, ValueKind.COUNTRY, ValueKind.COLOR, ValueKind.PROSE, ValueKind.UID, ValueKind.PHOTO,
    ValueKind.NEAR, ValueKind.STATE, ValueKind.ABSENT, ValueKind.TYPE, ValueKind.TAKEN, ValueKind.BEFORE,
    ValueKind.AFTER, ValueKind.SINCE, ValueKind.BOX, ValueKind.CELL, ValueKind.PLUS_CODE,
})  # fmt: skip
Pairs: TypeAlias = Mapping[str, Sequence[str]] | Iterable[tuple[str, str]]


def parse_parameters(pairs: Pairs) -> Node:
    """Parse the GET parameters that name a filter, and return the conjunction of their conditions.

    In the value of a parameter, blanks and parentheses need no quotes. Other names and empty values are ignored, like
    `null` and `nil`, and `0` and `-1` where a name, text, day or area is expected; in quotes they are texts. If a
    parameter is repeated, also by an alias, its last value that counts is taken.

    Raises:
        InvalidQueryError: a value is not valid; the error names its parameter.
    """
    written: dict[str, tuple[str, str]] = {}
    for key, text in _flat(pairs):
        if text.strip() and (spec := NAMES.get(key)) and not _is_not_set(spec, text):
            written[spec.name] = (key, text)
    parts = []
    for name, (key, text) in written.items():
        check_text(text, key)
        parts.append(read_filter(FILTERS[name], text, Span(key, 0, len(text))))
        if sum(map(terms, parts)) > MOST_TERMS:
            raise InvalidQueryError(Message("more than {most} terms", most=MOST_TERMS), field=key)
    return conjunction(parts)


def parse_filter_parameter(pairs: Pairs, today: date) -> Node:
    """Parse the last parameter `filter` that is not empty: a query that narrows the search down.

    Raises:
        InvalidQueryError: the text is not a query.
    """
    texts = [text for key, text in _flat(pairs) if key == "filter" and text.strip()]
    return locate(parse_query(texts[-1], today, "filter")) if texts else Everything()


def combine(query: Node, parameters: Node, unset: Collection[str] = ()) -> Node:
    """Join a query and parameters by `overlay`, and merge their positions by `locate`.

    Raises:
        InvalidQueryError: `lat` or `lng` is given without the other.
    """
    return locate(overlay(query, parameters, unset))


def overlay(query: Node, parameters: Node, unset: Collection[str] = ()) -> Node:
    """Join a query and parameters; a filter at the top of the query replaces parameters of its name.

    Args:
        unset: names of filters that the query mentions without a condition; see `unset_filters`.
    """
    named = {name for part in conjuncts(query) if (name := _name(part))}.union(unset)
    return conjunction([*conjuncts(query), *(p for p in conjuncts(parameters) if _name(p) not in named)])


def unset_filters(text: str) -> frozenset[str]:
    """Return the names of the filters at the top of a valid query, outside of groups, that set no condition.

    Filters such as `public:false` or `quality:0` change nothing by themselves, but because the query has the last word,
    a parameter of the same name no longer counts.
    """
    names = set[str]()
    for before, token, after in top_filters(text):
        spec = NAMES.get(token.key.lower())
        if spec is not None and not any(token and token.kind in BINDERS for token in (before, after)):
            raw = token.text[len(token.key) + 1 :]
            if isinstance(read_filter(spec, raw, Span("q", token.end - len(raw), token.end)), Everything):
                names.add(spec.name)
    return frozenset(names)


def _is_not_set(spec: FilterSpec, text: str) -> bool:
    return text.strip().lower() in (_NO_NAME if spec.kind in _NAMING else _NO_VALUE)


def _flat(pairs: Pairs) -> Iterable[tuple[str, str]]:
    if isinstance(pairs, Mapping):
        return ((key, text) for key, texts in pairs.items() for text in texts)
    return pairs


def _name(node: Node) -> str | None:
    if isinstance(node, Not):
        node = node.part
    return node.name if isinstance(node, Filter) else None
