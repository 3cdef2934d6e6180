"""The values that can be suggested, by their names: read once for each state of the library, except keywords."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, func, literal, select

from photosvc import data
from photosvc.core.values.colors import COLORS
from photosvc.models import Album, Camera, Keyword, Lens, Marker, Place
from photosvc.models.content.library import UNKNOWN_ID, UNKNOWN_PLACE
from photosvc.query.fold import fold, words, words_recurring
from photosvc.search.reading.conditions.visible import visible_albums
from photosvc.search.reading.overview.counts import years
from photosvc.search.reading.overview.timeline import TYPES
from photosvc.search.reading.suggesting.kinds import MOST_KEYS
from photosvc.search.word_text import gear_name

#: Names of one kind that are kept, and keywords that are compared with what was typed.
_MOST_NAMES: Final = 50_000
_MOST_KEYWORDS: Final = 200


class Named(NamedTuple):
    """A value of a filter."""

    label: str
    """Its name for people."""
    value: str
    """As the filter accepts it, without quotes."""
    keys: tuple[Any, ...]
    """What it is stored as; none: it cannot be counted cheaply."""
    folded: str
    """The folded words of the name, each behind a blank."""

    def fits(self, typed: str) -> bool:
        """Whether the name, or a word in it, begins with these folded words, each behind a blank."""
        return typed in self.folded


#: The values of a library by their kinds.
Names: TypeAlias = dict[str, list[Named]]


def read_names(connection: Connection, sees_private: bool) -> Names:
    """All values but keywords, which are looked up as they are typed."""
    people: defaultdict[str, list[str]] = defaultdict(list)
    for name in _marker_names(connection):
        people[fold(name)].append(name)
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
    """The keywords in which something begins with this folded text; of very many the shortest."""
    query = select(Keyword.id, Keyword.word).where(Keyword.folded.contains(typed, autoescape=True))
    query = query.order_by(Keyword.folded.startswith(typed, autoescape=True).desc(), func.length(Keyword.folded))
    rows = connection.execute(query.order_by(Keyword.folded).limit(_MOST_KEYWORDS))
    return list(_named((row.word, (row.id,)) for row in rows))


def keywords_of(connection: Connection, keys: Iterable[int]) -> list[Named]:
    """The keywords with these ids, in this order."""
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
    """The names on markers, each found in the index behind the one before: few names stand on many markers."""
    first = select(func.min(Marker.name)).where(Marker.name != "")
    found = select(first.scalar_subquery().label("name"), literal(1).label("number")).cte("found", recursive=True)
    behind = select(func.min(Marker.name)).where(Marker.name > found.c.name).correlate(found).scalar_subquery()
    found = found.union_all(
        select(behind, found.c.number + 1).where(found.c.name.is_not(None), found.c.number < _MOST_NAMES)
    )
    return connection.scalars(select(found.c.name).where(found.c.name.is_not(None)))
