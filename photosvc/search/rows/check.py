"""The renewal of all search rows, if another version wrote them or they are in doubt, and checks of stored rows."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from photosvc.models import (
    PROJECTION,
    PROJECTION_VERSION,
    File,
    Photo,
    SearchAlbum,
    SearchDocument,
    SearchRow,
    SearchText,
    read_counter,
    set_counters,
)
from photosvc.models.batch_size import BatchSize
from photosvc.models.counters import record_change
from photosvc.models.engine import begin_write
from photosvc.search.rows.render import load, search_text
from photosvc.search.rows.write import delete_rows, rendered, renew

#: Photos of the first transaction, and the most of a later one.
_FIRST_BATCH: Final = 50
_BATCH: Final = 500
_TABLES: Final[tuple[type[SearchRow | SearchDocument | SearchAlbum], ...]] = (SearchRow, SearchDocument, SearchAlbum)
#: Table -> names of its columns.
_COLUMNS: Final = {table: [column.key for column in table.__table__.columns] for table in (*_TABLES, SearchText)}


def rebuild(session: Session) -> int:
    """Compute all search rows again and write those that differ; return the number of rows.

    Commits after each batch, so that others can write in between; readers see either the old or the new rows of a
    photo. The projection version is stored at the end: a rebuild that was interrupted starts again.
    """
    count, last, batch_size = 0, 0, BatchSize(_FIRST_BATCH, _BATCH)
    session.rollback()
    after = select(Photo.id).order_by(Photo.id)
    while batch := session.scalars(after.where(Photo.id > last).limit(batch_size.items)).all():
        with batch_size.writing(session, len(batch)):
            count += renew(session, batch)
        last = batch[-1]
    begin_write(session, library=True)
    delete_rows(session, SearchRow.photo_id.not_in(select(Photo.id)))
    session.execute(delete(SearchText).where(SearchText.photo_id.not_in(select(Photo.id))))
    record_change(session)
    set_counters(session, {PROJECTION: PROJECTION_VERSION})
    session.commit()
    return count


def is_stale(session: Session) -> bool:
    """Return whether an earlier version of the projection wrote the search rows.

    Rows of a later one stay: while a service is upgraded, indexers of both versions may run.
    """
    version = read_counter(session, PROJECTION)
    return version is not None and version < PROJECTION_VERSION


def differing(session: Session, photo_ids: Sequence[int]) -> set[int]:
    """Return the photos whose search rows, records, album rows or words differ from a new projection."""
    photos = load(session, photo_ids)
    fresh: defaultdict[int, set[tuple[Any, ...]]] = defaultdict(set)
    photo_of = {file.id: photo.id for photo in photos for file in photo.files}
    for table, rows in zip(_TABLES, rendered(session, photos), strict=True):
        for row in rows:
            fresh[photo_of[row["file_id"]]].add((table.__name__, *(row[name] for name in _COLUMNS[table])))
    for photo in photos:
        words = search_text(photo)
        fresh[photo.id].add((SearchText.__name__, *(words[name] for name in _COLUMNS[SearchText])))
    stored: defaultdict[int, set[tuple[Any, ...]]] = defaultdict(set)
    for every, names in _COLUMNS.items():
        columns = [getattr(every, name) for name in names]
        has_photo = "photo_id" in names
        owner = every.__table__.c.photo_id if has_photo else SearchRow.photo_id
        query = select(owner, *columns).where(owner.in_(photo_ids))
        if not has_photo:
            query = query.join(SearchRow, SearchRow.file_id == every.__table__.c.file_id)
        for photo_id, *values in session.execute(query):
            stored[photo_id].add((every.__name__, *values))
    session.expunge_all()
    return {photo_id for photo_id in photo_ids if fresh[photo_id] != stored[photo_id]}


def count_orphans(session: Session) -> int:
    """Count the search rows and texts whose file or photo is missing or not in the library."""
    present = select(File.id).where(File.missing.is_(False))
    shown = select(File.photo_id).where(File.missing.is_(False))
    rows = select(func.count()).select_from(SearchRow).where(SearchRow.file_id.not_in(present))
    texts = select(func.count()).select_from(SearchText).where(SearchText.photo_id.not_in(shown))
    return (session.scalar(rows) or 0) + (session.scalar(texts) or 0)
