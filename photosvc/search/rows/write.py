"""The projection, which alone writes the rows of the search tables.

`project` replaces whole rows; `renew` updates the columns that differ, because few of the many indexes change with a
value; `remove` deletes rows.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, not_, or_, select
from sqlalchemy.orm import Session

from photosvc.models import Album, AlbumPhoto, File, Marker, Photo, SearchAlbum, SearchDocument, SearchRow, SearchText
from photosvc.models.counters import record_change
from photosvc.models.statements import (
    Updates,
    among,
    changed_values,
    insert_for,
    insert_of,
    run_many,
)
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
    """Return the ids of the albums of each photo, each with whether the album still exists."""
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


def renew(session: Session, photo_ids: Iterable[int]) -> int:
    """Bring all search rows of photos up to date; return the number of their rows.

    Write the same rows as `project`, in less time when most are right. Record one change of the library.

    Args:
        session: inside a write transaction.
        photo_ids: the ids of the photos.
    """
    session.flush()
    return sum(_renew(session, batch) for batch in batches(photo_ids))


def _renew(session: Session, photo_ids: Sequence[int]) -> int:
    photos, stored = load(session, photo_ids), _stored(session, photo_ids)
    private = _are_private(session, photo_ids) and all(photo.private for photo in photos)
    albums, in_albums = albums_of(session, photo_ids), _stored_albums(session, photo_ids)
    Marker.identify(session, [marker for photo in photos for file in photo.files for marker in file.markers])
    updates = Updates()
    others = set(photo_ids).difference(photo.id for photo in photos)
    moved: list[tuple[int, int, tuple[Any, ...]]] = []
    moved_files: list[int] = []
    count = 0
    for photo in photos:
        rows = list(search_rows(photo, has_album=any(albums[photo.id].values())))
        if not _compare(photo, rows, stored[photo.id], updates):
            others.add(photo.id)
            continue
        count += len(rows)
        wanted = [(album_id, file.id, _album_keys(row)) for file, row in rows for album_id in albums[photo.id]]
        if {(album_id, *keys) for album_id, _, keys in wanted} != in_albums[photo.id]:
            moved += wanted
            moved_files += [file.id for file, _ in rows]
    updates.run(session.connection())
    _delete(session, SearchAlbum, among(session, SearchAlbum.file_id, moved_files))
    in_album = [{"album_id": album_id, **dict(zip(ALBUM_KEYS, keys, strict=True))} for album_id, _, keys in moved]
    run_many(session.connection(), insert_of(SearchAlbum), in_album)
    if others:
        # The stored rows of their files may name another photo.
        delete_of_files(session, select(File.id).where(among(session, File.photo_id, others)))
        count += project(session, sorted(others))
    record_change(session, private=private)
    return count


def _stored(session: Session, photo_ids: Collection[int]) -> defaultdict[int, dict[int, Stored]]:
    """Return the stored values of each file of these photos, by photo and file."""
    stored: defaultdict[int, dict[int, Stored]] = defaultdict(dict)
    for row in session.connection().execute(_STORED.where(among(session, SearchRow.photo_id, photo_ids))):
        stored[row[_PHOTO_ID]][row[_FILE_ID]] = tuple(row)
    return stored


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
