"""Parameters of a request that no search knows, although they are like one: clients misspell them and never notice."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from photosvc.query.errors import nearest

#: What other services call these parameters.
_ELSEWHERE: Final = {
    "desc": "reverse", "descending": "reverse", "limit": "count", "max": "count", "num": "count", "order_by": "order",
    "orderby": "order", "page": "offset", "page_size": "count", "pagesize": "count", "per_page": "count",
    "query": "q", "search": "q", "skip": "offset", "sort": "order", "sort_by": "order", "sortby": "order",
    "start": "offset", "text": "q",
}  # fmt: skip

#: What a header may quote: others are left out.
_NAME: Final = re.compile(r"[\w.-]{1,40}", re.ASCII)
_MOST: Final = 10


@lru_cache(maxsize=256)
def unknown_parameters(names: tuple[str, ...], known: frozenset[str]) -> str:
    """The header `X-Unknown-Parameters`: unknown names, each with the known one that may be meant; empty for none.

    Names that are like no parameter are left out: clients add what they like, and none of it is an error.
    """
    return ", ".join(islice(_alike(names, known), _MOST))


def _alike(names: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if name not in known and _NAME.fullmatch(name):
            meant = _ELSEWHERE.get(name.lower()) or nearest(name, sorted(known))
            if meant:
                yield f"{name} ({meant})"
