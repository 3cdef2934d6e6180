"""Albums, stored and computed ones, with the numbers of their photos, and the folders of the originals as a tree."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, select

from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import ALBUM as ALBUM_UID
from photosvc.core.ids import is_uid
from photosvc.core.times import ZERO_TIME
from photosvc.models import UNKNOWN_PLACE, Album, File, Place, SearchAlbum, SearchRow
from photosvc.models.statements import unindexed
from photosvc.query.fold import fold
from photosvc.query.nodes import Everything
from photosvc.search.limits import Steps, expected_steps, within_steps
from photosvc.search.reading.albums_named import (
    FOLDER,
    MONTH,
    STATE,
    LibraryAlbum,
    kind_of,
    paths_down_to,
)
from photosvc.search.reading.compile import visible, visible_albums, visible_photos
from photosvc.search.reading.covers import latest
from photosvc.search.reading.library import CachedValue
from photosvc.search.reading.photos import PhotoQuery, find_photos
from photosvc.search.reading.plan import ALL_ROWS

ALBUM: Final = "album"
#: Factors of a day number: yyyymmdd is (year * 100 + month) * 100 + day.
_DAYS, _MONTHS = 100, 100
#: Types of albums: stored ones, computed ones, and `moment`, which clients ask for and this library has none of.
TYPES: Final = (ALBUM, FOLDER, MONTH, STATE, "moment")
_STORED: Final = (
    Album.id, Album.uid, Album.type, Album.title, Album.description, Album.filter, Album.order, Album.favorite,
    Album.private, Album.created_at, Album.updated_at, Album.category, Album.location, Album.notes, Album.cover,
)  # fmt: skip
#: Type -> the order when none is asked for.
_DEFAULT_ORDERS: Final = {FOLDER: "path", MONTH: "newest", STATE: "place"}
#: The most steps (`limits.Steps`) of all searches that count the photos of smart albums for a list, and of one search.
_MOST_STEPS: Final = 200
_MOST_OF_ONE: Final = 40


@dataclass(frozen=True, slots=True)
class AlbumRecord:
    """An album as `AlbumSchema` dumps it."""

    id: int
    uid: str
    type: str
    title: str
    description: str = ""
    category: str = ""
    location: str = ""
    notes: str = ""
    cover: str = ""
    """UID of the photo that a person chose as cover; empty for the latest one."""
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
    latest: str = ""
    """The packed sort keys of the latest photo, of a folder also of those below it; see `covers.latest`."""
    thumb: str = ""
    """The hash of the cover, if it was asked for; empty without photos."""
    link_count: int = 0
    """The public links to it, if they were asked for."""


#: Order -> its sort key, and whether it runs downwards. Albums with equal keys are sorted by title and UID.
ORDERS: Final[dict[str, tuple[Callable[[AlbumRecord], Any], bool]]] = {
    "favorites": (lambda album: album.favorite, True),
    "name": (lambda album: fold(album.title), False),
    "title": (lambda album: fold(album.title), False),
    "slug": (lambda album: fold(album.title), False),
    "category": (lambda album: (fold(album.category), fold(album.title)), False),
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


@dataclass(slots=True)
class _AlbumCache:
    """The counts of smart albums in one state of the library."""

    smart: dict[date, dict[str, tuple[int, str]]] = field(default_factory=dict)
    """The last day -> UID of a smart album -> number of its photos on it, and the packed sort keys of the latest."""

    costly: set[str] = field(default_factory=set)
    """UIDs of the smart albums whose photos take too many steps to count in a list."""

    def on(self, day: date) -> dict[str, tuple[int, str]]:
        """Return the counts of smart albums of this day, and drop the counts of another day."""
        counts = self.smart.get(day)
        if counts is None:
            counts = {}
            self.smart = {day: counts}
            self.costly = set()
        return counts


class KnownAlbums:
    """The albums of one library, cached until it changes: counting their photos reads every search row."""

    def __init__(self) -> None:
        self._lists = {kind: CachedValue(partial(_list_of, reader)) for kind, reader in _READERS.items()}
        self._cached = CachedValue(lambda *_, **__: _AlbumCache())

    def page(
        self,
        connection: Connection,
        albums_request: "AlbumsRequest",
        *,
        sees_private: bool,
        today: date,
        counted: bool = True,
        steps: int | None = _MOST_STEPS,
    ) -> list[AlbumRecord]:
        """Return a page of the albums on this day.

        Args:
            counted: whether searches count the photos of smart albums. Anybody may save a costly query, so all
                searches together end after `steps`. The number of an uncounted album is `UNCOUNTED`.
            steps: the most steps of all searches together; None: any number.
        """
        words = fold(albums_request.text)
        every = self._list(connection, albums_request.type, sees_private=sees_private)
        albums = [album for album in every if words in fold(album.title)]
        key, falling = ORDERS[albums_request.order]
        if albums_request.order == "count" and counted:
            albums = self._counted(connection, albums, sees_private=sees_private, today=today, steps=steps)
        albums.sort(key=lambda album: (fold(album.title), album.uid))
        albums.sort(key=key, reverse=falling)
        portion = albums[albums_request.offset : albums_request.offset + albums_request.count]
        if not counted:
            return portion
        return self._counted(connection, portion, sees_private=sees_private, today=today, steps=steps)

    def find(
        self, connection: Connection, uid: str, *, sees_private: bool, today: date, counted: bool = True
    ) -> AlbumRecord | None:
        """Return the album with this UID; None when there is none, or it may not be seen.

        Without `counted`, no search counts the photos of a smart album.
        """
        stored = select(*_STORED).where(Album.uid == uid, visible_albums(sees_private=sees_private))
        row = connection.execute(stored).mappings().first() if is_uid(uid, ALBUM_UID) else None
        if row is not None:
            counts = _photo_counts(connection, SearchAlbum.album_id == row["id"], sees_private=sees_private)
            album = _with_count(AlbumRecord(**row), counts.get(row["id"], _EMPTY))
            if not counted:
                return album
            return self._counted(connection, [album], sees_private=sees_private, today=today)[0]
        kind = kind_of(uid)
        every = self._list(connection, kind, sees_private=sees_private) if kind else []
        known = next((album for album in every if album.uid == uid), None)
        return _folder_above(every, uid) if known is None and kind == FOLDER else known

    def _list(self, connection: Connection, kind: str, *, sees_private: bool) -> list[AlbumRecord]:
        return self._lists[kind].read(connection, sees_private=sees_private) if kind in self._lists else []

    def _counted(
        self,
        connection: Connection,
        albums: list[AlbumRecord],
        *,
        sees_private: bool,
        today: date,
        steps: int | None = None,
    ) -> list[AlbumRecord]:
        """Return the albums with photo counts of smart albums; each count takes a search."""
        read = self._cached.read(connection, sees_private=sees_private)
        known, left = read.on(today), Steps(steps or 0)
        for album in albums:
            if not album.filter or album.uid in known or (steps is not None and album.uid in read.costly):
                continue
            query = partial(_count_of, connection, album.uid, sees_private=sees_private, today=today)
            if steps is None:
                known[album.uid] = _found_by(connection, query())
            elif left.left > 0:
                own = Steps(min(left.left, _MOST_OF_ONE))
                most, counted = own.left, _found_within(connection, query, own)
                left.take(most - max(own.left, 0))
                if counted is not None:
                    known[album.uid] = counted
                elif most == _MOST_OF_ONE:
                    read.costly.add(album.uid)
        return [_with_count(album, known.get(album.uid, UNCOUNTED)) if album.filter else album for album in albums]


@dataclass(frozen=True, slots=True)
class AlbumsRequest:
    """A page of the list of albums."""

    type: str
    order: str
    text: str
    """Part of the titles; empty: any."""
    count: int
    offset: int


def parse_albums_request(parameters: Any, count: int, offset: int) -> AlbumsRequest:  # noqa: ANN401 - a mapping of texts
    """Return the request that the parameters `type`, `order` and `q` make; empty ones count as absent.

    Raises:
        InvalidValueError: a type or order is unknown.
    """
    kind = parameters.get("type", "").strip().lower() or ALBUM
    order = parameters.get("order", "").strip().lower() or _DEFAULT_ORDERS.get(kind, "name")
    for name, value, known in (("type", kind, TYPES), ("order", order, ORDERS)):
        if value not in known:
            raise InvalidValueError(f"{name} {value[:40]!r} is unknown: use one of {', '.join(known)}", field=name)
    return AlbumsRequest(kind, order, parameters.get("q", "").strip(), count, offset)


#: The number of photos, and the packed sort keys of the latest, of an album without photos.
_EMPTY: Final = (0, "")
#: The same for an album whose photos are not counted.
UNCOUNTED: Final = (-1, "")


def _with_count(album: AlbumRecord, counted: tuple[int, str]) -> AlbumRecord:
    return replace(album, photo_count=counted[0], latest=counted[1])


def _count_of(connection: Connection, uid: str, *, sees_private: bool, today: date) -> Any:  # noqa: ANN401
    """Return the SELECT that counts the photos in an album; None if its query is too long or too deep."""
    try:
        photos = find_photos(connection, PhotoQuery(Everything(), uid, sees_private, today), rows_needed=ALL_ROWS)
    except InvalidValueError:
        return None
    return photos.select(photos.count, latest())


def _found_by(connection: Connection, query: Any) -> tuple[int, str]:  # noqa: ANN401
    if query is None:
        return _EMPTY
    count, newest = connection.execute(query).one()
    return count, newest or ""


def _found_within(connection: Connection, make: Callable[[], Any], steps: Steps) -> tuple[int, str] | None:
    """Return the result of the query, which takes at least one step; None if it takes more steps than are left."""
    results: list[tuple[int, str]] = []
    steps.take()
    with within_steps(connection, steps):
        query = make()
        on_postgresql = query is not None and connection.dialect.name == "postgresql"
        if not on_postgresql or steps.take(expected_steps(connection, query)):
            results.append(_found_by(connection, query))
    return results[0] if results else None


def _photo_counts(
    connection: Connection, *which: ColumnElement[bool], sees_private: bool
) -> dict[int, tuple[int, str]]:
    """Return the number of visible photos, and the packed sort keys of the latest, by the id of the album."""
    query = select(SearchAlbum.album_id, func.count(), latest(SearchAlbum)).join(
        SearchRow, SearchRow.file_id == SearchAlbum.file_id
    )
    query = query.where(visible_photos(sees_private=sees_private), *which)
    return {row[0]: (row[1], row[2]) for row in connection.execute(query.group_by(SearchAlbum.album_id))}


def _of_people(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    counts = _photo_counts(connection, sees_private=sees_private)
    for row in connection.execute(select(*_STORED).where(visible_albums(sees_private=sees_private))).mappings():
        yield _with_count(AlbumRecord(**row), counts.get(row["id"], _EMPTY))


def _grouped(
    connection: Connection, columns: Iterable[Any], *conditions: ColumnElement[bool], sees_private: bool
) -> Iterable[Any]:
    """Return the columns of each group of photos, its first path, the number of its photos, and the latest photo."""
    columns = tuple(columns)
    query = select(*columns, func.min(SearchRow.path), func.count(), latest()).where(
        visible_photos(sees_private=sees_private), *conditions
    )
    return connection.execute(query.group_by(*columns)).all()


def _of_library(album: LibraryAlbum, count: int, newest: str) -> AlbumRecord:
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
        latest=newest,
    )


def _folders(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    groups = _grouped(connection, [SearchRow.path_key], SearchRow.path_key != "", sees_private=sees_private)
    covers: dict[str, str] = {}
    for path_key, _, _, newest in groups:
        for folder in paths_down_to(path_key):
            covers[folder] = max(covers.get(folder, ""), newest)
    for path_key, path, count, _ in groups:
        yield _of_library(LibraryAlbum(FOLDER, path=path), count, covers[path_key])


def _folder_above(folders: Iterable[AlbumRecord], uid: str) -> AlbumRecord | None:
    """Return the empty album of a folder that has photos below it only; None when no folder has this UID."""
    found = (folder for folder in folders_in(folders, "", recursive=True) if folder.uid == uid)
    return next((_of_library(LibraryAlbum(FOLDER, path=one.path), 0, one.latest) for one in found), None)


def _months(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    # Group by day: an index of the timeline contains the days and all that the condition compares.
    day = SearchRow.timeline_day
    shown = visible_photos(sees_private=sees_private)
    query = select(day, func.count(), latest()).where(shown, unindexed(day) > 0).group_by(day)
    months: dict[int, tuple[int, str]] = {}
    for number, count, of_day in connection.execute(query):
        known = months.get(number // _DAYS, _EMPTY)
        months[number // _DAYS] = known[0] + count, max(known[1], of_day)
    for number, (count, of_month) in months.items():
        yield _of_library(LibraryAlbum(MONTH, year=number // _MONTHS, month=number % _MONTHS), count, of_month)


def _states(connection: Connection, *, sees_private: bool) -> Iterable[AlbumRecord]:
    known = SearchRow.state_key != "", SearchRow.country != UNKNOWN_PLACE
    names = {
        (row.country, fold(row.state)): row.state
        for row in connection.execute(select(Place.country, Place.state).distinct())
    }
    for country, state_key, _, count, newest in _grouped(
        connection, [SearchRow.country, SearchRow.state_key], *known, sees_private=sees_private
    ):
        name = names.get((country, state_key), state_key)
        yield _of_library(LibraryAlbum(STATE, country=country, state=name), count, newest)


def _list_of(read: "Callable[..., Iterable[AlbumRecord]]", connection: Connection, **rights: bool) -> list[AlbumRecord]:
    return list(read(connection, **rights))


_READERS: Final = {ALBUM: _of_people, FOLDER: _folders, MONTH: _months, STATE: _states}


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that contains photos, or folders that do."""

    path: str
    """The path relative to the originals."""
    photo_count: int
    """The number of photos directly in it."""
    total_count: int
    """The number of photos in it and below it."""
    latest: str = ""
    """The packed sort keys of the latest photo in it or below it; see `covers.latest`."""
    thumb: str = ""
    """The hash of the cover, if it was asked for."""

    @property
    def name(self) -> str:
        """Return the last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def uid(self) -> str:
        """Return the UID of its album, which is empty when no photo is directly in it."""
        return LibraryAlbum(FOLDER, path=self.path).uid


def folders_in(albums: Iterable[AlbumRecord], path: str, *, recursive: bool) -> list[Folder]:
    """Return the folders in a folder by path, from all albums of the type folder.

    Args:
        path: the path of the folder; empty for the originals.
    """
    own = [fold(part) for part in path.split("/") if part]
    names: dict[tuple[str, ...], str] = {}
    direct: dict[tuple[str, ...], int] = {}
    total: dict[tuple[str, ...], int] = {}
    newest: dict[tuple[str, ...], str] = {}
    for album in albums:
        parts = album.path.split("/")
        key = tuple(map(fold, parts))
        if list(key[: len(own)]) != own:
            continue
        last = len(parts) if recursive else min(len(parts), len(own) + 1)
        for depth in range(len(own) + 1, last + 1):
            names.setdefault(key[:depth], "/".join(parts[:depth]))
            total[key[:depth]] = total.get(key[:depth], 0) + album.photo_count
            newest[key[:depth]] = max(newest.get(key[:depth], ""), album.latest)
        direct[key] = direct.get(key, 0) + album.photo_count
    return [Folder(names[key], direct.get(key, 0), total[key], newest[key]) for key in sorted(names)]


def find_folder(albums: Iterable[AlbumRecord], path: str) -> Folder | None:
    """Return the folder with this path in any case; None if no photo is in it or below it."""
    around, wanted = path.rpartition("/")[0], fold(path)
    return next((folder for folder in folders_in(albums, around, recursive=False) if fold(folder.path) == wanted), None)


def files_in(connection: Connection, path: str, *, count: int, offset: int, sees_private: bool) -> Sequence[int]:
    """Return the ids of the files whose photos are directly in a folder, by name."""
    query = select(SearchRow.file_id).join(File, File.id == SearchRow.file_id)
    query = query.where(SearchRow.path_key == fold(path), visible(sees_private=sees_private, by_index=False))
    return connection.scalars(query.order_by(File.name, File.id).limit(count).offset(offset)).all()
