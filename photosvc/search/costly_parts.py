"""The costly parts of a query, by which no index finds photos: an error names them."""

from collections.abc import Sequence
from typing import Final

from photosvc.core.errors import Detail
from photosvc.models import FILTER_COLUMNS, LOOKUP_COLUMNS, PATTERN_COLUMNS, VALUE_COLUMNS
from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Everything, Filter, Node, Nothing, leaves

#: Columns that have an index.
_INDEXED: Final = frozenset({*VALUE_COLUMNS, *LOOKUP_COLUMNS, *PATTERN_COLUMNS, "taken_day"})
#: Kinds of values that are found by words, UIDs or hashes, for which there are indexes.
_LOOKED_UP: Final = frozenset({Kind.WORDS, Kind.WHOLE_WORDS, Kind.ABSENT, Kind.NAME, Kind.UID, Kind.PHOTO})
#: Parts that an error names.
_MOST: Final = 10


def costly_parts(node: Node | None, part: str) -> Sequence[Detail]:
    """Return the parts of a query by which no index finds photos; all of its parts if each has an index.

    Args:
        part: the parameter that is costly if there is no query.
    """
    parts = () if node is None else (one for one in leaves(node) if not isinstance(one, Everything | Nothing))
    names = list(dict.fromkeys(one.name if isinstance(one, Filter) else "q" for one in parts))
    unindexed = [name for name in names if name in FILTERS and not _is_indexed(FILTERS[name])]
    if unindexed:
        return _details(unindexed, "no index finds photos by this: it is compared with every one")
    return _details(names or [part], "this part of the search reads very many photos")


def _details(names: Sequence[str], message: str) -> Sequence[Detail]:
    return [Detail(field=name, message=message) for name in names[:_MOST]]


def _is_indexed(spec: FilterSpec) -> bool:
    return spec.kind in _LOOKED_UP or any(FILTER_COLUMNS.get(column, column) in _INDEXED for column in spec.columns)
