"""The albums of a library, of people and computed ones, with the number of their photos."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, select

from photosvc.core.clock import ZERO_TIME
from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import ALBUM as ALBUM_UID
from photosvc.core.ids import is_uid
from photosvc.models import UNKNOWN_PLACE, Album, Place, SearchAlbum, SearchRow
from photosvc.models.database.unindexed import unindexed
from photosvc.query.fold import fold
from photosvc.query.nodes import Everything
from photosvc.search.reading.conditions.visible import visible, visible_albums
from photosvc.search.reading.library import library_state
from photosvc.search.reading.names.library_albums import FOLDER, MONTH, STATE, LibraryAlbum, kind_of
from photosvc.search.reading.overview.photos import PhotoQuery, find_photos
from photosvc.search.reading.planning.plan import ALL_ROWS

ALBUM: Final = "album"
#: Days of a month and months of a year in the numbers of days.
_DAYS, _MONTHS = 100, 100
#: Types of albums: those of people, computed ones, and those that clients ask for and this library has none of.
TYPES: Final = (ALBUM, FOLDER, MONTH, STATE, "moment")


@dataclass(frozen=True, slots=True)
class AlbumRecord:
    """What `AlbumSchema` dumps."""

    id: int
    uid: str
    type: str
    title: str
    description: str = ""
    filter: str = ""
    order: str = "oldest"
    favorite: bool = False
    private: bool = False
    path: str = ""
    year: int = -1
    month: int = -1
    country: str = UNKNOWN_PLACE
    state: str = ""
    created_at: datetime = ZERO_TIME
    updated_at: datetime = ZERO_TIME
    deleted_at: datetime | None = None
    photo_count: int = 0


_STORED: Final = (
    Album.id, Album.uid, Album.type, Album.title, Album.description, Album.filter, Album.order, Album.favorite,
    Album.private, Album.created_at, Album.updated_at,
)  # fmt: skip

#: Order -> its sort key, and whether it runs downwards. Albums with equal keys are sorted by title and UID.
ORDERS: Final[dict[str, tuple[Callable[[AlbumRecord], Any], bool]]] = {
    "favorites": (lambda album: album.favorite, True),
    "name": (lambda album: fold(album.title), False),
    "title": (lambda album: fold(album.title), False),
    "slug": (lambda album: fold(album.title), False),
    "category": (lambda album: fold(album.title), False),  # clients ask for it; albums have none
    "name_reverse": (lambda album: fold(album.title), True),
    "newest": (lambda album: (album.year, album.month, album.created_at, album.id), True),
    "moment": (lambda album: (album.year, album.month, album.created_at, album.id), True),
    "oldest": (lambda album: (album.year, album.month, album.created_at, album.id), False),
    "added": (lambda album: (album.created_at, album.id), True),
    "edited": (lambda album: album.updated_at, True),
    "place": (lambda album: (album.country, fold(album.state)), False),
    "path": (lambda album: fold(album.path), False),
    "count": (lambda album: album.photo_count, True),
}
#: Type -> the order when none is asked for.
_DEFAULT_ORDERS: Final = {FOLDER: "path", MONTH: "newest", STATE: "place"}


@dataclass(slots=True)
class _Kept:
    """What was read of one state of the library."""

    state: int
    lists: dict[str, list[AlbumRecord]] = field(default_factory=dict)
    smart: dict[str, int] = field(default_factory=dict)
    """UID of a smart album -> number of its photos."""


class KnownAlbums:
    """The albums of one library, kept until it changes: counting their photos reads every search row."""

    def __init__(self) -> None:
        self._kept: dict[bool, _Kept] = {}

    def page(
        self, connection: Connection, asked: "AlbumsRequest", *, sees_private: bool, counted: bool = True
    ) -> list[AlbumRecord]:
        """The albums on a page of the list. Without `counted`, no search counts the photos of smart albums."""
        words = fold(asked.text)
        every = self._list(connection, asked.type, sees_private=sees_private)
        found = [album for album in every if words in fold(album.title)]
        key, falling = ORDERS[asked.order]
        if asked.order == "count" and counted:
            found = self._counted(connection, found, sees_private=sees_private)
        found.sort(key=lambda album: (fold(album.title), album.uid))
        found.sort(key=key, reverse=falling)
        portion = found[asked.offset : asked.offset + asked.count]
        return self._counted(connection, portion, sees_private=sees_private) if counted else portion

    def find(self, connection: Connection, uid: str, *, sees_private: bool, counted: bool = True) -> AlbumRecord | None:
        """The album with this UID; None when there is none, or it may not be seen.

        Without `counted`, no search counts the photos of a smart album.
        """
        stored = select(*_STORED).where(Album.uid == uid, visible_albums(sees_private=sees_private))
        row = connection.execute(stored).mappings().first() if is_uid(uid, ALBUM_UID) else None
        if row is not None:
            counts = _photo_counts(connection, SearchAlbum.album_id == row["id"], sees_private=sees_private)
            album = AlbumRecord(**row, photo_count=counts.get(row["id"], 0))
            return self._counted(connection, [album], sees_private=sees_private)[0] if counted else album
        kind = kind_of(uid)
        every = self._list(connection, kind, sees_private=sees_private) if kind else []
        return next((album for album in every if album.uid == uid), None)

    def _list(self, connection: Connection, kind: str, *, sees_private: bool) -> list[AlbumRecord]:
        lists = self._of_now(connection, sees_private=sees_private).lists
        if kind not in lists:
            lists[kind] = list(_READERS[kind](connection, sees_private=sees_private)) if kind in _READERS else []
        return lists[kind]

    def _counted(self, connection: Connection, albums: list[AlbumRecord], *, sees_private: bool) -> list[AlbumRecord]:
        """The albums with the numbers of the smart ones, each of which is a search."""
        known = self._of_now(connection, sees_private=sees_private).smart
        for album in albums:
            if album.filter and album.uid not in known:
                known[album.uid] = _found_in(connection, album.uid, sees_private=sees_private)
        return [replace(album, photo_count=known[album.uid]) if album.filter else album for album in albums]

    def _of_now(self, connection: Connection, *, sees_private: bool) -> _Kept:
        state = library_state(connection)
        kept = self._kept.get(sees_private)
        if kept is None or kept.state != state or not state:  # without a number, nothing tells of changes
            self._kept[sees_private] = kept = _Kept(state)
        return kept


@dataclass(frozen=True, slots=True)
class AlbumsRequest:
    """A page of the list of albums."""

    type: str
    order: str
    text: str
    """Part of the titles; empty: any."""
    count: int
    offset: int


def parse_albums_request(given: Any, count: int, offset: int) -> AlbumsRequest:  # noqa: ANN401 - a mapping of texts
    """The request of the parameters `type`, `order` and `q`; empty ones count as absent.

    Raises:
        InvalidValueError: a type or order is unknown.

    """
    kind = given.get("type", "").strip().lower() or ALBUM
    order = given.get("order", "").strip().lower() or _DEFAULT_ORDERS.get(kind, "name")
    for name, value, known in (("type", kind, TYPES), ("order", order, ORDERS)):
        if value not in known:
            msg = f"{name} {value[:40]!r} is unknown: use one of {', '.join(known)}"
            raise InvalidValueError(msg, field=name)
    return AlbumsRequest(kind, order, given.get("q", "").strip(), count, offset)


def _found_in(connection: Connection, uid: str, *, sees_private: bool) -> int:
    """The number of photos that a search in an album finds; 0 when albums inside of it make it too long or deep."""
    try:
        photos = find_photos(connection, PhotoQuery(Everything(), uid, sees_private), rows_needed=ALL_ROWS)
    except InvalidValueError:
        return 0
    return connection.scalar(photos.select(photos.count)) or 0


def _photo_counts(connection: Connection, *which: ColumnElement[bool], sees_private: bool) -> dict[int, int]:
    """Id of an album -> the number of its photos that may be seen."""
    query = select(SearchAlbum.album_id, func.count()).join(SearchRow, SearchRow.file_id == SearchAlbum.file_id)
    query = query.where(SearchRow.is_first, visible(sees_private=sees_private, by_index=False), *which)
    return {row[0]: row[1] for row in connection.execute(query.group_by(SearchAlbum.album_id))}


def _of_people(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    counts = _photo_counts(connection, sees_private=sees_private)
    for row in connection.execute(select(*_STORED).where(visible_albums(sees_private=sees_private))).mappings():
        yield AlbumRecord(**row, photo_count=counts.get(row["id"], 0))


def _grouped(
    connection: Connection, columns: Iterable[Any], *conditions: ColumnElement[bool], sees_private: bool
) -> Iterable[Any]:
    """Groups of photos by these columns, with the first of their paths and their number."""
    columns = tuple(columns)
    query = select(*columns, func.min(SearchRow.path), func.count()).where(
        SearchRow.is_first, visible(sees_private=sees_private, by_index=False), *conditions
    )
    return connection.execute(query.group_by(*columns)).all()


def _of_library(album: LibraryAlbum, count: int) -> AlbumRecord:
    return AlbumRecord(
        id=0,
        uid=album.uid,
        type=album.kind,
        title=album.title,
        path=album.path,
        year=album.year,
        month=album.month,
        country=album.country or UNKNOWN_PLACE,
        state=album.state,
        photo_count=count,
    )


def _folders(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    found = _grouped(connection, [SearchRow.path_key], SearchRow.path_key != "", sees_private=sees_private)
    for _, path, count in found:
        yield _of_library(LibraryAlbum(FOLDER, path=path), count)


def _months(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    # Of days, because an index of the timeline contains them and all that the condition compares.
    day = SearchRow.timeline_day
    shown = visible(sees_private=sees_private, by_index=False)
    query = select(day, func.count()).where(SearchRow.is_first, shown, unindexed(day) > 0).group_by(day)
    months: dict[int, int] = {}
    for number, count in connection.execute(query):
        months[number // _DAYS] = months.get(number // _DAYS, 0) + count
    for number, count in months.items():
        yield _of_library(LibraryAlbum(MONTH, year=number // _MONTHS, month=number % _MONTHS), count)


def _states(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    known = SearchRow.state_key != "", SearchRow.country != UNKNOWN_PLACE
    names = {
        (row.country, fold(row.state)): row.state
        for row in connection.execute(select(Place.country, Place.state).distinct())
    }
    for country, state_key, _, count in _grouped(
        connection, [SearchRow.country, SearchRow.state_key], *known, sees_private=sees_private
    ):
        name = names.get((country, state_key), state_key)
        yield _of_library(LibraryAlbum(STATE, country=country, state=name), count)


_READERS: Final = {ALBUM: _of_people, FOLDER: _folders, MONTH: _months, STATE: _states}
