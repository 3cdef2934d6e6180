"""Suggestions while a query is typed, and the values that can be suggested, by their names.

The names are read once for each state of the library, except keywords, which are looked up as they are typed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, func, literal, select

from photosvc import data
from photosvc.core.vocabulary import COLORS
from photosvc.models import Album, Camera, Keyword, Lens, Marker, Place
from photosvc.models.library import UNKNOWN_ID, UNKNOWN_PLACE
from photosvc.models.search_values import gear_name
from photosvc.query.alternatives import quote
from photosvc.query.filter_spec import FilterSpec
from photosvc.query.filter_spec import Kind as ValueKind
from photosvc.query.filters import FILTERS
from photosvc.query.fold import fold, words, words_recurring
from photosvc.query.numbers import MONTHS, WEEKDAYS
from photosvc.query.reader import STATES
from photosvc.query.typed import Typed
from photosvc.search.reading.compile import visible_albums
from photosvc.search.reading.figures import years
from photosvc.search.reading.people import names_of_hidden
from photosvc.search.reading.suggest_values import KINDS, MOST_COUNTED, MOST_KEYS, compare, count, recent
from photosvc.search.reading.timeline import TYPES

_MOST_KEYWORDS: Final = 200
#: Suggestions in an answer, the filters among them, and values of one kind unless its filter was typed.
MOST_SUGGESTED: Final = 12
_MOST_FILTERS: Final = 4
_MOST_OF_KIND: Final = 4
#: Values of one kind whose frequencies are compared.
_MOST_COMPARED: Final = 24
_MOST_COMPARED_ALONE: Final = 60
#: Values of this frequency or more count as equally frequent.
_HIGHEST: Final = 500
_HIGHEST_ALONE: Final = 2000
#: The most characters that are looked up: nobody types a longer name.
_LONGEST_TYPED: Final = 100
#: Filters that are suggested before anything is typed.
_FIRST_FILTERS: Final = (
    "taken", "year", "country", "city", "subject", "album", "keywords", "camera", "type", "color", "is", "near",
)  # fmt: skip
_FLAGS: Final = {ValueKind.FLAG: ("true", "false"), ValueKind.SWITCH: ("true",)}
#: Full names of months and of days of the week.
_NAMED_NUMBERS: Final = {
    kind: tuple(name for name in names if not any(other != name and other.startswith(name) for other in names))
    for kind, names in ((ValueKind.MONTH, MONTHS), (ValueKind.WEEKDAY, WEEKDAYS))
}


#: The most names of one kind that are read.
_MOST_NAMES: Final = 50_000


class Named(NamedTuple):
    """A value of a filter."""

    label: str
    """The name for people."""
    value: str
    """The value as the filter accepts it, without quotes."""
    keys: tuple[Any, ...]
    """The stored forms of the value; none if it cannot be counted cheaply."""
    folded: str
    """The folded words of the name, each after a blank."""

    def fits(self, typed: str) -> bool:
        """Return whether the name, or a word in it, begins with these folded words, each after a blank."""
        return typed in self.folded


#: The values of a library by their kinds.
Names: TypeAlias = dict[str, list[Named]]


def read_names(connection: Connection, sees_private: bool) -> Names:
    """Return all values but keywords, which are looked up as they are typed, and hidden people."""
    hidden = names_of_hidden(connection)
    people: defaultdict[str, list[str]] = defaultdict(list)
    for name in _marker_names(connection):
        if (folded := fold(name)) not in hidden:
            people[folded].append(name)
    albums = select(Album.id, Album.title, Album.filter).where(visible_albums(sees_private=sees_private))
    albums = albums.order_by(Album.updated_at.desc(), Album.id).limit(_MOST_NAMES)
    titled = [(row.title, () if row.filter else (row.id,)) for row in connection.execute(albums)]
    return {
        "camera": _gear(connection, Camera),
        "lens": _gear(connection, Lens),
        "city": _of_places(connection, Place.city),
        "state": _of_places(connection, Place.state),
        "country": list(_countries(connection)),
        "person": [one for names in people.values() for one in _named([(names[0], tuple(names[:MOST_KEYS]))])],
        "album": list(_named(titled)),
        "color": list(_named((name, (number,)) for number, name in enumerate(COLORS))),
        "type": list(_named((name, (name,)) for name in TYPES)),
        "year": list(_named((str(year), (year,)) for year in years(connection, sees_private))),
    }


def keywords_with(connection: Connection, typed: str) -> list[Named]:
    """Return the keywords that contain this folded text; of very many, those that begin with it or are short."""
    query = select(Keyword.id, Keyword.word).where(Keyword.folded.contains(typed, autoescape=True))
    query = query.order_by(Keyword.folded.startswith(typed, autoescape=True).desc(), func.length(Keyword.folded))
    rows = connection.execute(query.order_by(Keyword.folded).limit(_MOST_KEYWORDS))
    return list(_named((row.word, (row.id,)) for row in rows))


def keywords_of(connection: Connection, keys: Iterable[int]) -> list[Named]:
    """Return the keywords with these ids, in this order."""
    keys = list(keys)
    rows = connection.execute(select(Keyword.id, Keyword.word).where(Keyword.id.in_(keys)))
    found = {row.id: row.word for row in rows}
    return list(_named((found[key], (key,)) for key in keys if key in found))


def _named(found: Iterable[tuple[str, tuple[Any, ...]]]) -> Iterator[Named]:
    for label, keys in found:
        if folded := words_recurring(label):  # a filter finds nothing by a name without words
            yield Named(label, label, keys, " " + " ".join(folded))


def _gear(connection: Connection, kind: type[Camera | Lens]) -> list[Named]:
    query = select(kind.id, kind.make, kind.model).where(kind.id != UNKNOWN_ID).limit(_MOST_NAMES)
    return list(_named((gear_name(make, model), (key,)) for key, make, model in connection.execute(query)))


def _of_places(connection: Connection, column: Any) -> list[Named]:  # noqa: ANN401
    query = select(column).where(Place.id != UNKNOWN_PLACE, column != "").distinct().order_by(column)
    spelled: defaultdict[str, list[str]] = defaultdict(list)
    for name in connection.scalars(query.limit(_MOST_NAMES)):
        spelled[fold(name)].append(name)
    return list(_named((names[0], tuple(names[:MOST_KEYS])) for names in spelled.values()))


def _countries(connection: Connection) -> Iterator[Named]:
    present = set(connection.scalars(select(Place.country).distinct())) - {UNKNOWN_PLACE}
    for line in data.COUNTRIES.read_text("utf-8").splitlines():
        code, name = line[:2].lower(), line[3:]
        if code in present:
            yield Named(name, code, (code,), " " + " ".join((*words(name), code)))


def _marker_names(connection: Connection) -> Iterable[str]:
    """Return the names on markers, each looked up in the index from the last: few names are on many markers."""
    first = select(func.min(Marker.name)).where(Marker.name != "")
    found = select(first.scalar_subquery().label("name"), literal(1).label("number")).cte("found", recursive=True)
    behind = select(func.min(Marker.name)).where(Marker.name > found.c.name).correlate(found).scalar_subquery()
    found = found.union_all(
        select(behind, found.c.number + 1).where(found.c.name.is_not(None), found.c.number < _MOST_NAMES)
    )
    return connection.scalars(select(found.c.name).where(found.c.name.is_not(None)))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that may be written in place of the typed one."""

    kind: str
    """`filter`, `value`, or a key of `KINDS`."""
    text: str
    """The text to write."""
    label: str
    """The name of the filter or value."""
    help: str
    """The meaning of the filter; empty for a value."""
    count: int | None
    """The number of photos with this value; None where they are not counted."""
    more: bool = False
    """True if there are more photos than `count`."""


def suggest(connection: Connection, typed: Typed, names: Names, *, sees_private: bool) -> list[Suggestion]:
    """Return at most `MOST_SUGGESTED` suggestions: filters first, then the values that most photos have."""
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
    """Return the filters of which the name or an alias begins with this text, those by their name first."""
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
    elif spec.kind in _NAMED_NUMBERS:
        known = _NAMED_NUMBERS[spec.kind]
    return [Suggestion("value", text, text, _state_help(spec, text), None) for text in known if text.startswith(begun)]


def _state_help(spec: FilterSpec, value: str) -> str:
    """Return the meaning of a state of `is:`; empty for other values."""
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
    """Return the values whose names fit: those that begin with the text first, then the most frequent."""
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
    """Yield the values that the caller may see, with the numbers of their photos."""
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
