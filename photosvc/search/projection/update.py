"""The projection of changed values: the columns that differ are updated, where `project` replaces whole rows."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models import File, Marker, Photo, SearchAlbum, SearchDocument, SearchRow, SearchText
from photosvc.models.database.among import among, among_parameter, as_parameter
from photosvc.models.database.prepared import run_text
from photosvc.models.database.updates import Updates, changed_values
from photosvc.search.projection.compute import render_file, render_head, search_rows, search_text
from photosvc.search.projection.load import load
from photosvc.search.projection.project import ALBUM_KEYS, albums_of, delete_of_files, project, record_change

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
#: Where the values of each table stand in a row of `_STORED`.
_OF_ROW: Final = slice(len(_ROW))
_OF_DOCUMENT: Final = slice(len(_ROW), len(_ROW) + len(_DOCUMENT))
_OF_TEXT: Final = slice(len(_ROW) + len(_DOCUMENT), None)
_row_values, _text_values, _album_keys = itemgetter(*_ROW), itemgetter(*_TEXT), itemgetter(*ALBUM_KEYS)

#: The values of one file in all tables, as `_STORED` reads them.
Stored = Sequence[Any]


def project_values(session: Session, photos: Sequence[Photo]) -> None:
    """Bring the search rows of photos up to date, of which neither files nor albums were added or removed.

    The same rows as of `project`. Few of the many indexes change with a value, so this costs a part of its time.
    Records one change of the library.

    Args:
        session: inside a write transaction, flushed.
        photos: at most some hundreds, loaded with all that `load` loads, in the same order.

    """
    stored = _stored(session, [photo.id for photo in photos])
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
    else:
        record_change(session)


def renew(session: Session, photo_ids: Sequence[int]) -> int:
    """Bring all search rows of photos up to date; gives the number of their rows.

    The same rows as of `project`, in less time when most are right. Records one change of the library.

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
        # What is stored of their files may be stored as that of another photo.
        delete_of_files(session, select(File.id).where(among(session, File.photo_id, others)))
        count += project(session, sorted(others))
    else:
        record_change(session)
    return count


def _stored(session: Session, photo_ids: Collection[int]) -> defaultdict[int, dict[int, Stored]]:
    """What is stored of each file of photos, by photo and file."""
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
    """`_STORED` of some photos as text for the driver, and whether the driver takes parameters by position."""
    query = _STORED.where(among_parameter(dialect.name, SearchRow.photo_id, "photo_ids"))
    compiled = query.compile(dialect=dialect)
    return compiled.string, compiled.positional


def _stored_albums(session: Session, photo_ids: Collection[int]) -> defaultdict[int, set[tuple[int, ...]]]:
    """Album and keys of the stored rows of files in albums, by photo."""
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
    """Add what to write for a photo; gives False when its rows are those of other files than it has."""
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
