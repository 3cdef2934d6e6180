"""What to suggest while a query is typed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from photosvc.query.filter_spec import FilterSpec
from photosvc.query.filter_spec import Kind as ValueKind
from photosvc.query.filters import FILTERS
from photosvc.query.fold import fold, words
from photosvc.query.typed import Typed, quote
from photosvc.query.values.ranges import MONTHS
from photosvc.query.values.states import STATES
from photosvc.search.reading.suggesting.kinds import KINDS, MOST_COUNTED, compare, count, recent
from photosvc.search.reading.suggesting.names import (
    Named,
    Names,
    keywords_of,
    keywords_with,
)

#: Suggestions in an answer, the filters among them, and values of one kind unless its filter was typed.
MOST_SUGGESTED: Final = 12
_MOST_FILTERS: Final = 4
_MOST_OF_KIND: Final = 4
#: Values of one kind whose frequencies are compared.
_MOST_COMPARED: Final = 24
_MOST_COMPARED_ALONE: Final = 60
#: Frequencies from which on they are not told apart.
_HIGHEST: Final = 500
_HIGHEST_ALONE: Final = 2000
#: Nothing is called by a longer name that people type.
_LONGEST_TYPED: Final = 100

#: What is suggested before anything is typed.
_FIRST_FILTERS: Final = (
    "taken", "year", "country", "city", "subject", "album", "keywords", "camera", "type", "color", "is", "near",
)  # fmt: skip
_FLAGS: Final = {ValueKind.FLAG: ("true", "false"), ValueKind.SWITCH: ("true",)}
_MONTHS: Final = tuple(name for name in MONTHS if not any(other != name and other.startswith(name) for other in MONTHS))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What may be written in place of what was typed."""

    kind: str
    """`filter`, `value`, or a key of `KINDS`."""
    text: str
    """What to write."""
    label: str
    """The name of the filter or value."""
    help: str
    """What the filter means; empty for a value."""
    count: int | None
    """The photos with this value; None where they are not counted."""
    more: bool = False
    """Whether there are more photos than `count`."""


def suggest(connection: Connection, typed: Typed, names: Names, *, sees_private: bool) -> list[Suggestion]:
    """At most `MOST_SUGGESTED` suggestions: filters first, then the values that most photos have."""
    if len(typed.text) > _LONGEST_TYPED:
        return []
    if typed.key:
        return _for_value(connection, typed, names, sees_private=sees_private)[:MOST_SUGGESTED]
    filters = [_filter(spec) for spec in _filters(typed.text)]
    if not words(typed.text):
        return filters
    found = _most_frequent(
        connection, tuple(KINDS), typed.text, names, sees_private=sees_private, of_kind=_MOST_OF_KIND
    )
    return [*filters, *found][:MOST_SUGGESTED]


def _filter(spec: FilterSpec) -> Suggestion:
    return Suggestion("filter", f"{spec.name}:", spec.name, spec.help, None)


def _filters(text: str) -> list[FilterSpec]:
    """The filters that begin with this text by a name or an alias, those by their name first."""
    begun = fold(text)
    if not begun:
        return [FILTERS[name] for name in _FIRST_FILTERS]
    found = [spec for spec in FILTERS.values() if any(name.startswith(begun) for name in (spec.name, *spec.aliases))]
    found = [spec for spec in found if spec.kind is not ValueKind.ABSENT]
    return sorted(found, key=lambda spec: (spec.name != begun, not spec.name.startswith(begun)))[:_MOST_FILTERS]


def _for_value(connection: Connection, typed: Typed, names: Names, *, sees_private: bool) -> list[Suggestion]:
    spec, begun = FILTERS[typed.key], fold(typed.text)
    kinds = tuple(kind.name for kind in KINDS.values() if spec.name in kind.filters)
    if kinds:
        return _most_frequent(
            connection, kinds, typed.text, names, sees_private=sees_private, of_kind=MOST_SUGGESTED, key=spec.name
        )
    known: Iterable[str] = _FLAGS.get(spec.kind, ())
    if spec.kind is ValueKind.STATE:
        known = STATES
    elif spec.kind is ValueKind.MONTH:
        known = _MONTHS
    return [Suggestion("value", text, text, _state_help(spec, text), None) for text in known if text.startswith(begun)]


def _state_help(spec: FilterSpec, value: str) -> str:
    """What a state of `is:` means; empty for other values."""
    return FILTERS[STATES[value][0]].help if spec.kind is ValueKind.STATE else ""


def _most_frequent(
    connection: Connection,
    kinds: Sequence[str],
    text: str,
    names: Names,
    *,
    sees_private: bool,
    of_kind: int,
    key: str = "",
) -> list[Suggestion]:
    """The values of these kinds whose names fit, those that begin with the text first, then the most frequent."""
    begun = "".join(f" {word}" for word in words(text))
    values, frequency = (_MOST_COMPARED_ALONE // len(kinds), _HIGHEST_ALONE) if key else (_MOST_COMPARED, _HIGHEST)
    found: list[tuple[bool, int, int, str, Named]] = []
    for kind in kinds:
        fitting = _fitting(connection, kind, text, begun, names)
        if begun:
            fitting.sort(key=lambda one: (not one.folded.startswith(begun), len(one.folded)))
        ranked = []
        for place, one in enumerate(fitting[:values]):
            is_listed_as_is = kind == "year" or not one.keys
            photos = 1 if is_listed_as_is else compare(connection, kind, one.keys, frequency)
            if photos:
                ranked.append((not one.folded.startswith(begun), -photos, place, kind, one))
        found += sorted(ranked)[: of_kind * 2]
    return list(_counted(connection, sorted(found), of_kind, key, sees_private=sees_private))


def _fitting(connection: Connection, kind: str, text: str, begun: str, names: Names) -> list[Named]:
    if kind == "keyword":
        return (
            keywords_with(connection, fold(text).strip())
            if begun
            else keywords_of(connection, recent(connection, kind))
        )
    every = names[kind]
    if begun or len(every) <= _MOST_COMPARED_ALONE:
        return [one for one in every if one.fits(begun)]
    if kind in {"album", "year"}:  # the last one first
        return every[:_MOST_COMPARED_ALONE]
    keys = set(recent(connection, kind))
    return [one for one in every if not keys.isdisjoint(one.keys)]


def _counted(
    connection: Connection,
    found: Iterable[tuple[bool, int, int, str, Named]],
    of_kind: int,
    key: str,
    *,
    sees_private: bool,
) -> Iterator[Suggestion]:
    """Those of these values that the caller may see, with the numbers of their photos."""
    given = dict.fromkeys(KINDS, 0)
    for *_, kind, one in found:
        if given[kind] == of_kind or sum(given.values()) == MOST_SUGGESTED:
            continue
        photos = count(connection, kind, one.keys, sees_private=sees_private) if one.keys else None
        if photos == 0:
            continue
        given[kind] += 1
        text = quote(one.value)
        more = photos is not None and photos > MOST_COUNTED
        shown = MOST_COUNTED if more else photos
        yield Suggestion(kind, text if key else f"{KINDS[kind].filter}:{text}", one.label, "", shown, more)
