"""Albums that follow from the library: its folders, months, and states or provinces.

Their UIDs are computed from the path, month or state, so that they never change. They begin with `a00`, which the
UID of a stored album never does: there, the digits after the `a` are the time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from photosvc.core.ids import ALBUM, computed_uid, is_uid
from photosvc.models import UNKNOWN_PLACE, Photo, Place
from photosvc.query.filter_spec import is_
from photosvc.query.fold import fold
from photosvc.query.nodes import And, Choice, Filter, Node, Range
from photosvc.search.limits import each_of

FOLDER, MONTH, STATE = "folder", "month", "state"
_PREFIX: Final = f"{ALBUM}00"
_KINDS: Final = {FOLDER: "f", MONTH: "m", STATE: "s"}
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class LibraryAlbum:
    """A folder, a month, or a state."""

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
        case kind:
            return next((album for album in each_of(connection, _READERS[kind](connection)) if album.uid == uid), None)


def _number(name: str, value: int) -> Node:
    return Filter(name, Choice((Range(value, value),)))


def _folders(connection: Connection) -> Iterator[LibraryAlbum]:
    for path in connection.scalars(select(Photo.path).where(Photo.path != "").distinct()):
        yield LibraryAlbum(FOLDER, path=path)


def _states(connection: Connection) -> Iterator[LibraryAlbum]:
    query = select(Place.country, Place.state).where(Place.state != "", Place.country != UNKNOWN_PLACE).distinct()
    for row in connection.execute(query):
        yield LibraryAlbum(STATE, country=row.country, state=row.state)


_READERS: Final = {FOLDER: _folders, STATE: _states}
