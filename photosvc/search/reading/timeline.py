"""The timeline: the photos of a query by the month in which they were taken; and those of a search in any order.

The order is that of `TIMELINE_KEYS`: by local day, and within a day as the search sorts; `oldest` is its exact reverse.
Photos of an unknown month make a month of their own, which is the last one in both orders. A position is the number of
a photo in its month.

In any other order, a position is the number of a photo among all photos of the search. Counting up to one walks past
what is skipped, so answers contain the cursor behind their last photo, from which later ones are counted.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.vocabulary import TYPES, UNKNOWN
from photosvc.models import TIMELINE_KEYS, File, FileKey, Photo, SearchRow
from photosvc.models.statements import unindexed
from photosvc.search.reading.pages import LibraryChangedError
from photosvc.search.reading.photos import PhotoQuery, find_photos, is_single
from photosvc.search.reading.plan import ALL_ROWS
from photosvc.search.reading.request import Cursor, SearchRequest
from photosvc.search.reading.window import KeyedFile, Search, photo_of, prepare

NEWEST, OLDEST = "newest", "oldest"
#: Photos that are shown at once.
DEFAULT_SHOWN, MOST_SHOWN = 100, 500
#: Rows of files that are read for several months at once.
_MOST_ROWS: Final = 20 * MOST_SHOWN
#: A month may have some ten thousand rows; fewer candidates than this are sorted instead.
_MONTH_ROWS: Final = 100
_DAYS: Final = 100
_DIGITS: Final = "0123456789abcdef"
LONGEST_TEXT: Final = 200
#: Titles that say nothing about a picture.
_NO_TEXT: Final = frozenset({"", UNKNOWN})
_MONTH: Final = re.compile(r"(?!0000)\d{4}-(0[1-9]|1[0-2])|0000-00", re.ASCII)
#: Files that are read at first for each wanted photo: usually one or two files of a photo match.
_FILES: Final = 2
#: Rows of the order `random` that are skipped by sorting them.
_NEAR: Final = 1000


@dataclass(frozen=True, slots=True)
class TimelinePhoto:
    """A photo of the timeline with the details that are shown when scrolling stops."""

    uid: str
    hash: str
    duration: int
    """In nanoseconds."""
    favorite: bool
    private: bool
    width: int
    height: int
    """In pixels of the upright picture; 0 when unknown."""
    turn: int
    """Exif orientation that leads from the picture as the file shows it to the one that a person chose; 1: none."""
    text: str
    """The text in place of the picture: title, description or name."""


def parse_order(text: str) -> bool:
    """Return whether the oldest photos come first; empty: the newest.

    Raises:
        InvalidValueError: it is another order.
    """
    name = text.strip().lower() or NEWEST
    if name not in {NEWEST, OLDEST}:
        msg = f"order must be {NEWEST} or {OLDEST} here; in other orders, read /photos page by page"
        raise InvalidValueError(msg, field="order")
    return name == OLDEST


def parse_month(text: str) -> int:
    """Return the month as the number yyyymm; 0 for the unknown month, `0000-00`.

    Raises:
        InvalidValueError: it is no month.
    """
    if not _MONTH.fullmatch(text):
        msg = "month must be a month such as 2023-05, or 0000-00 for photos whose month is unknown"
        raise InvalidValueError(msg, field="month")
    return int(text.replace("-", ""))


def write_month(month: int) -> str:
    """Return the month in the form that `parse_month` reads."""
    return f"{month // 100:04}-{month % 100:02}"


def count_months(connection: Connection, query: PhotoQuery, *, oldest_first: bool) -> list[tuple[int, int]]:
    """Return the months with the number of their photos, in order."""
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    day = SearchRow.timeline_day if photos.covered else unindexed(SearchRow.timeline_day)
    counted: dict[int, int] = {}
    # Group by day, because that is the order of the index.
    for number, count in connection.execute(photos.select(day, photos.count).group_by(day)):
        counted[number // _DAYS] = counted.get(number // _DAYS, 0) + count
    undated = counted.pop(0, 0)
    return [*sorted(counted.items(), reverse=not oldest_first), *([(0, undated)] if undated else [])]


def month_columns(connection: Connection, query: PhotoQuery, month: int, *, oldest_first: bool) -> dict[str, Any]:
    """Return the details of the photos of a month that a page needs for its layout, in columns."""
    columns = (SearchRow.timeline_day, SearchRow.aspect_ratio, SearchRow.color, SearchRow.photo_type)
    return to_columns(_rows_between(connection, query, (month, month), columns, oldest_first=oldest_first))


def months_between(
    connection: Connection, query: PhotoQuery, first: int, last: int, *, oldest_first: bool
) -> list[dict[str, Any]]:
    """Return the months from `first` to `last`, in either direction, with their columns and photos.

    Raises:
        InvalidValueError: the months have more than `MOST_SHOWN` photos, or one is the unknown month.
    """
    columns = (
        SearchRow.timeline_day, SearchRow.aspect_ratio, SearchRow.color, SearchRow.photo_type, SearchRow.file_id,
    )  # fmt: skip
    months = min(first, last), max(first, last)
    if not months[0]:
        msg = "photos whose month is unknown are not between two months: ask for 0000-00 alone"
        raise InvalidValueError(msg, field="months")
    rows = _rows_between(connection, query, months, columns, oldest_first=oldest_first, most=_MOST_ROWS)
    _refuse_more(len(rows), MOST_SHOWN)
    shown = details(connection, [row[5] for row in rows])
    months_shown = []
    for month, same in groupby(rows, key=lambda row: row[1] // _DAYS):
        photos = list(same)
        columns_of_month = to_columns([row[:5] for row in photos])
        shown_photos = [shown[row[5]] for row in photos]
        months_shown.append({"month": write_month(month), **columns_of_month, "photos": shown_photos})
    return months_shown


def _refuse_more(count: int, most: int) -> None:
    if count > most:
        msg = f"these months have more than {MOST_SHOWN} photos or too many files: ask for fewer, or for one month"
        raise InvalidValueError(msg, field="months")


def to_columns(rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return rows of a key, the day, the aspect ratio, the colour and the type as columns."""
    _, days, ratios, colors, types = zip(*rows, strict=True) if rows else ((),) * 5
    digits = {name: str(number) for number, name in enumerate(TYPES)}
    return {
        "days": [(day % _DAYS, len(list(same))) for day, same in groupby(days)],
        "ratio": [round(ratio * 100) or 100 for ratio in ratios],
        "color": "".join([_DIGITS[color] if 0 <= color < len(_DIGITS) else "0" for color in colors]),
        "type": "".join([digits.get(name, "0") for name in types]),
    }


def photos_of_month(
    connection: Connection, query: PhotoQuery, month: int, start: int, count: int, *, oldest_first: bool
) -> list[TimelinePhoto]:
    """Return the photos at `count` positions of a month from `start` on; fewer at its end."""
    rows = _rows_between(connection, query, (month, month), (SearchRow.file_id,), oldest_first=oldest_first)
    file_ids = [row[1] for row in rows[start : start + count]]
    shown = details(connection, file_ids)
    return [shown[file_id] for file_id in file_ids]


def _rows_between(
    connection: Connection,
    query: PhotoQuery,
    months: tuple[int, int],
    columns: Sequence[Any],
    *,
    oldest_first: bool,
    most: int | None = None,
) -> list[Sequence[Any]]:
    """Return the photos of successive months in order, each as its key and these columns of its first matching file.

    Args:
        most: the most files that they may have.
    """
    photos = find_photos(connection, query, rows_needed=_MONTH_ROWS)
    keys = [getattr(SearchRow, name) for name in TIMELINE_KEYS]
    if photos.plan.sorts:
        keys = [unindexed(key) for key in keys]
    day = keys[0]
    first, last = months
    statement = photos.select(SearchRow.newest_key, *columns).where(day >= first * _DAYS, day < (last + 1) * _DAYS)
    statement = statement.order_by(*(key.desc() for key in keys)).limit(most and most + 1)
    rows: list[Sequence[Any]] = list(connection.execute(statement))
    if most is not None:
        _refuse_more(len(rows), most)
    if not photos.single:  # the files of a photo are neighbours, the first one first
        rows = [next(files) for _, files in groupby(rows, key=lambda row: FileKey.unpack_photo_id(row[0]))]
    return rows[::-1] if oldest_first else rows


def details(connection: Connection, file_ids: Sequence[int]) -> Mapping[int, TimelinePhoto]:
    """Return the details shown of these files, at most some hundreds, by their ids."""
    rows = connection.execute(
        select(
            SearchRow.file_id, SearchRow.photo_uid, SearchRow.hash, SearchRow.duration, SearchRow.favorite,
            SearchRow.private, SearchRow.width, SearchRow.height, File.turn, Photo.title, Photo.description, Photo.name,
        )
        .join(Photo, Photo.id == SearchRow.photo_id)
        .join(File, File.id == SearchRow.file_id)
        .where(SearchRow.file_id.in_(file_ids))
    )  # fmt: skip
    shown: dict[int, TimelinePhoto] = {}
    for file_id, uid, content_hash, duration, favorite, private, width, height, turn, *texts in rows:
        text = next((text.strip() for text in texts if text.strip() not in _NO_TEXT), "")[:LONGEST_TEXT]
        shown[file_id] = TimelinePhoto(uid, content_hash, duration, favorite, private, width, height, turn, text)
    return shown


@dataclass(frozen=True, slots=True)
class PhotoSlice:
    """Successive photos of a search."""

    start: int
    """The position of the first one."""
    columns: dict[str, Any]
    """`ratio`, `color` and `type` of each, as a month of the timeline has them."""
    photos: Sequence[TimelinePhoto]
    next: Cursor | None
    """The place behind the last one, if there may be more."""


def count_photos(connection: Connection, query: PhotoQuery) -> int:
    """Count the photos of a query."""
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    return connection.scalar(photos.select(photos.count)) or 0


def position_of(connection: Connection, request: SearchRequest, uid: str, *, sees_private: bool) -> int:
    """Return the position of the photo with this UID.

    Raises:
        NotFoundError: the search does not find it; or its album or the photo of `near` does not exist, or may not be
            seen.
    """
    search = _prepare(connection, replace(request, cursor=None, offset=0), sees_private=sees_private)
    # PostgreSQL refuses texts with NUL, so only texts in the form of a UID are looked up.
    photo_id = connection.scalar(select(Photo.id).where(Photo.uid == uid)) if is_uid(uid, PHOTO) else None
    places = search.places_of(photo_id) if photo_id is not None else ()
    if not places:
        raise NotFoundError("the search does not find this photo")
    return search.number_before(places[0])


def read_slice(connection: Connection, request: SearchRequest, start: int, *, sees_private: bool) -> PhotoSlice:
    """Return the photos from the position `start` on, as many as `count` of the request; fewer at the end.

    They are counted from the request's cursor, if it has one, else from the first photo.

    Raises:
        InvalidValueError: the cursor is behind `start`.
        LibraryChangedError: one of them was removed meanwhile.
    """
    passed = request.cursor.position if request.cursor else 0
    if start < passed:
        raise InvalidValueError("from is before the place of the cursor: leave the cursor out", field="from")
    if request.order.base == "random" and start - passed > _NEAR:
        request = _shuffled_near(connection, request, start, sees_private=sees_private)
        passed = request.cursor.position if request.cursor else 0
    skipped, count = start - passed, request.count
    search = _prepare(connection, replace(request, count=skipped + count, offset=0), sees_private=sees_private)
    files = list(search.window(skipped, count)) if search.one_each else _first_files(search, skipped, count)
    following = search.cursor_behind(files[-1], start + count) if len(files) == count else None
    ids = [row[0] for row in files]
    photos = details(connection, ids)
    columns = _columns(connection, ids)
    try:
        return PhotoSlice(start, columns, [photos[file_id] for file_id in ids], following)
    except KeyError:
        raise LibraryChangedError from None


def _shuffled_near(connection: Connection, request: SearchRequest, start: int, *, sees_private: bool) -> SearchRequest:
    """Return the request, in the order `random`, with a cursor shortly before this position."""
    search = _prepare(connection, replace(request, cursor=None, count=start, offset=0), sees_private=sees_private)
    total = count_photos(connection, PhotoQuery(request.node, request.album, sees_private, request.today))
    near = search.shuffled_near(start, total, lambda key: search.number_before((0, key, 0)))
    return replace(request, cursor=near) if near else request


def _prepare(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Search:
    search = prepare(connection, request, sees_private=sees_private)
    return replace(search, one_each=is_single(search.node, search.context))


def _first_files(search: Search, skipped: int, count: int) -> list[KeyedFile]:
    """Return the first matching file of each of `count` photos after the first `skipped` photos.

    Rows of skipped photos are dropped at once, because there may be a million. In a reversed order, the first file of a
    photo comes last.
    """
    cursor, is_reversed = search.request.cursor, search.request.order.is_reversed
    before = FileKey.unpack_photo_id(int(cursor.values[-1])) if cursor else None
    files = _FILES * (skipped + count + 1)
    while True:
        firsts: list[KeyedFile] = []
        passed = read = 0
        rows = enumerate(search.window(0, files), 1)
        for photo_id, same in groupby(rows, key=lambda numbered: photo_of(numbered[1])):
            if passed == skipped + count:  # the files of the last photo are complete, as those of another one follow
                return firsts
            of_photo = list(same)
            read = of_photo[-1][0]
            if photo_id == before:
                continue
            passed += 1
            if passed > skipped:
                firsts.append(of_photo[-1 if is_reversed else 0][1])
        if read < files:
            return firsts
        files *= _FILES


def _columns(connection: Connection, ids: Sequence[int]) -> dict[str, Any]:
    columns = SearchRow.file_id, SearchRow.aspect_ratio, SearchRow.color, SearchRow.photo_type
    rows_by_id = {row[0]: row for row in connection.execute(select(*columns).where(SearchRow.file_id.in_(ids)))}
    rows = [(file_id, 0, *rows_by_id[file_id][1:]) for file_id in ids if file_id in rows_by_id]
    return {name: value for name, value in to_columns(rows).items() if name != "days"}
