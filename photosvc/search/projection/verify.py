"""Compares stored search rows with what a projection would write now."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from photosvc.models import File, SearchAlbum, SearchDocument, SearchRow, SearchText
from photosvc.search.projection.compute import search_text
from photosvc.search.projection.load import load
from photosvc.search.projection.project import rendered

_TABLES: Final[tuple[type[SearchRow | SearchDocument | SearchAlbum], ...]] = (SearchRow, SearchDocument, SearchAlbum)
#: Table -> names of its columns.
_COLUMNS: Final = {table: [column.key for column in table.__table__.columns] for table in (*_TABLES, SearchText)}


def differing(session: Session, photo_ids: Sequence[int]) -> set[int]:
    """Those of these photos whose search rows, records, album rows or words differ from a new projection."""
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
    """The number of search rows and texts of files and photos that the library does not have, or has as missing."""
    present = select(File.id).where(File.missing.is_(False))
    shown = select(File.photo_id).where(File.missing.is_(False))
    rows = select(func.count()).select_from(SearchRow).where(SearchRow.file_id.not_in(present))
    texts = select(func.count()).select_from(SearchText).where(SearchText.photo_id.not_in(shown))
    return (session.scalar(rows) or 0) + (session.scalar(texts) or 0)
