"""The projection of the whole library, when it was written by another version or is in doubt."""

from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from photosvc.models import PROJECTION, PROJECTION_VERSION, LibraryState, Photo, SearchRow, SearchText
from photosvc.models.database.pace import Pace
from photosvc.models.database.transactions import begin_write, lock_library
from photosvc.search.projection.project import delete_rows, record_change
from photosvc.search.projection.update import renew

#: Photos of the first transaction, and the most.
_FIRST_BATCH: Final = 50
_BATCH: Final = 500


def rebuild(session: Session) -> int:
    """Compute all search rows again and write those that differ; gives the number of rows.

    Commits after each batch, so that others can write in between; readers see either the old or the new rows of a
    photo. The projection version is stored at the end: a rebuild that was interrupted starts again.
    """
    count, last, pace = 0, 0, Pace(_FIRST_BATCH, _BATCH)
    session.rollback()
    after = select(Photo.id).order_by(Photo.id)
    while batch := session.scalars(after.where(Photo.id > last).limit(pace.size)).all():
        with pace.writing(session, len(batch)):
            count += renew(session, batch)
        last = batch[-1]
    begin_write(session)
    lock_library(session)
    delete_rows(session, SearchRow.photo_id.not_in(select(Photo.id)))
    session.execute(delete(SearchText).where(SearchText.photo_id.not_in(select(Photo.id))))
    record_change(session)
    session.merge(LibraryState(name=PROJECTION, value=PROJECTION_VERSION))
    session.commit()
    return count


def is_stale(session: Session) -> bool:
    """Whether another version of the projection wrote the search rows."""
    state = session.get(LibraryState, PROJECTION)
    return state is not None and state.value != PROJECTION_VERSION
