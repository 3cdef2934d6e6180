"""The projection of changed values: the columns that differ are updated, where `project` replaces whole rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Update, bindparam, select, update
from sqlalchemy.orm import Session

from photosvc.models import Marker, Photo, SearchAlbum, SearchDocument, SearchRow, SearchText
from photosvc.search.projection.compute import render_file, render_head, search_rows, search_text
from photosvc.search.projection.project import ALBUM_KEYS, project, record_change

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
    .where(SearchRow.photo_id.in_(bindparam("photo_ids", expanding=True)))
)

#: Table, the column that finds a row, and the columns to write -> the rows' values; `id` is that of the first column.
Writes = defaultdict[tuple[Any, str, tuple[str, ...]], list[dict[str, Any]]]


def project_values(session: Session, photos: Sequence[Photo]) -> None:
    """Bring the search rows of photos up to date, of which neither files nor albums were added or removed.

    The same rows as of `project`. Few of the many indexes change with a value, so this costs a part of its time.
    Records one change of the library.

    Args:
        session: inside a write transaction, flushed.
        photos: at most some hundreds, loaded with all that `load` loads, in the same order.

    """
    stored: defaultdict[int, dict[int, Mapping[str, Any]]] = defaultdict(dict)
    found = session.connection().execute(_STORED, {"photo_ids": [photo.id for photo in photos]})
    for row in found.mappings():
        stored[row["photo_id"]][row["file_id"]] = dict(row)
    Marker.identify(session, [marker for photo in photos for file in photo.files for marker in file.markers])
    writes: Writes = defaultdict(list)
    others = [photo.id for photo in photos if not _compare(photo, stored[photo.id], writes)]
    for (table, key, names), values in writes.items():
        session.connection().execute(_update(table, key, names), values)
    if others:
        project(session, others)
    else:
        record_change(session)


def _compare(photo: Photo, stored: Mapping[int, Mapping[str, Any]], writes: Writes) -> bool:
    """Add what to write for a photo; gives False when its rows are those of other files than it has."""
    has_album = any(row["has_album"] for row in stored.values())
    rows = list(search_rows(photo, has_album=has_album))
    if not rows or {file.id for file, _ in rows} != stored.keys():
        return False
    for file, row in rows:
        old = stored[file.id]
        _add(writes, SearchRow, "file_id", file.id, _changed(row, old))
        documents = {"result_head": render_head(photo, file), "file": render_file(file)}
        _add(writes, SearchDocument, "file_id", file.id, _changed(documents, old))
        keys = {name: row[name] for name in ALBUM_KEYS}
        _add(writes, SearchAlbum, "file_id", file.id, _changed(keys, old) if has_album else {})
    texts = search_text(photo)
    changed = {name: texts[name] for name in _TEXT if texts[name] != old[f"text_{name}"]}
    _add(writes, SearchText, "photo_id", photo.id, changed)
    return True


def _changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in new.items() if value != old[name]}


def _add(writes: Writes, table: Any, key: str, row_id: int, values: Mapping[str, Any]) -> None:  # noqa: ANN401
    if values:
        named = {f"new_{name}": value for name, value in values.items()}
        writes[table, key, tuple(values)].append({"row": row_id, **named})


@lru_cache(maxsize=256)
def _update(table: Any, key: str, names: tuple[str, ...]) -> Update:  # noqa: ANN401
    columns = table.__table__
    statement = update(columns).where(columns.c[key] == bindparam("row"))
    return statement.values({name: bindparam(f"new_{name}") for name in names})
