"""Albums by their UIDs and titles: stored ones, and those of the library: its folders, months, states and provinces.

The UIDs of albums of the library are computed from the path, month or state, so that they never change. They begin with
`a00`, which the UID of a stored album never does: there, the digits after the `a` are the time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import accumulate, chain
from typing import Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Row, Select, select

from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import ALBUM, computed_uid, is_uid
from photosvc.models import UNKNOWN_PLACE, Album, Photo, Place
from photosvc.models.search_values import needles, word_text
from photosvc.query.areas import locate
from photosvc.query.filters import FILTERS, is_
from photosvc.query.fold import fold, words
from photosvc.query.lexer import quote
from photosvc.query.nodes import (
    And,
    Choice,
    Filter,
    Node,
    Nothing,
    Operand,
    Pattern,
    Phrase,
    Range,
    Uid,
    Word,
    leaves,
)
from photosvc.query.parser import parse_query
from photosvc.search.limits import each_of
from photosvc.search.reading.compile import visible_albums
from photosvc.search.reading.library import CachedValue

Operands: TypeAlias = tuple[Operand, ...]
#: The order of the photos of folders, months and states.
CHRONOLOGICAL: Final = "oldest"
FOLDER, MONTH, STATE = "folder", "month", "state"
_PREFIX: Final = f"{ALBUM}00"
_KINDS: Final = {FOLDER: "f", MONTH: "m", STATE: "s"}
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class LibraryAlbum:
    """An album of the library: a folder, a month, or a state."""

    kind: str
    path: str = ""
    year: int = -1
    month: int = -1
    country: str = ""
    state: str = ""

    @property
    def uid(self) -> str:
        """Return its UID, which contains the month or a digest."""
        if self.kind == MONTH:
            return f"{_PREFIX}m{self.year:0{_DIGITS - 2}}{self.month:02}"
        text = "\0".join((self.kind, fold(self.path), self.country, fold(self.state)))
        return computed_uid(f"{_PREFIX}{_KINDS[self.kind]}", text)

    @property
    def title(self) -> str:
        """Return the last name of the path, the month as `2023-05`, or the state."""
        if self.kind == MONTH:
            return f"{self.year:04}-{self.month:02}"
        return self.path.rpartition("/")[2] if self.kind == FOLDER else self.state

    @property
    def node(self) -> Node:
        """Return the query that finds its photos."""
        if self.kind == FOLDER:
            return Filter("path", is_(fold(self.path)))
        if self.kind == MONTH:
            return And((_number("year", self.year), _number("month", self.month)))
        return And((Filter("state", is_(fold(self.state))), Filter("country", is_(self.country))))


def kind_of(uid: str) -> str:
    """Return the kind of library album that has UIDs of this form; empty: none."""
    of_library = is_uid(uid, ALBUM) and uid.startswith(_PREFIX)
    return next((kind for kind, letter in _KINDS.items() if of_library and uid[len(_PREFIX)] == letter), "")


def find_library_album(connection: Connection, uid: str) -> LibraryAlbum | None:
    """Return the folder, month or state with this UID; None when the library has none."""
    match kind_of(uid):
        case "":
            return None
        case "month":
            digits = uid[len(_PREFIX) + 1 :]
            year, month = (int(digits[:-2]), int(digits[-2:])) if digits.isdigit() else (0, 0)
            return LibraryAlbum(MONTH, year=year, month=month) if 1 <= year <= 9999 and 1 <= month <= 12 else None
        case _:
            cached = _BY_UID.setdefault(connection.engine, CachedValue(_by_uid))
            return cached.read(connection, sees_private=True).get(uid)


def _by_uid(connection: Connection, **_: bool) -> dict[str, LibraryAlbum]:
    every = chain(_folders(connection), _states(connection))
    return {album.uid: album for album in each_of(connection, every)}


def _number(name: str, value: int) -> Node:
    return Filter(name, Choice((Range(value, value),)))


def _folders(connection: Connection) -> Iterator[LibraryAlbum]:
    paths = connection.scalars(select(Photo.path).where(Photo.path != "").distinct())
    for path in dict.fromkeys(chain.from_iterable(map(paths_down_to, paths))):
        yield LibraryAlbum(FOLDER, path=path)


def paths_down_to(path: str) -> Iterator[str]:
    """Return the paths of the folders from the topmost one to the one with this path, which is not empty."""
    return accumulate(path.split("/"), "{}/{}".format)


def query_below(path: str) -> str:
    """Return the query for the photos in a folder and below it."""
    own = quote(path, always=True)
    return f'path:{own}|{own[:-1]}/*"'


def _states(connection: Connection) -> Iterator[LibraryAlbum]:
    query = select(Place.country, Place.state).where(Place.state != "", Place.country != UNKNOWN_PLACE).distinct()
    for row in connection.execute(query):
        yield LibraryAlbum(STATE, country=row.country, state=row.state)


#: The folders and states of each database by their UIDs, which are computed from all of them.
_BY_UID: Final = WeakKeyDictionary[Engine, CachedValue[dict[str, LibraryAlbum]]]()


class NamedAlbum(NamedTuple):
    """An album that a search or a download names."""

    id: int
    """0 for an album of the library."""
    uid: str
    title: str
    filter: str
    """The query of a smart album; empty for others."""
    order: str


@cache
def _albums(*, sees_private: bool) -> "Select[int, str, str, str, str]":
    query = select(Album.id, Album.uid, Album.title, Album.filter, Album.order)
    return query.where(visible_albums(sees_private=sees_private))


def find_album(connection: Connection, uid: str, *, sees_private: bool) -> NamedAlbum | None:
    """Return the album with this UID; None when there is none, or it may not be seen."""
    # PostgreSQL refuses texts with NUL, so only texts in the form of a UID are looked up.
    if not is_uid(uid, ALBUM):
        return None
    row = connection.execute(_albums(sees_private=sees_private).where(Album.uid == uid)).first()
    if row:
        return NamedAlbum._make(row)
    of_library = find_library_album(connection, uid)
    return NamedAlbum(0, uid, of_library.title, "", CHRONOLOGICAL) if of_library else None


class NamedAlbums:
    """The albums that the filters of a search name, limited to those that the caller may see."""

    def __init__(self, connection: Connection, *, sees_private: bool, today: date) -> None:
        self._connection = connection
        self._today = today
        self._query = _albums(sees_private=sees_private)
        self._every: Sequence[Row[int, str, str, str, str]] | None = None
        self._named: dict[Operands, list[NamedAlbum]] = {}
        self._smart: dict[int, NamedAlbum] = {}
        self._queries: dict[int, Node | None] = {}
        self._reached: dict[int, set[int]] = {}

    @property
    def has_smart(self) -> bool:
        """Return whether one of the albums that were named is a smart one."""
        return bool(self._smart)

    def named(self, operands: Operands) -> list[NamedAlbum]:
        """Return the albums that have one of these UIDs or titles."""
        if operands not in self._named:
            self._named[operands] = albums = self._look_up(operands)
            self._smart |= {album.id: album for album in albums if album.filter}
        return self._named[operands]

    def query_of(self, album: NamedAlbum) -> Node | None:
        """Return the query of a smart album; None if it is not valid, because a version with other filters saved it.

        An invalid album is no error of the search that names it.
        """
        if album.id not in self._queries:
            try:
                self._queries[album.id] = locate(parse_query(album.filter, self._today, "filter"))
            except InvalidValueError:
                self._queries[album.id] = None
        return self._queries[album.id]

    def names(self, outer: int, inner: int) -> bool:
        """Return whether the smart album `outer` is `inner`, or names it directly or through other smart albums."""
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

    def _look_up(self, operands: Operands) -> list[NamedAlbum]:
        uids = [operand.text for operand in operands if isinstance(operand, Uid)]
        if len(uids) == len(operands):
            return [NamedAlbum._make(row) for row in self._connection.execute(self._query.where(Album.uid.in_(uids)))]
        if self._every is None:
            self._every = self._connection.execute(self._query).all()
        every = each_of(self._connection, self._every)
        return [NamedAlbum._make(row) for row in every if row.uid in uids or fits_name(row.title, operands)]


def _albums_in(node: Node) -> Iterator[Operands]:
    """Yield the operands of the filters by albums in a query, in the groups that are looked up together."""
    for part in leaves(node):
        match part:
            case Filter(name, Choice(any_of, none_of)) if FILTERS[name].columns[0] == "albums":
                yield from (operands for operands in (any_of, none_of) if operands)


def fits_name(name: str, operands: Iterable[Operand], *spellings: str) -> bool:
    """Return whether a name has one of these words, maybe in another spelling, or is one of these whole names."""
    text, whole = word_text((name, *spellings)), " ".join(words(name))
    return any(
        any(needle in text for needle in needles(operand))
        if isinstance(operand, Word | Phrase)
        else isinstance(operand, Pattern) and operand.matches(whole)
        for operand in operands
    )
