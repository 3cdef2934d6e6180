"""The projection: writes the rows of the search tables for photos. Nothing else writes these tables."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, case, delete, not_, or_, select, update
from sqlalchemy.orm import Session

from photosvc.models import (
    CHANGES,
    PROJECTION,
    PROJECTION_VERSION,
    STATE,
    Album,
    AlbumPhoto,
    LibraryState,
    Marker,
    Photo,
    SearchAlbum,
    SearchDocument,
    SearchRow,
    SearchText,
)
from photosvc.models.database.among import among
from photosvc.models.database.inserts import insert_for
from photosvc.models.database.plain import insert_of
from photosvc.models.database.prepared import run_many, run_one
from photosvc.search.projection.compute import render_file, render_head, search_rows, search_text
from photosvc.search.projection.load import is_missing, load

_BATCH = 500

#: Columns that rows of `SearchAlbum` copy from the row of the file.
ALBUM_KEYS = [column.key for column in SearchAlbum.__table__.columns if column.key != "album_id"]

_TEXT_COLUMNS = [column.key for column in SearchText.__table__.columns if not column.primary_key]


def project(session: Session, photo_ids: Iterable[int], complete: Iterable[Photo] = ()) -> int:
    """Replace the search rows of these photos, in the session's transaction; gives the number of rows written.

    Rows of photos that no longer exist are deleted, and missing files have none. Records one change of the library.

    Args:
        session: inside a write transaction.
        photo_ids: the ids of the photos.
        complete: those of the photos that are loaded with all that `load` loads, in the same order; the others are
            loaded, again if need be.

    """
    session.flush()
    known = {photo.id: photo for photo in complete}
    count = 0
    with session.no_autoflush:
        for batch in batches(photo_ids):
            delete_rows(session, among(session, SearchRow.photo_id, batch))
            photos = [photo for photo_id in batch if (photo := known.get(photo_id)) and not is_missing(photo)]
            if unknown := [photo_id for photo_id in batch if photo_id not in known]:
                photos += load(session, unknown)
            count += _write_rows(session, photos)
            _write_texts(session, photos)
            if gone := set(batch).difference(photo.id for photo in photos):
                _delete(session, SearchText, among(session, SearchText.photo_id, gone))
    record_change(session)
    return count


def project_new(session: Session, photo_ids: Collection[int], complete: Collection[Photo]) -> None:
    """Write the search rows of new photos, of which none are stored: some hundreds at most.

    Records one change of the library.

    Args:
        session: inside a write transaction, flushed.
        photo_ids: the ids of the photos.
        complete: those of the photos that need not be loaded, as for `project`.

    """
    unknown = sorted(set(photo_ids).difference(photo.id for photo in complete))
    photos = [*complete, *load(session, unknown)] if unknown else [*complete]
    _write_rows(session, photos)
    _write_texts(session, photos)
    record_change(session)


def remove(session: Session, photo_ids: Collection[int]) -> None:
    """Remove the search rows of photos whose files are all missing: the same as `project`, without loading them."""
    delete_rows(session, among(session, SearchRow.photo_id, photo_ids))
    _delete(session, SearchText, among(session, SearchText.photo_id, photo_ids))
    record_change(session)


def record_change(session: Session) -> None:
    """Record a change of the library: draw a new state number (for ETags) and increment the change counter."""
    state = secrets.randbits(62)
    counted = run_one(session.connection(), _COUNT, {"state": state})
    if counted == 0:
        first = {CHANGES: 1, PROJECTION: PROJECTION_VERSION, STATE: state}
        session.add_all(LibraryState(name=name, value=value) for name, value in first.items())
        session.flush()
    elif counted == 1:  # a library that an older version made, without a state number
        session.add(LibraryState(name=STATE, value=state))
        session.flush()


def batches(photo_ids: Iterable[int]) -> Iterator[list[int]]:
    """The ids in portions that fit into one statement."""
    ids = iter(photo_ids)
    while batch := list(islice(ids, _BATCH)):
        yield batch


def delete_rows(session: Session, which: ColumnElement[bool]) -> None:
    """Delete these search rows with their records and their places in albums."""
    delete_of_files(session, select(SearchRow.file_id).where(which))


def delete_of_files(session: Session, file_ids: Select[int]) -> None:
    """Delete the search rows, records and places in albums of these files."""
    for table in (SearchDocument, SearchAlbum, SearchRow):
        _delete(session, table, table.file_id.in_(file_ids))


def _delete(session: Session, mapped: Any, which: ColumnElement[bool]) -> None:  # noqa: ANN401 - a mapped class
    """Delete rows that no objects of the session stand for."""
    session.connection().execute(delete(mapped.__table__).where(which))


_LIBRARY: Any = LibraryState.__table__
_COUNT = (
    update(_LIBRARY)
    .where(or_(_LIBRARY.c.name == CHANGES, _LIBRARY.c.name == STATE))
    .values(value=case((_LIBRARY.c.name == STATE, bindparam("state")), else_=_LIBRARY.c.value + 1))
)

Rows = list[dict[str, Any]]


def rendered(session: Session, photos: Sequence[Photo]) -> tuple[Rows, Rows, Rows]:
    """The columns of every `SearchRow`, `SearchDocument` and `SearchAlbum` of photos that `load` loaded."""
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
    """The ids of the albums of each photo, and whether the album still exists."""
    members = select(AlbumPhoto.photo_id, AlbumPhoto.album_id, Album.deleted_at.is_(None)).join(Album)
    found: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    for photo_id, album_id, exists in session.connection().execute(
        members.where(among(session, AlbumPhoto.photo_id, photo_ids), not_(AlbumPhoto.hidden))
    ):
        found[photo_id][album_id] = exists
    return found


def _write_texts(session: Session, photos: Sequence[Photo]) -> None:
    """Write only texts that changed: each write also updates the full-text index."""
    run_many(session.connection(), _text_statement(session.get_bind().dialect.name), [*map(search_text, photos)])


@cache
def _text_statement(dialect: str) -> Any:  # noqa: ANN401 - either dialect's own insert
    new = insert_for(SearchText, dialect)
    columns = {name: new.excluded[name] for name in _TEXT_COLUMNS}
    changed = or_(*(getattr(SearchText, name) != value for name, value in columns.items()))
    return new.on_conflict_do_update(index_elements=["photo_id"], set_=columns, where=changed)
