"""Filters that a query names without a condition, such as `public:false` or `quality:0`.

They change nothing by themselves, but the query has the last word: a parameter of the same name no longer counts.
"""

from itertools import islice

from photosvc.query.filters import NAMES
from photosvc.query.lexer import TokenKind, close_quote, tokens
from photosvc.query.nodes import Everything, Source
from photosvc.query.reader import read_filter

_BINDERS = {TokenKind.EITHER, TokenKind.NEGATE}


def unset_filters(text: str, most_tokens: int) -> frozenset[str]:
    """Return the names of the filters that stand at the top of a query, outside of groups, and set no condition.

    Args:
        text: a query that was parsed without an error.
        most_tokens: the most tokens that a query may have.
    """
    found = list(islice(tokens(close_quote(text)), most_tokens))
    names, depth = set[str](), 0
    for at, token in enumerate(found):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        spec = NAMES.get(token.key.lower()) if token.kind is TokenKind.FILTER and not depth else None
        bound = any(one.kind in _BINDERS for one in (*found[max(at - 1, 0) : at], *found[at + 1 : at + 2]))
        if spec is not None and not bound:
            raw = token.text[len(token.key) + 1 :]
            if isinstance(read_filter(spec, raw, Source("q", token.end - len(raw), token.end)), Everything):
                names.add(spec.name)
    return frozenset(names)
