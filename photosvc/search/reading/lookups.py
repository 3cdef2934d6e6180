"""Lookups of the names in a query: of cameras, lenses, people, places, photos, albums, and towns of the gazetteer.

There are few names and many photos, so names are compared in Python, by the word rule of `query.fold.words`. Pictures
that look alike are found by the Hamming distance of their perceptual hashes (`media.looks`).

Of towns with the same name, the largest one is chosen, with those of at least half of its inhabitants: `London` finds
the one in England unless the query names another state or country. The numbers of inhabitants of cities are those of
`query.place_names`. Smaller places have none; the gazetteer lists the quarters of a place under its name, so there the
one with the most entries counts. Names in other languages, such as `München`, are those of `query.place_names`, too:
the largest city counts, and before places that are called so themselves if it has a hundred times their inhabitants.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache, partial
from itertools import chain, combinations
from statistics import fmean
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, or_, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.geo import distance_m
from photosvc.core.ids import SUBJECT, computed_uid, is_uid
from photosvc.core.message import Message
from photosvc.core.words import did_you_mean
from photosvc.data import PlacesTable
from photosvc.models import NOWHERE, Album, Camera, File, Lens, Marker, SearchRow, Subject
from photosvc.models.search_values import gear_name, needles, word_text
from photosvc.models.statements import after_prefix
from photosvc.query.areas import locate
from photosvc.query.filters import FILTERS
from photosvc.query.fold import fold, words
from photosvc.query.nodes import (
    Choice,
    Circle,
    Filter,
    MarkerNames,
    Near,
    Node,
    Nothing,
    Operand,
    Pattern,
    Phrase,
    Town,
    Uid,
    Word,
    leaves,
    shown,
)
from photosvc.query.parser import parse_query
from photosvc.query.place_names import LARGE, own_names, places_named, text_words
from photosvc.query.reader import country_code
from photosvc.search.limits import each_of
from photosvc.search.reading.columns import identified
from photosvc.search.reading.compile import visible, visible_albums

#: Up to so many places of the same name and size are all searched; more are an error that asks for a state or country.
_MOST_ALIKE: Final = 5
#: Metres between the entries of one city.
_CITY_M: Final = 40_000
#: The inhabitants with which a city comes before places that are called by its name in another language.
_FAR_LARGER: Final = 100
#: The most characters by which the length of a suggested name differs from that of the typed one.
_TYPED_BY: Final = 2
_TOWNS: Final = (
    "SELECT lat / 1000.0, lng / 1000.0, country, state FROM town JOIN region ON region.id = town.region WHERE "
)
_EXACTLY: Final = f"{_TOWNS} folded = :name ORDER BY lat, lng"
#: Folded words consist of letters, digits and pictures, all of which sort after the `!` that follows the blank.
_BEGINNING: Final = f"{_TOWNS} folded > :name || ' ' AND folded < :name || '!' ORDER BY lat, lng"
#: All names in one row: other threads may take their turn at each row, so that thousands of rows would take a second.
_ALIKE: Final = """
    SELECT group_concat(folded, char(10)) FROM (
        SELECT DISTINCT folded FROM town WHERE folded >= :first AND folded < :after
        AND length(folded) BETWEEN :shortest AND :longest
    )
"""
_TABLE: Final = PlacesTable()
Operands: TypeAlias = tuple[Operand, ...]
AlbumRow: TypeAlias = Row[Any]
#: The place between a letter and a digit.
_JOINED: Final = re.compile(r"(?<=[^\W\d_])(?=\d)")
#: Bits that may differ from the photo a search names, as in resized, recompressed and slightly cropped copies.
SIMILAR: Final = 10
#: The most similar photos that a search gives.
_MOST_SIMILAR: Final = 1000
_PART_BITS: Final = 16
PARTS: Final = (File.look_1, File.look_2, File.look_3, File.look_4)
#: All ways to flip the bits of a part in which the nearest part of a similar hash may differ.
_MASKS: Final = [
    sum(1 << position for position in flipped)
    for count in range(SIMILAR // len(PARTS) + 1)
    for flipped in combinations(range(_PART_BITS), count)
]
#: Places that one filter may name: each is looked for in the whole gazetteer.
_MOST_TOWNS = 4
#: Photos that one filter may compare with all others; further ones are left out.
_MOST_LOOKS = 10


@dataclass(slots=True)
class _City:
    """The entries of the gazetteer that are one city."""

    country: str
    state: str
    positions: list[tuple[float, float]] = field(default_factory=list)

    @property
    def centre(self) -> tuple[float, float]:
        lats, lngs = zip(*self.positions, strict=True)
        return fmean(lats), fmean(lngs)

    def metres_from(self, lat: float, lng: float) -> float:
        """Return the distance of a position from the nearest entry."""
        return min(distance_m(lat, lng, *position) for position in self.positions)


def find_town(name: str, region: str) -> tuple[tuple[float, float], ...]:
    """Return the latitudes and longitudes of places with this folded name, in this state or country if given.

    There are several when places of the name are alike. `new york` also finds New York City.

    Raises:
        NotFoundError: there is no such place.
        InvalidValueError: too many places have the name.
    """
    cities = _cities(_EXACTLY, name, region)
    known = _known(name, region, called=bool(cities))
    if known:
        return (known.centre,)
    cities = cities or _cities(_BEGINNING, name, region)
    found = [city.centre for city in _largest(name, cities)]
    if not found:
        msg = Message("there is no place {name}", name=shown(str(Town(name, region))))
        raise NotFoundError(msg if region else did_you_mean(msg, name, _names_like(name)), field="near")
    if len(found) > _MOST_ALIKE:
        example = f'"{name}, {cities[0].country}"'
        msg = Message(
            "there are {found} places {name}; add a state or country, as in {example}",
            found=len(found),
            name=shown(name),
            example=example,
        )
        raise InvalidValueError(msg, field="near")
    return tuple(found)


def _largest(name: str, cities: Sequence[_City]) -> list[_City]:
    """Return the cities of a name with the most inhabitants or, if these are not known, with the most entries."""
    if not cities:
        return []
    sizes = [0] * len(cities)
    for place in places_named(name):
        away, at = min((city.metres_from(place.lat, place.lng), at) for at, city in enumerate(cities))
        if place.kind == "city" and text_words(place.own) == name and away <= _CITY_M:
            sizes[at] = max(sizes[at], place.inhabitants)
    share = LARGE
    if not any(sizes):
        sizes, share = [len(city.positions) for city in cities], 1
    return [city for city, size in zip(cities, sizes, strict=True) if size >= max(sizes) * share]


def _known(name: str, region: str, *, called: bool) -> _City | None:
    """Return the largest city that has this name in another language.

    Args:
        called: whether the gazetteer has places of this very name there, which come first unless they are far smaller.
    """
    places = [place for place in places_named(name) if place.kind == "city"]
    others = [place for place in places if text_words(place.own) != name]
    if called:
        most = max((place.inhabitants for place in places if place not in others), default=1)
        others = [] if region else [place for place in others if place.inhabitants > most * _FAR_LARGER]
    for place in others:
        for city in _cities(_EXACTLY, text_words(place.own), region or place.country):
            if distance_m(place.lat, place.lng, *city.positions[0]) <= _CITY_M:
                return city
    return None


@lru_cache(maxsize=512)
def _cities(query: str, name: str, region: str) -> Sequence[_City]:
    cities: defaultdict[tuple[str, str], list[_City]] = defaultdict(list)
    code = country_code(region) or region
    state = next(map(text_words, own_names(region, "state")), region)
    for lat, lng, country, in_state in _TABLE.connection.execute(query, {"name": name}):
        if region and code != country and " ".join(words(in_state)) not in {region, state}:
            continue
        here = cities[country, in_state]
        city = next((one for one in here if distance_m(lat, lng, *one.positions[0]) <= _CITY_M), None)
        if city is None:
            city = _City(country, in_state)
            here.append(city)
        city.positions.append((lat, lng))
    return [*chain.from_iterable(cities.values())]


def _names_like(name: str) -> Sequence[str]:
    first, shortest, longest = name[:2], len(name) - _TYPED_BY, len(name) + _TYPED_BY
    asked = {"first": first, "after": after_prefix(first), "shortest": shortest, "longest": longest}
    ((names,),) = _TABLE.connection.execute(_ALIKE, asked)
    return names.split("\n") if names else ()


@cache
def _albums(*, sees_private: bool) -> "Select[int, str, str, str]":
    return select(Album.id, Album.uid, Album.title, Album.filter).where(visible_albums(sees_private=sees_private))


class NamedAlbums:
    """The albums that the filters of a search name, limited to those that the caller may see."""

    def __init__(self, connection: Connection, *, sees_private: bool, today: date) -> None:
        self._connection = connection
        self._today = today
        self._query = _albums(sees_private=sees_private)
        self._every: list[AlbumRow] | None = None
        self._named: dict[Operands, list[AlbumRow]] = {}
        self._smart: dict[int, AlbumRow] = {}
        self._queries: dict[int, Node | None] = {}
        self._reached: dict[int, set[int]] = {}

    @property
    def has_smart(self) -> bool:
        """Return whether one of the albums that were named is a smart one."""
        return bool(self._smart)

    def named(self, operands: Operands) -> list[AlbumRow]:
        """Return the albums with one of these UIDs or titles."""
        if operands not in self._named:
            self._named[operands] = found = self._look_up(operands)
            self._smart |= {album.id: album for album in found if album.filter}
        return self._named[operands]

    def query_of(self, album: AlbumRow) -> Node | None:
        """Return the query of a smart album; None when a version with other filters saved it.

        That is no error, because the search itself is valid.
        """
        if album.id not in self._queries:
            try:
                self._queries[album.id] = locate(parse_query(album.filter, self._today, "filter"))
            except InvalidValueError:
                self._queries[album.id] = None
        return self._queries[album.id]

    def names(self, outer: int, inner: int) -> bool:
        """Return whether the smart album `outer` names the album `inner`, by others too, or is the same album."""
        if outer not in self._reached:
            reached, waiting = {outer}, [outer]
            while waiting:
                query = self.query_of(self._smart[waiting.pop()])
                named = {album.id for operands in _albums_in(query or Nothing()) for album in self.named(operands)}
                further = (named & self._smart.keys()) - reached
                waiting += further
                reached |= further
            self._reached[outer] = reached
        return inner in self._reached[outer]

    def _look_up(self, operands: Operands) -> list[AlbumRow]:
        uids = [operand.text for operand in operands if isinstance(operand, Uid)]
        if len(uids) == len(operands):
            return list(self._connection.execute(self._query.where(Album.uid.in_(uids))))
        if self._every is None:
            self._every = list(self._connection.execute(self._query))
        every = each_of(self._connection, self._every)
        return [album for album in every if album.uid in uids or fits(album.title, operands)]


def _albums_in(node: Node) -> Iterator[Operands]:
    """Yield the operands of the filters by albums in a query, in the groups that are looked up together."""
    for part in leaves(node):
        match part:
            case Filter(name, Choice(any_of, none_of)) if FILTERS[name].columns[0] == "albums":
                yield from (operands for operands in (any_of, none_of) if operands)


def fits(name: str, operands: Iterable[Operand], *spellings: str) -> bool:
    """Return whether a name has one of these words, maybe in another spelling, or is one of these whole names."""
    text, whole = word_text((name, *spellings)), " ".join(words(name))
    return any(
        any(needle in text for needle in needles(operand))
        if isinstance(operand, Word | Phrase)
        else isinstance(operand, Pattern) and operand.matches(whole)
        for operand in operands
    )


def similar_photos(connection: Connection, uid: str, *, sees_private: bool) -> list[int] | None:
    """Return the ids of the photos that look like this one, the most similar first; None without such a photo.

    The photo itself is included. A photo without contrast is similar to none.
    """
    shown = select(SearchRow.photo_id).where(identified("photo_uid", [uid]), visible(sees_private=sees_private))
    photo_id = connection.scalar(shown.limit(1))
    if photo_id is None:
        return None
    distances: dict[int, int] = {}
    for parts in connection.execute(select(*PARTS).where(File.photo_id == photo_id, shows())).all():
        look = number(parts)
        query = select(File.photo_id, *PARTS).where(shows(), _near(parts))
        for other, *others in connection.execute(query):
            distance = (look ^ number(others)).bit_count()
            if distance <= min(SIMILAR, distances.get(other, SIMILAR)):
                distances[other] = distance
    return sorted(distances, key=lambda other: (distances[other], other))[:_MOST_SIMILAR]


def shows() -> ColumnElement[bool]:
    """Return the condition for files that show their photo and have a hash."""
    return and_(File.primary, File.missing.is_(False), File.look_1 >= 0)


def _near(parts: Iterable[int]) -> ColumnElement[bool]:
    """Return a condition that all hashes fulfil that differ from this one in at most `SIMILAR` bits."""
    return or_(*(column.in_(sorted(part ^ mask for mask in _MASKS)) for column, part in zip(PARTS, parts, strict=True)))


def number(parts: Iterable[Any]) -> int:
    """Return the 64 bits of a hash from its parts."""
    whole = 0
    for part in parts:
        whole = whole << _PART_BITS | part
    return whole


class Lookups:
    """The lookups of one query; each runs once, however often the query and its smart albums repeat it.

    Where a photo or place is `required`, an unknown one is an error; elsewhere it is left out.

    Args:
        field: the parameter that errors name.
    """

    def __init__(self, connection: Connection, field: str, *, sees_private: bool) -> None:
        self._connection = connection
        self._field = field
        self._sees_private = sees_private
        self._found: dict[object, Any] = {}

    def once(self, key: object, look_up: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `look_up` gives
        """Return the result of `look_up`, which is called once for each key."""
        if key not in self._found:
            self._found[key] = look_up()
        return self._found[key]

    def gear_ids(self, kind: type[Camera | Lens], operands: Operands) -> Operands:
        """Replace words by the ids of the cameras or lenses whose names have one of them."""
        ids = {operand for operand in operands if isinstance(operand, int)}
        terms = [operand for operand in operands if isinstance(operand, Word | Phrase)]
        if terms:
            query = select(kind.id, kind.make, kind.model)
            every = self.once(kind, lambda: self._connection.execute(query).all())
            names = {row.id: gear_name(row.make, row.model) for row in every}  # `85mm` is a word of `EF85mm` as well
            named = each_of(self._connection, names.items())
            ids |= {key for key, name in named if fits(name, terms, _JOINED.sub(" ", name))}
        return tuple(sorted(ids))

    def people(self, operands: Operands) -> Operands:
        """Replace wildcards and UIDs by the names that fit; whole names and words are found in words of photos."""
        patterns = [
            operand
            for operand in operands
            if isinstance(operand, Pattern) and (len(operand.pieces) > 1 or is_uid(operand.pieces[0], SUBJECT))
        ]
        if not patterns:
            return operands
        uids = {operand.pieces[0] for operand in patterns if len(operand.pieces) == 1}
        query = select(Marker.name).where(Marker.name != "").distinct()
        every = self.once(Marker, lambda: self._connection.scalars(query).all())
        names = tuple(name for name in each_of(self._connection, every) if fits(name, patterns))
        names += self._people_with(uids, every) if uids else ()
        others = tuple(operand for operand in operands if operand not in patterns)
        return (*others, MarkerNames(names)) if names else others

    def _people_with(self, uids: set[str], names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that belong to people with these UIDs."""
        query = select(Subject.folded, Subject.uid)
        chosen = self.once(Subject, lambda: dict(self._connection.execute(query).all()))
        return tuple(name for name in names if (chosen.get(fold(name)) or computed_uid(SUBJECT, fold(name))) in uids)

    def circles(self, operands: Operands, *, required: bool) -> Operands:
        """Replace photos and places by circles around their positions; leave out photos without a position."""
        found: list[Operand] = []
        if sum(isinstance(operand, Town) for operand in operands) > _MOST_TOWNS:
            raise InvalidValueError(f"near names more than {_MOST_TOWNS} places", field=self._field)
        for operand in operands:
            if isinstance(operand, Town):
                found += [Circle(lat, lng, operand.km) for lat, lng in self._towns(operand, required=required)]
            elif isinstance(operand, Near):
                position = self._position(operand.uid, required=required)
                found += [Circle(*position, operand.km)] if position else []
        return tuple(found)

    def _towns(self, town: Town, *, required: bool) -> Sequence[tuple[float, float]]:
        try:
            return find_town(town.name, town.region)
        except (InvalidValueError, NotFoundError):
            if required:
                raise
            return ()

    def look_alikes(self, operands: Operands, *, required: bool) -> Operands:
        """Replace photos by the ids of the photos that look like them."""
        found: set[int] = set()
        for uid in [operand.text for operand in operands if isinstance(operand, Uid)][:_MOST_LOOKS]:
            look_up = partial(similar_photos, self._connection, uid, sees_private=self._sees_private)
            ids = self.once(("similar", uid), look_up)
            if ids is None and required:
                raise NotFoundError(Message("there is no photo {name}", name=uid), field="similar")
            found.update(ids or ())
        return tuple(sorted(found))

    def _position(self, uid: str, *, required: bool) -> tuple[float, float] | None:
        query = select(SearchRow.lat, SearchRow.lng).where(identified("photo_uid", [uid]))
        query = query.where(visible(sees_private=self._sees_private)).limit(1)
        found = self.once(("near", uid), lambda: self._connection.execute(query).first())
        if found is None and required:  # in the filter of a smart album an unknown photo is no error of the search
            raise NotFoundError(Message("there is no photo {name}", name=uid), field="near")
        return None if found is None or found.lat == NOWHERE else (found.lat, found.lng)
