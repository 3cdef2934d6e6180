"""The projection: from a photo to what is searched. The only writer of the search tables."""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, case, delete, insert, not_, select, update
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
    Photo,
    SearchAlbum,
    SearchDocument,
    SearchRow,
    SearchText,
)
from photosvc.models.database import begin_write, insert_into
from photosvc.search.projection.render import render_file, render_head
from photosvc.search.projection.row import search_rows
from photosvc.search.word_text import photo_words

_BATCH = 500

#: Columns that rows of `SearchAlbum` copy from the row of the file.
_ALBUM_KEYS = [column.key for column in SearchAlbum.__table__.columns if column.key != "album_id"]


def project(session: Session, photo_ids: Iterable[int]) -> int:
    """Make the search rows of these photos anew, in the session's transaction; gives how many rows there are now.

    Photos that are gone lose their rows. Counts the change of the library.
    """
    session.flush()
    count = 0
    for batch in _batches(photo_ids):
        _drop(session, SearchRow.photo_id.in_(batch))
        photos = _load(session, batch)
        _write(session, photos)
        _write_words(session, photos)
        gone = set(batch).difference(photo.id for photo in photos)
        session.execute(delete(SearchText).where(SearchText.photo_id.in_(gone)))
        count += sum(len(photo.files) for photo in photos)
    count_change(session)
    return count


def rebuild(session: Session) -> int:
    """Make every search row anew from the library; gives how many there are.

    Commits each batch, so that others may write in between, and readers find a photo's rows as they were or as they
    are now. The library counts as made anew only at the end: a rebuild that was cut short is begun again.
    """
    begin_write(session)
    count = 0
    for batch in _batches(session.scalars(select(Photo.id).order_by(Photo.id)).all()):
        begin_write(session)
        _drop(session, SearchRow.file_id.in_(select(File.id).where(File.photo_id.in_(batch))))
        count += project(session, batch)
        session.commit()
        session.expunge_all()
    begin_write(session)
    _drop(session, SearchRow.photo_id.not_in(select(Photo.id)))
    session.execute(delete(SearchText).where(SearchText.photo_id.not_in(select(Photo.id))))
    count_change(session)
    session.merge(LibraryState(name=PROJECTION, value=PROJECTION_VERSION))
    session.commit()
    return count


def is_stale(session: Session) -> bool:
    """Whether the search rows were made by another version of the projection."""
    state = session.get(LibraryState, PROJECTION)
    return state is not None and state.value != PROJECTION_VERSION


def count_change(session: Session) -> None:
    """The library is in another state, and has changed once more."""
    state = secrets.randbits(62)
    change = update(LibraryState).where(LibraryState.name.in_([CHANGES, STATE]))
    counted: Any = session.execute(
        change.values(value=case((LibraryState.name == STATE, state), else_=LibraryState.value + 1))
    )
    if counted.rowcount == 0:
        first = {CHANGES: 1, PROJECTION: PROJECTION_VERSION, STATE: state}
        session.add_all(LibraryState(name=name, value=value) for name, value in first.items())
        session.flush()
    elif counted.rowcount == 1:  # a library from before states were drawn
        session.add(LibraryState(name=STATE, value=state))
        session.flush()


def _batches(photo_ids: Iterable[int]) -> Iterator[list[int]]:
    ids = iter(photo_ids)
    while batch := list(islice(ids, _BATCH)):
        yield batch


def _drop(session: Session, which: ColumnElement[bool]) -> None:
    rows = select(SearchRow.file_id).where(which)
    for table in (SearchDocument, SearchAlbum):
        session.execute(delete(table).where(table.file_id.in_(rows)))
    session.execute(delete(SearchRow).where(which))


def _load(session: Session, batch: list[int]) -> Sequence[Photo]:
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
    return session.scalars(statement).all()


def _write(session: Session, photos: Sequence[Photo]) -> None:
    ids = [photo.id for photo in photos]
    albums = _albums_of(session, ids)
    rows, documents, in_albums = [], [], []
    for photo in photos:
        for file, row in search_rows(photo, has_album=any(albums[photo.id].values())):
            rows.append(row)
            documents.append({"file_id": file.id, "result_head": render_head(photo, file), "file": render_file(file)})
            keys = {name: row[name] for name in _ALBUM_KEYS}
            in_albums += [{"album_id": album_id, **keys} for album_id in albums[photo.id]]
    if rows:
        session.execute(insert(SearchRow), rows)
        session.execute(insert(SearchDocument), documents)
    if in_albums:
        session.execute(insert(SearchAlbum), in_albums)


def _albums_of(session: Session, photo_ids: list[int]) -> defaultdict[int, dict[int, bool]]:
    """The ids of the albums of each photo, and whether the album still exists."""
    members = select(AlbumPhoto.photo_id, AlbumPhoto.album_id, Album.deleted_at.is_(None)).join(Album)
    found: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    for photo_id, album_id, exists in session.execute(
        members.where(AlbumPhoto.photo_id.in_(photo_ids), not_(AlbumPhoto.hidden))
    ):
        found[photo_id][album_id] = exists
    return found


def _write_words(session: Session, photos: Sequence[Photo]) -> None:
    """Only words that changed are written: the full-text index pays for each of them."""
    if not photos:
        return
    new = insert_into(SearchText, session)
    columns = {name: new.excluded[name] for name in ("words", "title", "keywords", "people", "description_key")}
    changed = SearchText.words != new.excluded.words
    for name in ("title", "keywords", "people", "description_key"):
        changed |= getattr(SearchText, name) != new.excluded[name]
    session.execute(
        new.on_conflict_do_update(index_elements=["photo_id"], set_=columns, where=changed),
        [photo_words(photo) for photo in photos],
    )
