"""The projection: writes the rows of the search tables for photos. Nothing else writes these tables."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, delete, insert, not_, or_, select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.models import (
    CHANGES,
    PROJECTION,
    PROJECTION_VERSION,
    STATE,
    Album,
    AlbumPhoto,
    File,
    LibraryState,
    Marker,
    Photo,
    SearchAlbum,
    SearchDocument,
    SearchRow,
    SearchText,
)
from photosvc.models.database import begin_write, insert_into
from photosvc.models.pace import Pace
from photosvc.search.projection.compute import render_file, render_head, search_rows, search_text

_BATCH = 500
#: Photos of the first transaction of a rebuild.
_FIRST_BATCH = 50

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
            _delete_rows(session, SearchRow.photo_id.in_(batch))
            photos = [photo for photo_id in batch if (photo := known.get(photo_id)) and not _is_missing(photo)]
            if unknown := [photo_id for photo_id in batch if photo_id not in known]:
                photos += load(session, unknown)
            count += _write_rows(session, photos)
            _write_texts(session, photos)
            if gone := set(batch).difference(photo.id for photo in photos):
                session.execute(delete(SearchText).where(SearchText.photo_id.in_(gone)))
    record_change(session)
    return count


def remove(session: Session, photo_ids: Collection[int]) -> None:
    """Remove the search rows of photos whose files are all missing: the same as `project`, without loading them."""
    _delete_rows(session, SearchRow.photo_id.in_(photo_ids))
    session.execute(delete(SearchText).where(SearchText.photo_id.in_(photo_ids)))
    record_change(session)


def rebuild(session: Session) -> int:
    """Replace all search rows; gives the number of rows written.

    Commits after each batch, so that others can write in between; readers see either the old or the new rows of a
    photo. The projection version is stored at the end: a rebuild that was interrupted starts again.
    """
    count, last, pace = 0, 0, Pace(_FIRST_BATCH, _BATCH)
    session.rollback()
    after = select(Photo.id).order_by(Photo.id)
    while batch := session.scalars(after.where(Photo.id > last).limit(pace.size)).all():
        with pace.writing(session, len(batch)):
            _delete_rows(session, SearchRow.file_id.in_(select(File.id).where(File.photo_id.in_(batch))))
            count += project(session, batch)
            session.expunge_all()  # before the commit, which would mark each object as expired
        last = batch[-1]
    begin_write(session)
    _delete_rows(session, SearchRow.photo_id.not_in(select(Photo.id)))
    session.execute(delete(SearchText).where(SearchText.photo_id.not_in(select(Photo.id))))
    record_change(session)
    session.merge(LibraryState(name=PROJECTION, value=PROJECTION_VERSION))
    session.commit()
    return count


def is_stale(session: Session) -> bool:
    """Whether another version of the projection wrote the search rows."""
    state = session.get(LibraryState, PROJECTION)
    return state is not None and state.value != PROJECTION_VERSION


def record_change(session: Session) -> None:
    """Record a change of the library: draw a new state number (for ETags) and increment the change counter."""
    state = secrets.randbits(62)
    counted: Any = session.connection().execute(_COUNT, {"state": state})
    if counted.rowcount == 0:
        first = {CHANGES: 1, PROJECTION: PROJECTION_VERSION, STATE: state}
        session.add_all(LibraryState(name=name, value=value) for name, value in first.items())
        session.flush()
    elif counted.rowcount == 1:  # a library that an older version made, without a state number
        session.add(LibraryState(name=STATE, value=state))
        session.flush()


def batches(photo_ids: Iterable[int]) -> Iterator[list[int]]:
    """The ids in portions that fit into one statement."""
    ids = iter(photo_ids)
    while batch := list(islice(ids, _BATCH)):
        yield batch


def _delete_rows(session: Session, which: ColumnElement[bool]) -> None:
    rows = select(SearchRow.file_id).where(which)
    for table in (SearchDocument, SearchAlbum):
        session.execute(delete(table).where(table.file_id.in_(rows)))
    session.execute(delete(SearchRow).where(which))


def load(session: Session, batch: Sequence[int]) -> list[Photo]:
    """Those of these photos that have search rows, with all that their rows are made of."""
    statement = (
        select(Photo)
        .where(Photo.id.in_(batch))
        .options(
            joinedload(Photo.camera),
            joinedload(Photo.lens),
            joinedload(Photo.place),
            selectinload(Photo.keywords),
            selectinload(Photo.files).selectinload(File.markers),
        )
        .execution_options(populate_existing=True)
    )
    return [photo for photo in session.scalars(statement) if not _is_missing(photo)]


def _is_missing(photo: Photo) -> bool:
    return all(file.missing for file in photo.files)


_LIBRARY: Any = LibraryState.__table__
_COUNT = (
    update(_LIBRARY)
    .where(or_(_LIBRARY.c.name == CHANGES, _LIBRARY.c.name == STATE))
    .values(value=case((_LIBRARY.c.name == STATE, bindparam("state")), else_=_LIBRARY.c.value + 1))
)

Rows = list[dict[str, Any]]


def rendered(session: Session, photos: Sequence[Photo]) -> tuple[Rows, Rows, Rows]:
    """The columns of every `SearchRow`, `SearchDocument` and `SearchAlbum` of photos that `load` loaded."""
    albums = _albums_of(session, [photo.id for photo in photos])
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
    if rows:
        session.execute(insert(SearchRow), rows)
        session.execute(insert(SearchDocument), documents)
    if in_albums:
        session.execute(insert(SearchAlbum), in_albums)
    return len(rows)


def _albums_of(session: Session, photo_ids: list[int]) -> defaultdict[int, dict[int, bool]]:
    """The ids of the albums of each photo, and whether the album still exists."""
    members = select(AlbumPhoto.photo_id, AlbumPhoto.album_id, Album.deleted_at.is_(None)).join(Album)
    found: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    for photo_id, album_id, exists in session.execute(
        members.where(AlbumPhoto.photo_id.in_(photo_ids), not_(AlbumPhoto.hidden))
    ):
        found[photo_id][album_id] = exists
    return found


def _write_texts(session: Session, photos: Sequence[Photo]) -> None:
    """Write only texts that changed: each write also updates the full-text index."""
    if not photos:
        return
    new = insert_into(SearchText, session)
    columns = {name: new.excluded[name] for name in _TEXT_COLUMNS}
    changed = or_(*(getattr(SearchText, name) != value for name, value in columns.items()))
    session.execute(
        new.on_conflict_do_update(index_elements=["photo_id"], set_=columns, where=changed),
        [search_text(photo) for photo in photos],
    )
