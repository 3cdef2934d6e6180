"""Selections of files by UIDs, hashes, albums and a query, limited to those that the caller may see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, cast, func, select
from sqlalchemy.orm import InstrumentedAttribute

from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import ALBUM, FILE, PHOTO, is_hash, is_uid
from photosvc.models import SearchRow
from photosvc.models.statements import in_portions
from photosvc.search.reading.albums_named import CHRONOLOGICAL, NamedAlbum, find_album
from photosvc.search.reading.columns import identified
from photosvc.search.reading.compile import visible_in_any_state
from photosvc.search.reading.files import matching_ids
from photosvc.search.reading.plan import plan_all
from photosvc.search.reading.request import ALBUM_ORDERS, parse_request
from photosvc.search.reading.window import matching, prepare

#: The most UIDs and hashes in one selection.
MOST_SELECTED: Final = 20_000
#: The most albums in one selection: each is a search.
MOST_ALBUMS: Final = 20
#: The size of files together; PostgreSQL sums integers to decimals.
_BYTES: Final = cast(func.coalesce(func.sum(SearchRow.size), 0), BigInteger)


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of files by photos, files, albums and a query."""

    photos: Sequence[str] = ()
    """UIDs; each selects all files of the photo but its sidecars."""
    files: Sequence[str] = ()
    """UIDs or hashes."""
    albums: Sequence[str] = ()
    """UIDs; each selects the files that a search in the album finds."""
    query: str = ""
    """A query that selects the files it finds; empty: nothing."""


def parse_selection(fields: Mapping[str, Any], *, most_albums: int = MOST_ALBUMS) -> Selection:
    """Return the selection of the keys `photos`, `files`, `albums` and `q`, which may be absent or None.

    Raises:
        InvalidValueError: nothing is selected, too much is, or a value is no UID or hash; `field` names the key.
    """
    photos, files, albums = (fields.get(name) or () for name in ("photos", "files", "albums"))
    files = [text.lower() for text in files]
    query = (fields.get("q") or "").strip()
    if not (photos or files or albums or query):
        raise InvalidValueError("No items selected", field="photos")
    if len(photos) + len(files) + len(albums) > MOST_SELECTED:
        msg = f"more than {MOST_SELECTED:,} items are selected"
        raise InvalidValueError(
            msg, field=max(("photos", "files", "albums"), key=lambda name: len(fields.get(name) or ()))
        )
    if len(albums) > most_albums:
        raise InvalidValueError(f"more than {most_albums} albums are selected", field="albums")
    _check("photos", "a photo UID", [is_uid(text, PHOTO) for text in photos])
    _check("files", "a file UID or hash", [is_uid(text, FILE) or is_hash(text) for text in files])
    _check("albums", "an album UID", [is_uid(text, ALBUM) for text in albums])
    return Selection(photos, files, albums, query)


def _check(field: str, kind: str, valid: Sequence[bool]) -> None:
    if not all(valid):
        raise InvalidValueError(f"item {valid.index(False) + 1} of {field} is not {kind}", field=field)


def selected_ids(
    connection: Connection, selection: Selection, *, limit: int, sees_private: bool, today: date
) -> list[int]:
    """Return the ids of the first `limit` files that are selected on this day, each once.

    The files of photos come first, then single files, albums in their orders, and the query. Files that do not exist
    or may not be seen are left out.

    Raises:
        InvalidQueryError: the query is not valid.
    """
    file_ids: dict[int, None] = {}
    for file_id in _ids(connection, selection, limit, sees_private=sees_private, today=today):
        file_ids[file_id] = None
        if len(file_ids) == limit:
            break
    return list(file_ids)


def album_ids(
    connection: Connection, album: NamedAlbum, *, limit: int, sees_private: bool, today: date
) -> Sequence[int]:
    """Return the ids of the first `limit` files of an album on this day, in its order."""
    order = album.order if album.order in ALBUM_ORDERS else CHRONOLOGICAL
    request = parse_request({"s": album.uid, "order": order, "count": str(limit)}, today)
    return matching_ids(connection, request, sees_private=sees_private)


def bytes_of(connection: Connection, file_ids: Sequence[int]) -> int:
    """Return the total size of these files in bytes."""
    return sum(
        connection.scalar(select(_BYTES).where(SearchRow.file_id.in_(portion))) or 0
        for portion in in_portions(file_ids)
    )


def album_bytes(connection: Connection, uid: str, *, sees_private: bool, today: date) -> int:
    """Return the total size, in bytes, of the files that a search in an album finds on this day.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
    """
    search = prepare(connection, parse_request({"s": uid, "order": CHRONOLOGICAL}, today), sees_private=sees_private)
    plan = plan_all(search.node, search.context, connection)
    size: int = connection.scalar(matching(plan, _BYTES))
    return size


def _ids(connection: Connection, selection: Selection, limit: int, *, sees_private: bool, today: date) -> Iterator[int]:
    by_uid = [uid for uid in selection.files if not is_hash(uid)]
    by_hash = [content for content in selection.files if is_hash(content)]
    yield from _identified(connection, SearchRow.photo_uid, selection.photos, sees_private=sees_private)
    yield from _identified(connection, SearchRow.file_uid, by_uid, sees_private=sees_private)
    yield from _identified(connection, SearchRow.hash, by_hash, most=1, sees_private=sees_private)
    for uid in dict.fromkeys(selection.albums):
        album = find_album(connection, uid, sees_private=sees_private)
        if album:
            yield from album_ids(connection, album, limit=limit, sees_private=sees_private, today=today)
    if selection.query:
        request = parse_request({"q": selection.query, "order": CHRONOLOGICAL, "count": str(limit)}, today)
        yield from matching_ids(connection, request, sees_private=sees_private)


def _identified(
    connection: Connection,
    column: InstrumentedAttribute[str],
    values: Iterable[str],
    *,
    most: int | None = None,
    sees_private: bool,
) -> Iterator[int]:
    """Yield the ids of the files with these values of a column, in the order of the values.

    Args:
        most: the most files of one value.
    """
    seen = visible_in_any_state(sees_private=sees_private)
    for portion in in_portions(list(dict.fromkeys(values))):
        query = select(column, SearchRow.file_id).where(seen, identified(str(column.key), portion))
        ids_by_value: dict[str, list[int]] = {}
        for value, file_id in connection.execute(query.order_by(SearchRow.is_primary.desc(), SearchRow.file_id)):
            ids_by_value.setdefault(value, []).append(file_id)
        for value in portion:
            yield from ids_by_value.get(value, ())[:most]
