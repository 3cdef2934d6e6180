"""The values of `is` and `has`: what a photo may be or have, each of which is another filter."""

from collections.abc import Sequence
from typing import Final

from photosvc.query.errors import InvalidQueryError, did_you_mean, shown
from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Filter, Node, Source, conjunction, disjunction, negation
from photosvc.query.operands import Choice, Pattern, Range, Value
from photosvc.query.values.alternatives import Alternative

_EMPTY: Final = Choice((Pattern(("",)),))
_SET: Final = Choice(none_of=_EMPTY.any_of)

#: The filter and the value of each state: yes-or-no filters, and what else a photo may have.
STATES: Final[dict[str, tuple[str, Value]]] = {
    name: (name, True) for name, spec in FILTERS.items() if spec.kind in {Kind.FLAG, Kind.SWITCH}
} | {
    "favourite": ("favorite", True),
    "gps": ("geo", True),
    "location": ("geo", True),
    "place": ("geo", True),
    "album": ("unsorted", False),
    "faces": ("faces", Choice((Range(1, None),))),
    "people": ("faces", Choice((Range(1, None),))),
    "rating": ("rating", Choice((Range(1, None),))),
    "title": ("title", _SET),
    "description": ("description", _SET),
    "caption": ("description", _SET),
}  # fmt: skip


def read_states(spec: FilterSpec, groups: Sequence[Sequence[Alternative]], source: Source) -> Node:
    """The filters that the states in these groups of alternatives stand for.

    Raises:
        InvalidQueryError: one of them is unknown.

    """
    return conjunction(_read_group(spec, group, source) for group in groups)


def _read_group(spec: FilterSpec, group: Sequence[Alternative], source: Source) -> Node:
    wanted: list[Node] = []
    unwanted: list[Node] = []
    for found in group:
        state = STATES.get(found.text.lower())
        if state is None:
            hint = did_you_mean(found.text, STATES) or f"; it is one of {', '.join(STATES)}"
            msg = f"{spec.name}: {shown(found.text)} is nothing that a photo can be or have{hint}"
            raise InvalidQueryError(msg, field=source.field, position=source.start + found.start)
        (unwanted if found.negated else wanted).append(Filter(*state, source))
    return conjunction([disjunction(wanted), *map(negation, unwanted)])
