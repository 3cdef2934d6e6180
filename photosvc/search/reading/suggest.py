"""Suggestions while a query is typed: the kinds of values, their names, and the photos that have them.

The names are read once for each state of the library, except keywords, which are looked up as they are typed. Each
value is counted up to a limit, in the order of an index, so that a count costs the same in a library of a million
photos. A count is the number of photos with exactly this value: the filter may find more, such as longer words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Connection, bindparam, exists, func, literal, not_, select, true
from sqlalchemy.engine import Dialect

from photosvc import data
from photosvc.core.vocabulary import COLORS, TYPES, UNKNOWN_PLACE
from photosvc.models import (
    Album,
    AlbumPhoto,
    Camera,
    File,
    Keyword,
    Lens,
    Marker,
    Photo,
    Place,
    SearchRow,
    photo_keywords,
)
from photosvc.models.library import UNKNOWN_ID
from photosvc.models.search_values import camera_or_lens_name
from photosvc.models.statements import Prepared, prepare_statement, unindexed
from photosvc.query.completion import Fragment
from photosvc.query.filters import FILTERS, FilterSpec, ValueKind
from photosvc.query.fold import fold, words
from photosvc.query.lexer import quote
from photosvc.query.reader import STATES
from photosvc.query.values import MONTHS, WEEKDAYS
from photosvc.search.reading.compile import visible, visible_albums
from photosvc.search.reading.people import names_of_hidden
from photosvc.search.reading.statistics import read_years

#: The most photos of one value that are counted; answers say when there are more.
MOST_COUNTED: Final = 1000
#: The photos or files added last, whose values are suggested before anything is typed, and the most such values.
_RECENT: Final = 2000
_MOST_RECENT: Final = 40
#: Spellings of one value that are counted together.
MOST_KEYS: Final = 4
_KEYS: Final = tuple(f"key_{number}" for number in range(MOST_KEYS))
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


@dataclass(frozen=True, slots=True)
class ValueSource:
    """A kind of values."""

    name: str
    filter: str
    """The filter that is suggested with a value when no filter was typed."""
    filters: tuple[str, ...]
    """All filters with such values."""
    key: ColumnElement[Any]
    """The column with the value, or with its id."""
    owner: ColumnElement[Any]
    """The column with the photo that has it, or with the file."""
    of_file: bool = False
    places: bool = False
    """True if `key` is a column of the place of the photo."""
    condition: ColumnElement[bool] | None = None


def _rows(name: str, column: Any) -> ValueSource:  # noqa: ANN401 - attributes of models have many types
    return ValueSource(
        name, name, (name,), column, SearchRow.photo_id.expression, condition=SearchRow.listed.expression
    )


KINDS: Final[dict[str, ValueSource]] = {
    kind.name: kind
    for kind in (
        ValueSource("camera", "camera", ("camera",), Photo.camera_id.expression, Photo.id.expression),
        ValueSource("lens", "lens", ("lens",), Photo.lens_id.expression, Photo.id.expression),
        ValueSource("city", "city", ("city", "place"), Place.city.expression, Photo.id.expression, places=True),
        ValueSource("state", "state", ("state", "place"), Place.state.expression, Photo.id.expression, places=True),
        _rows("country", SearchRow.country.expression),
        ValueSource(
            "person",
            "subject",
            ("subject", "subjects"),
            Marker.name.expression,
            Marker.file_id.expression,
            of_file=True,
        ),
        ValueSource(
            "album",
            "album",
            ("album", "albums"),
            AlbumPhoto.album_id.expression,
            AlbumPhoto.photo_id.expression,
            condition=not_(AlbumPhoto.hidden),
        ),
        ValueSource(
            "keyword", "keywords", ("keywords", "label"), photo_keywords.c.keyword_id, photo_keywords.c.photo_id
        ),
        _rows("color", SearchRow.color.expression),
        _rows("type", SearchRow.photo_type.expression),
        _rows("year", SearchRow.year.expression),
    )
}


#: The kind of a place that is a city, state or country of one name, and these kinds.
PLACE: Final = "place"
_PLACE_KINDS: Final = ("city", "state", "country")
#: Kinds whose values have a picture.
COVERED: Final = frozenset({*_PLACE_KINDS, "person", "album", "keyword"})


def compare(connection: Connection, kind: str, keys: Sequence[object], most: int, *, sees_private: bool) -> int:
    """Count the photos or files that have one of these values, but at most `most`.

    For callers who see private photos all count, which is faster; for others the photos that they see.
    """
    if sees_private:
        return _run(_comparing(connection.dialect, kind), connection, keys, most)
    return _run(_counting(connection.dialect, kind, sees_private=False), connection, keys, most)


def count(connection: Connection, kind: str, keys: Sequence[object], *, sees_private: bool) -> int:
    """Count the photos that may be seen and have one of these values, at most one more than `MOST_COUNTED`."""
    return _run(_counting(connection.dialect, kind, sees_private=sees_private), connection, keys, MOST_COUNTED + 1)


def recent(connection: Connection, kind: str, *, sees_private: bool) -> list[Any]:
    """Return the keys of the most frequent values among the photos or files added last that may be seen."""
    return [row[0] for row in _recent(connection.dialect, kind, sees_private=sees_private).run(connection, {})]


def _run(statement: Prepared, connection: Connection, keys: Sequence[object], most: int) -> int:
    # Fewer keys are repeated: they stand in an IN list of fixed length.
    values = dict(zip(_KEYS, [*keys, *[keys[0]] * MOST_KEYS], strict=False))
    ((number,),) = statement.run(connection, {**values, "most": most})
    return int(number)


def _having(kind: ValueSource, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    keys = [bindparam(name, type_=kind.key.type) for name in _KEYS]
    if kind.places:
        query = select(*columns).where(Photo.place_id.in_(select(Place.id).where(kind.key.in_(keys))))
    else:
        query = select(*columns).where(kind.key.in_(keys))
    return query if kind.condition is None else query.where(kind.condition)


@lru_cache(maxsize=64)
def _comparing(dialect: Dialect, name: str) -> Prepared:
    matching = _having(KINDS[name], literal(1)).limit(bindparam("most")).subquery()
    return prepare_statement(select(func.count()).select_from(matching), dialect)


@lru_cache(maxsize=64)
def _counting(dialect: Dialect, name: str, *, sees_private: bool) -> Prepared:
    kind = KINDS[name]
    if kind.of_file:
        query = _having(kind, SearchRow.photo_id).join_from(
            kind.owner.table, SearchRow, SearchRow.file_id == kind.owner
        )
        query = query.where(visible(sees_private=sees_private, by_index=False)).distinct()
    elif kind.owner.table is SearchRow.__table__:
        query = _having(kind, SearchRow.photo_id).where(visible(sees_private=sees_private), SearchRow.is_first)
    else:
        shown = exists().where(SearchRow.photo_id == kind.owner, visible(sees_private=sees_private))
        query = _having(kind, kind.owner).where(shown).distinct()
    matching = query.limit(bindparam("most")).subquery()
    return prepare_statement(select(func.count()).select_from(matching), dialect)


@lru_cache(maxsize=64)
def _covering(dialect: Dialect, name: str, *, sees_private: bool) -> Prepared:
    kind = KINDS[name]
    area = (Marker.x, Marker.y, Marker.w, Marker.h) if kind.of_file else ()
    query = _having(kind, SearchRow.hash, File.turn, *area)
    if kind.owner.table is not SearchRow.__table__:
        same = SearchRow.file_id == kind.owner if kind.of_file else SearchRow.photo_id == kind.owner
        query = query.join_from(kind.owner.table, SearchRow, same)
    query = query.join(File, File.id == SearchRow.file_id)
    query = query.where(visible(sees_private=sees_private, by_index=False)).limit(1)
    return prepare_statement(query if kind.of_file else query.where(SearchRow.is_first), dialect)


@lru_cache(maxsize=64)
def _recent(dialect: Dialect, name: str, *, sees_private: bool) -> Prepared:
    kind = KINDS[name]
    last = select(SearchRow.file_id if kind.of_file else SearchRow.photo_id)
    last = last.where(visible(sees_private=sees_private)).order_by(SearchRow.newest_key.desc()).limit(_RECENT)
    query = select(kind.key, func.count())
    if kind.places:
        query = query.join_from(Photo, Place, Place.id == Photo.place_id)
    query = query.where(kind.owner.in_(last))
    if kind.condition is not None:
        query = query.where(kind.condition)
    # The index of the values would give them in order, but then all photos are read.
    query = query.group_by(unindexed(kind.key)).order_by(func.count().desc(), kind.key).limit(_MOST_RECENT)
    return prepare_statement(query, dialect)


class NamedValue(NamedTuple):
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
Names: TypeAlias = dict[str, list[NamedValue]]
#: A value with the keys by which it is sorted: False if its name begins with the typed text, its frequency below zero,
#: its place among the names that fit, and its kind.
_Candidate: TypeAlias = tuple[bool, int, int, str, NamedValue]


def read_names(connection: Connection, *, sees_private: bool) -> Names:
    """Return all values but keywords, which are looked up as they are typed, and hidden people."""
    hidden = names_of_hidden(connection)
    people: defaultdict[str, list[str]] = defaultdict(list)
    for name in _marker_names(connection, sees_private=sees_private):
        if (folded := fold(name)) not in hidden:
            people[folded].append(name)
    albums = select(Album.id, Album.title, Album.filter).where(visible_albums(sees_private=sees_private))
    albums = albums.order_by(Album.updated_at.desc(), Album.id).limit(_MOST_NAMES)
    titled = [(row.title, () if row.filter else (row.id,)) for row in connection.execute(albums)]
    return {
        "camera": _gear(connection, Camera, Photo.camera_id, sees_private=sees_private),
        "lens": _gear(connection, Lens, Photo.lens_id, sees_private=sees_private),
        "city": _of_places(connection, Place.city, sees_private=sees_private),
        "state": _of_places(connection, Place.state, sees_private=sees_private),
        "country": list(_countries(connection, sees_private=sees_private)),
        "person": [value for names in people.values() for value in _named([(names[0], tuple(names[:MOST_KEYS]))])],
        "album": list(_named(titled)),
        "color": list(_named((name, (number,)) for number, name in enumerate(COLORS))),
        "type": list(_named((name, (name,)) for name in TYPES)),
        "year": list(_named((str(year), (year,)) for year in read_years(connection, sees_private=sees_private))),
    }


def is_used(*conditions: ColumnElement[bool], sees_private: bool) -> ColumnElement[bool]:
    """Return the condition that a photo which the caller may see has a value; always true for private rights.

    Other callers must not notice a value that only private photos have, also not by the values that it displaces.
    """
    return true() if sees_private else exists().where(*conditions, visible(sees_private=False, by_index=False))


def keywords_with(connection: Connection, typed: str, *, sees_private: bool) -> list[NamedValue]:
    """Return the keywords that contain this folded text; of very many, those that begin with it or are short."""
    query = select(Keyword.id, Keyword.word).where(Keyword.folded.contains(typed, autoescape=True))
    of_photo = photo_keywords.c.keyword_id == Keyword.id, SearchRow.photo_id == photo_keywords.c.photo_id
    query = query.where(is_used(*of_photo, sees_private=sees_private))
    query = query.order_by(Keyword.folded.startswith(typed, autoescape=True).desc(), func.length(Keyword.folded))
    rows = connection.execute(query.order_by(Keyword.folded).limit(_MOST_KEYWORDS))
    return list(_named((row.word, (row.id,)) for row in rows))


def keywords_of(connection: Connection, keys: Iterable[int]) -> list[NamedValue]:
    """Return the keywords with these ids, in this order."""
    keys = list(keys)
    rows = connection.execute(select(Keyword.id, Keyword.word).where(Keyword.id.in_(keys)))
    words_by_id = {row.id: row.word for row in rows}
    return list(_named((words_by_id[key], (key,)) for key in keys if key in words_by_id))


def _named(values: Iterable[tuple[str, tuple[Any, ...]]]) -> Iterator[NamedValue]:
    for label, keys in values:
        if folded := words(label):  # a filter finds nothing by a name without words
            yield NamedValue(label, label, keys, " " + " ".join(folded))


def _gear(connection: Connection, kind: type[Camera | Lens], column: Any, *, sees_private: bool) -> list[NamedValue]:  # noqa: ANN401
    used = is_used(column == kind.id, SearchRow.photo_id == Photo.id, sees_private=sees_private)
    query = select(kind.id, kind.make, kind.model).where(kind.id != UNKNOWN_ID, used).limit(_MOST_NAMES)
    return list(_named((camera_or_lens_name(make, model), (key,)) for key, make, model in connection.execute(query)))


def _of_places(connection: Connection, column: Any, *, sees_private: bool) -> list[NamedValue]:  # noqa: ANN401
    used = is_used(Photo.place_id == Place.id, SearchRow.photo_id == Photo.id, sees_private=sees_private)
    query = select(column).where(Place.id != UNKNOWN_PLACE, column != "", used).distinct().order_by(column)
    spelled: defaultdict[str, list[str]] = defaultdict(list)
    for name in connection.scalars(query.limit(_MOST_NAMES)):
        spelled[fold(name)].append(name)
    return list(_named((names[0], tuple(names[:MOST_KEYS])) for names in spelled.values()))


def _countries(connection: Connection, *, sees_private: bool) -> Iterator[NamedValue]:
    used = is_used(Photo.place_id == Place.id, SearchRow.photo_id == Photo.id, sees_private=sees_private)
    present = set(connection.scalars(select(Place.country).where(used).distinct())) - {UNKNOWN_PLACE}
    for code, name in data.countries().items():
        if code in present:
            yield NamedValue(name, code, (code,), " " + " ".join((*words(name), code)))


def _marker_names(connection: Connection, *, sees_private: bool) -> Iterable[str]:
    used = is_used(SearchRow.file_id == Marker.file_id, sees_private=sees_private)
    return connection.scalars(select(Marker.name).where(Marker.name != "", used).distinct().limit(_MOST_NAMES))


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
    hash: str = ""
    """A photo with this value, of `COVERED` kinds; empty for others."""
    turn: int = 1
    """The Exif orientation that a person gave that photo."""
    area: tuple[float, float, float, float] | None = None
    """The face of a person on it: left, top, width and height, in fractions of the sides."""


def suggest(connection: Connection, typed: Fragment, names: Names, *, sees_private: bool) -> list[Suggestion]:
    """Return at most `MOST_SUGGESTED` suggestions: filters first, then the values that most photos have."""
    if len(typed.text) > _LONGEST_TYPED:
        return []
    if typed.key:
        return _for_value(connection, typed, names, sees_private=sees_private)[:MOST_SUGGESTED]
    filters = [Suggestion("filter", f"{spec.name}:", spec.name, spec.help, None) for spec in _filters(typed.text)]
    if not words(typed.text):
        return filters
    values = _most_frequent(connection, tuple(KINDS), typed.text, names, sees_private=sees_private)
    return [*filters, *_each_place_once(values)][:MOST_SUGGESTED]


def _each_place_once(suggestions: Iterable[Suggestion]) -> list[Suggestion]:
    """Join a city, state and country of one name, such as Lisbon; the smaller lie within the larger."""
    found: dict[object, Suggestion] = {}
    for number, one in enumerate(suggestions):
        key = fold(one.label) if one.kind in _PLACE_KINDS else number
        if first := found.get(key):
            larger = max(first, one, key=lambda place: (place.count or 0, place.more))
            found[key] = replace(larger, kind=PLACE, text=f"place:{quote(one.label)}", hash=first.hash)
        else:
            found[key] = one
    return list(found.values())


def _filters(text: str) -> list[FilterSpec]:
    """Return the filters of which the name or an alias begins with this text, those by their name first."""
    begun = fold(text)
    if not begun:
        return [FILTERS[name] for name in _FIRST_FILTERS]
    specs = [spec for spec in FILTERS.values() if any(name.startswith(begun) for name in (spec.name, *spec.aliases))]
    specs = [spec for spec in specs if spec.kind is not ValueKind.ABSENT]
    return sorted(specs, key=lambda spec: (spec.name != begun, not spec.name.startswith(begun)))[:_MOST_FILTERS]


def _for_value(connection: Connection, typed: Fragment, names: Names, *, sees_private: bool) -> list[Suggestion]:
    spec, begun = FILTERS[typed.key], fold(typed.text)
    kinds = tuple(kind.name for kind in KINDS.values() if spec.name in kind.filters)
    if kinds:
        return _most_frequent(connection, kinds, typed.text, names, sees_private=sees_private, key=spec.name)
    helps = {name: FILTERS[state[0]].help for name, state in STATES.items()} if spec.kind is ValueKind.STATE else {}
    known = helps or _NAMED_NUMBERS.get(spec.kind) or _FLAGS.get(spec.kind, ())
    return [Suggestion("value", text, text, helps.get(text, ""), None) for text in known if text.startswith(begun)]


def _most_frequent(
    connection: Connection, kinds: Sequence[str], text: str, names: Names, *, sees_private: bool, key: str = ""
) -> list[Suggestion]:
    """Return the values whose names fit: those that begin with the text first, then the most frequent."""
    begun = "".join(f" {word}" for word in words(text))
    values, frequency = (_MOST_COMPARED_ALONE // len(kinds), _HIGHEST_ALONE) if key else (_MOST_COMPARED, _HIGHEST)
    candidates: list[_Candidate] = []
    for kind in kinds:
        fitting = _fitting(connection, kind, text, begun, names, sees_private=sees_private)
        if begun:
            fitting.sort(key=lambda value: (not value.folded.startswith(begun), len(value.folded)))
        ranked = []
        for place, value in enumerate(fitting[:values]):
            is_listed_as_is = kind == "year" or not value.keys
            photos = 1
            if not is_listed_as_is:
                photos = compare(connection, kind, value.keys, frequency, sees_private=sees_private)
            if photos:
                ranked.append((not value.folded.startswith(begun), -photos, place, kind, value))
        candidates += sorted(ranked)[: 2 * (MOST_SUGGESTED if key else _MOST_OF_KIND)]
    return list(_counted(connection, sorted(candidates), key, sees_private=sees_private))


def _fitting(
    connection: Connection, kind: str, text: str, begun: str, names: Names, *, sees_private: bool
) -> list[NamedValue]:
    if kind == "keyword":
        return (
            keywords_with(connection, fold(text).strip(), sees_private=sees_private)
            if begun
            else keywords_of(connection, recent(connection, kind, sees_private=sees_private))
        )
    every = names[kind]
    if begun or len(every) <= _MOST_COMPARED_ALONE:
        return [value for value in every if value.fits(begun)]
    if kind in {"album", "year"}:  # the last one first
        return every[:_MOST_COMPARED_ALONE]
    keys = set(recent(connection, kind, sees_private=sees_private))
    return [value for value in every if not keys.isdisjoint(value.keys)]


def _counted(
    connection: Connection, candidates: Iterable[_Candidate], key: str, *, sees_private: bool
) -> Iterator[Suggestion]:
    """Yield the values that the caller may see, with the numbers of their photos."""
    suggested, of_kind = dict.fromkeys(KINDS, 0), MOST_SUGGESTED if key else _MOST_OF_KIND
    for *_, kind, value in candidates:
        if suggested[kind] == of_kind or sum(suggested.values()) == MOST_SUGGESTED:
            continue
        photos = count(connection, kind, value.keys, sees_private=sees_private) if value.keys else None
        if photos == 0:
            continue
        suggested[kind] += 1
        text = quote(value.value)
        more = photos is not None and photos > MOST_COUNTED
        shown = MOST_COUNTED if more else photos
        yield Suggestion(
            kind,
            text if key else f"{KINDS[kind].filter}:{text}",
            value.label,
            "",
            shown,
            more,
            *_cover(connection, kind, value, sees_private=sees_private),
        )


def _cover(
    connection: Connection, kind: str, value: NamedValue, *, sees_private: bool
) -> tuple[str, int, tuple[float, float, float, float] | None]:
    """Return the hash and turn of any photo with a value that the caller may see, and the face of a person on it."""
    if kind not in COVERED or not value.keys:
        return "", 1, None
    keys = dict(zip(_KEYS, [*value.keys, *[value.keys[0]] * MOST_KEYS], strict=False))
    for content_hash, turn, *area in _covering(connection.dialect, kind, sees_private=sees_private).run(
        connection, keys
    ):
        return content_hash, turn, (area[0], area[1], area[2], area[3]) if area else None
    return "", 1, None
