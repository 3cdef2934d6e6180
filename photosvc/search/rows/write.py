"""The projection, which alone writes the rows of the search tables.

`project` replaces whole rows. The other functions write the same rows in less time if less has changed: in the rows of
changed values or flags only the columns that differ are updated, and a change of an album leaves records and words as
they are.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Select, delete, exists, insert, literal, not_, or_, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.core.times import ZERO_TIME
from photosvc.models import Album, AlbumPhoto, File, Marker, Photo, SearchAlbum, SearchDocument, SearchRow, SearchText
from photosvc.models.search import record_change
from photosvc.models.search_values import is_hidden, is_set, last_changed, microseconds
from photosvc.models.statements import (
    UNLOADED,
    Updates,
    among,
    among_parameter,
    as_parameter,
    changed_values,
    insert_for,
    insert_of,
    run_many,
    run_text,
)
from photosvc.records.fields import rfc3339
from photosvc.search.rows.render import is_missing, load, render_file, render_head, search_rows, search_text

_BATCH = 500
#: Columns that rows of `SearchAlbum` copy from the row of the file.
ALBUM_KEYS = [column.key for column in SearchAlbum.__table__.columns if column.key != "album_id"]
Rows = list[dict[str, Any]]
_ROW: Final = tuple(column.key for column in SearchRow.__table__.columns)
_DOCUMENT: Final = ("result_head", "file")
_TEXT: Final = tuple(column.key for column in SearchText.__table__.columns if column.key != "photo_id")
_STORED: Final = (
    select(
        *(getattr(SearchRow, name) for name in _ROW),
        *(getattr(SearchDocument, name) for name in _DOCUMENT),
        *(getattr(SearchText, name).label(f"text_{name}") for name in _TEXT),
    )
    .join(SearchDocument, SearchDocument.file_id == SearchRow.file_id)
    .join(SearchText, SearchText.photo_id == SearchRow.photo_id)
)
_PHOTO_ID, _FILE_ID, _HAS_ALBUM = (_ROW.index(name) for name in ("photo_id", "file_id", "has_album"))
#: Positions of the values of each table in a row of `_STORED`.
_OF_ROW: Final = slice(len(_ROW))
_OF_DOCUMENT: Final = slice(len(_ROW), len(_ROW) + len(_DOCUMENT))
_OF_TEXT: Final = slice(len(_ROW) + len(_DOCUMENT), None)
_row_values, _text_values, _album_keys = itemgetter(*_ROW), itemgetter(*_TEXT), itemgetter(*ALBUM_KEYS)
#: The values of one file in all tables, as `_STORED` reads them.
Stored = Sequence[Any]
_READ: Final = (
    Photo.id, Photo.private, Photo.favorite, Photo.archived_at, Photo.quality, Photo.edited_at, Photo.updated_at,
    Photo.created_at,
)  # fmt: skip
#: Columns of search rows that follow from `_READ`.
_FLAGS: Final = (
    "listed", "is_first", "private", "favorite", "archived", "archived_at", "hidden", "quality", "edited_at",
    "updated_at",
)  # fmt: skip


def project(session: Session, photo_ids: Iterable[int], complete: Iterable[Photo] = ()) -> int:
    """Replace the search rows of these photos in the session's transaction; return the number of rows written.

    Delete the rows of photos that no longer exist; missing files have none. Record one change of the library.

    Args:
        session: inside a write transaction.
        photo_ids: the ids of the photos.
        complete: photos that are already loaded, with everything and in the order of `load`; the others are loaded
            here.
    """
    session.flush()
    known = {photo.id: photo for photo in complete}
    count, private = 0, True
    with session.no_autoflush:
        for batch in batches(photo_ids):
            private = private and _are_private(session, batch)
            delete_rows(session, among(session, SearchRow.photo_id, batch))
            photos = [photo for photo_id in batch if (photo := known.get(photo_id)) and not is_missing(photo)]
            if unknown := [photo_id for photo_id in batch if photo_id not in known]:
                photos += load(session, unknown)
            count += _write_rows(session, photos)
            private = private and all(photo.private for photo in photos)
            _write_texts(session, photos)
            if gone := set(batch).difference(photo.id for photo in photos):
                _delete(session, SearchText, among(session, SearchText.photo_id, gone))
    record_change(session, private=private)
    return count


def _are_private(session: Session, photo_ids: Collection[int]) -> bool:
    """Return whether all of these photos are private by their search rows."""
    is_open = select(SearchRow.file_id).where(among(session, SearchRow.photo_id, photo_ids), not_(SearchRow.private))
    return session.connection().scalar(is_open.limit(1)) is None


def project_new(session: Session, photo_ids: Collection[int], complete: Collection[Photo]) -> None:
    """Write the search rows of new photos, at most some hundreds, of which none are stored.

    Record one change of the library.

    Args:
        session: inside a write transaction, flushed.
        photo_ids: the ids of the photos.
        complete: photos that are already loaded, as for `project`.
    """
    unknown = sorted(set(photo_ids).difference(photo.id for photo in complete))
    photos = [*complete, *load(session, unknown)] if unknown else [*complete]
    _write_rows(session, photos)
    _write_texts(session, photos)
    record_change(session, private=all(photo.private for photo in photos))


def remove(session: Session, photo_ids: Collection[int]) -> None:
    """Remove the search rows of photos whose files are all missing, like `project` but without loading them."""
    private = _are_private(session, photo_ids)
    delete_rows(session, among(session, SearchRow.photo_id, photo_ids))
    _delete(session, SearchText, among(session, SearchText.photo_id, photo_ids))
    record_change(session, private=private)


def batches(photo_ids: Iterable[int]) -> Iterator[list[int]]:
    """Yield the ids in batches that fit into one statement."""
    ids = iter(photo_ids)
    while batch := list(islice(ids, _BATCH)):
        yield batch


def delete_rows(session: Session, which: ColumnElement[bool]) -> None:
    """Delete these search rows with their records and album rows."""
    delete_of_files(session, select(SearchRow.file_id).where(which))


def delete_of_files(session: Session, file_ids: Select[int]) -> None:
    """Delete the search rows, records and album rows of these files."""
    for table in (SearchDocument, SearchAlbum, SearchRow):
        _delete(session, table, table.file_id.in_(file_ids))


def _delete(session: Session, mapped: Any, which: ColumnElement[bool]) -> None:  # noqa: ANN401 - a mapped class
    """Delete rows that no object of the session represents."""
    session.connection().execute(delete(mapped.__table__).where(which))


def rendered(session: Session, photos: Sequence[Photo]) -> tuple[Rows, Rows, Rows]:
    """Return the columns of every `SearchRow`, `SearchDocument` and `SearchAlbum` of photos from `load`."""
    albums = albums_of(session, [photo.id for photo in photos])
    Marker.identify(session, [marker for photo in photos for file in photo.files for marker in file.markers])
    rows: Rows = []
    documents: Rows = []
    in_albums: Rows = []
    for photo in photos:
        for file, row in search_rows(photo, has_album=any(albums[photo.id].values())):
            rows.append(row)
            documents.append({"file_id": file.id, "result_head": render_head(photo, file), "file": render_file(file)})
            keys = {name: row[name] for name in ALBUM_KEYS}
            in_albums += [{"album_id": album_id, **keys} for album_id in albums[photo.id]]
    return rows, documents, in_albums


def _write_rows(session: Session, photos: Sequence[Photo]) -> int:
    rows, documents, in_albums = rendered(session, photos)
    connection = session.connection()
    for table, values in ((SearchRow, rows), (SearchDocument, documents), (SearchAlbum, in_albums)):
        run_many(connection, insert_of(table), values)
    return len(rows)


def albums_of(session: Session, photo_ids: Collection[int]) -> defaultdict[int, dict[int, bool]]:
    """Return the ids of the albums of each photo, and whether each album still exists."""
    members = select(AlbumPhoto.photo_id, AlbumPhoto.album_id, Album.deleted_at.is_(None)).join(Album)
    found: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    for photo_id, album_id, is_there in session.connection().execute(
        members.where(among(session, AlbumPhoto.photo_id, photo_ids), not_(AlbumPhoto.hidden))
    ):
        found[photo_id][album_id] = is_there
    return found


def _write_texts(session: Session, photos: Sequence[Photo]) -> None:
    """Write only texts that changed: each write also updates the full-text index."""
    run_many(session.connection(), _text_statement(session.get_bind().dialect.name), [*map(search_text, photos)])


@cache
def _text_statement(dialect: str) -> Any:  # noqa: ANN401 - either dialect's own insert
    new = insert_for(SearchText, dialect)
    columns = {name: new.excluded[name] for name in _TEXT}
    changed = or_(*(getattr(SearchText, name) != value for name, value in columns.items()))
    return new.on_conflict_do_update(index_elements=["photo_id"], set_=columns, where=changed)


def project_album(session: Session, album_id: int, photo_ids: Iterable[int]) -> None:
    """Update the search rows of photos that were put into an album or taken out of it, or whose album was deleted.

    Write the same rows as `project` in a tenth of its time. Record one change of the library.
    """
    session.flush()
    in_an_album = exists().where(
        AlbumPhoto.photo_id == SearchRow.photo_id,
        not_(AlbumPhoto.hidden),
        Album.id == AlbumPhoto.album_id,
        Album.deleted_at.is_(None),
    )
    for batch in batches(photo_ids):
        of_batch = SearchRow.photo_id.in_(batch)
        files = select(SearchRow.file_id).where(of_batch)
        session.execute(delete(SearchAlbum).where(SearchAlbum.album_id == album_id, SearchAlbum.file_id.in_(files)))
        members = (
            select(literal(album_id), *(getattr(SearchRow, name) for name in ALBUM_KEYS))
            .join(AlbumPhoto, AlbumPhoto.photo_id == SearchRow.photo_id)
            .where(of_batch, AlbumPhoto.album_id == album_id, not_(AlbumPhoto.hidden))
        )
        session.execute(insert(SearchAlbum).from_select(["album_id", *ALBUM_KEYS], members))
        wrong = SearchRow.has_album != in_an_album
        session.execute(
            update(SearchRow).where(of_batch, wrong).values(has_album=not_(SearchRow.has_album)),
            execution_options=UNLOADED,
        )
    record_change(session)


def project_values(session: Session, photos: Sequence[Photo]) -> None:
    """Update the search rows of photos of which neither files nor albums were added or removed.

    Write the same rows as `project` in less time, because few of the many indexes change with a value. Record one
    change of the library.

    Args:
        session: inside a write transaction, flushed.
        photos: at most some hundreds, loaded with everything and in the order of `load`.
    """
    stored = _stored(session, [photo.id for photo in photos])
    private = _are_private(session, stored.keys()) and all(photo.private for photo in photos)
    Marker.identify(session, [marker for photo in photos for file in photo.files for marker in file.markers])
    updates = Updates()
    others: list[int] = []
    for photo in photos:
        old = stored[photo.id]
        has_album = any(row[_HAS_ALBUM] for row in old.values())
        if not _compare(photo, list(search_rows(photo, has_album=has_album)), old, updates):
            others.append(photo.id)
    updates.run(session.connection())
    if others:
        project(session, others)
    if not others or not private:
        record_change(session, private=private)


def renew(session: Session, photo_ids: Sequence[int]) -> int:
    """Bring all search rows of photos up to date; return the number of their rows.

    Write the same rows as `project`, in less time when most are right. Record one change of the library.

    Args:
        session: inside a write transaction, flushed.
        photo_ids: at most some hundreds.
    """
    photos, stored = load(session, photo_ids), _stored(session, photo_ids)
    albums, in_albums = albums_of(session, photo_ids), _stored_albums(session, photo_ids)
    Marker.identify(session, [marker for photo in photos for file in photo.files for marker in file.markers])
    updates = Updates()
    others = set(photo_ids).difference(photo.id for photo in photos)
    count = 0
    for photo in photos:
        rows = list(search_rows(photo, has_album=any(albums[photo.id].values())))
        wanted = {(album_id, *_album_keys(row)) for _, row in rows for album_id in albums[photo.id]}
        if wanted == in_albums[photo.id] and _compare(photo, rows, stored[photo.id], updates):
            count += len(rows)
        else:
            others.add(photo.id)
    updates.run(session.connection())
    if others:
        # The stored rows of their files may name another photo.
        delete_of_files(session, select(File.id).where(among(session, File.photo_id, others)))
        count += project(session, sorted(others))
    else:
        record_change(session)
    return count


def _stored(session: Session, photo_ids: Collection[int]) -> defaultdict[int, dict[int, Stored]]:
    """Return the stored values of each file of these photos, by photo and file."""
    stored: defaultdict[int, dict[int, Stored]] = defaultdict(dict)
    connection = session.connection()
    text, is_positional = _read_stored(connection.dialect)
    given = as_parameter(connection.dialect.name, photo_ids)
    # As the driver gives them, without conversions: SQLite's booleans are equal to those of Python.
    for row in run_text(connection, text, (given,) if is_positional else {"photo_ids": given}):
        stored[row[_PHOTO_ID]][row[_FILE_ID]] = tuple(row)
    return stored


@lru_cache(maxsize=8)
def _read_stored(dialect: Dialect) -> tuple[str, bool]:
    """Return `_STORED` of some photos as text for the driver, and whether its parameters go by position."""
    query = _STORED.where(among_parameter(dialect.name, SearchRow.photo_id, "photo_ids"))
    compiled = query.compile(dialect=dialect)
    return compiled.string, compiled.positional


def _stored_albums(session: Session, photo_ids: Collection[int]) -> defaultdict[int, set[tuple[int, ...]]]:
    """Return the album and keys of each stored album row, by photo."""
    keys = (getattr(SearchAlbum, name) for name in ALBUM_KEYS)
    query = select(SearchRow.photo_id, SearchAlbum.album_id, *keys)
    query = query.join(SearchRow, SearchRow.file_id == SearchAlbum.file_id)
    found: defaultdict[int, set[tuple[int, ...]]] = defaultdict(set)
    for photo_id, *values in session.connection().execute(query.where(among(session, SearchRow.photo_id, photo_ids))):
        found[photo_id].add(tuple(values))
    return found


def _compare(
    photo: Photo, rows: Sequence[tuple[File, dict[str, Any]]], stored: Mapping[int, Stored], updates: Updates
) -> bool:
    """Add the updates that a photo needs; return False if its stored rows belong to other files than it has."""
    if not rows or {file.id for file, _ in rows} != stored.keys():
        return False
    for file, row in rows:
        old = stored[file.id]
        values = _row_values(row)
        if values != old[_OF_ROW]:
            changed = changed_values(_ROW, values, old[_OF_ROW])
            updates.add(SearchRow, "file_id", file.id, changed)
            keys = {name: changed[name] for name in ALBUM_KEYS if name in changed}
            updates.add(SearchAlbum, "file_id", file.id, keys if row["has_album"] else {})
        documents = render_head(photo, file), render_file(file)
        updates.add(SearchDocument, "file_id", file.id, changed_values(_DOCUMENT, documents, old[_OF_DOCUMENT]))
    updates.add(
        SearchText, "photo_id", photo.id, changed_values(_TEXT, _text_values(search_text(photo)), old[_OF_TEXT])
    )
    return True


def project_flags(session: Session, photo_ids: Collection[int]) -> None:
    """Write the flags, quality and times of these photos, at most some hundreds, into their search rows.

    Write the same rows as `project` in a fraction of its time, if nothing else of the photos has changed and the
    session is flushed. Record one change of the library.
    """
    connection = session.connection()
    photos = {row.id: row for row in connection.execute(select(*_READ).where(among(session, Photo.id, photo_ids)))}
    rows = connection.execute(
        select(SearchRow.file_id, SearchRow.photo_id, SearchRow.present, SearchRow.has_error)
        .add_columns(SearchDocument.result_head, *(getattr(SearchRow, name) for name in _FLAGS))
        .join(SearchDocument, SearchDocument.file_id == SearchRow.file_id)
        .where(among(session, SearchRow.photo_id, photo_ids))
        .order_by(SearchRow.oldest_key)
    )
    updates = Updates()
    private = _are_private(session, photo_ids) and all(photo.private for photo in photos.values())
    with_first: set[int] = set()
    for file_id, photo_id, present, has_error, head, *old in rows:
        photo = photos[photo_id]
        archived, hidden = is_set(photo.archived_at), is_hidden(photo.quality)
        listed = present and not (has_error or archived or hidden)
        first = listed and photo_id not in with_first
        if first:
            with_first.add(photo_id)
        new = {
            "listed": listed,
            "is_first": first,
            "private": photo.private,
            "favorite": photo.favorite,
            "archived": archived,
            "archived_at": microseconds(photo.archived_at),
            "hidden": hidden,
            "quality": photo.quality,
            "edited_at": microseconds(photo.edited_at),
            "updated_at": last_changed(photo),
        }
        # An UPDATE of a column writes to all of its indexes, even if the value stays the same.
        updates.add(SearchRow, "file_id", file_id, changed_values(_FLAGS, [new[name] for name in _FLAGS], old))
        updates.add(SearchDocument, "file_id", file_id, {"result_head": _head(head, photo)})
    updates.run(connection)
    record_change(session, private=private)


def _head(text: str, photo: Any) -> str:  # noqa: ANN401 - a row of `_READ`
    record = orjson.loads(text + "}")
    record |= {
        "Favorite": photo.favorite,
        "Private": photo.private,
        "Quality": photo.quality,
        "UpdatedAt": rfc3339(photo.updated_at or ZERO_TIME),
        "EditedAt": rfc3339(photo.edited_at or ZERO_TIME),
    }
    return orjson.dumps(record).decode().removesuffix("}")
