"""The projection of changes that concern only flags of photos: rows are updated where `project` replaces them."""

from collections.abc import Collection
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from photosvc.core.clock import ZERO_TIME
from photosvc.models import Photo, SearchDocument, SearchRow
from photosvc.models.search.values import is_hidden, is_set, microseconds
from photosvc.records.fields import rfc3339
from photosvc.search.projection.project import record_change

_READ: Final = (
    Photo.id, Photo.private, Photo.favorite, Photo.archived_at, Photo.quality, Photo.edited_at, Photo.updated_at,
)  # fmt: skip


def project_flags(session: Session, photo_ids: Collection[int]) -> None:
    """Write the flags, quality and times of these photos, at most some hundreds, into their search rows.

    The same rows as of `project`, in a fraction of its time, if nothing else of the photos has changed. Flushed.
    Records one change of the library.
    """
    photos = {row.id: row for row in session.execute(select(*_READ).where(Photo.id.in_(photo_ids)))}
    columns = (SearchRow.file_id, SearchRow.photo_id, SearchRow.present, SearchRow.has_error)
    rows = session.execute(
        select(*columns, SearchDocument.result_head)
        .join(SearchDocument, SearchDocument.file_id == SearchRow.file_id)
        .where(SearchRow.photo_id.in_(photo_ids))
        .order_by(SearchRow.oldest_key)
    ).all()
    values: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    with_first: set[int] = set()
    for file_id, photo_id, present, has_error, head in rows:
        photo = photos[photo_id]
        archived, hidden = is_set(photo.archived_at), is_hidden(photo.quality)
        listed = present and not (has_error or archived or hidden)
        first = listed and photo_id not in with_first
        if first:
            with_first.add(photo_id)
        values.append(
            {
                "id": file_id,
                "listed": listed,
                "is_first": first,
                "private": photo.private,
                "favorite": photo.favorite,
                "archived": archived,
                "archived_at": microseconds(photo.archived_at),
                "hidden": hidden,
                "quality": photo.quality,
                "edited_at": microseconds(photo.edited_at),
                "updated_at": microseconds(photo.updated_at),
            }
        )
        heads.append({"id": file_id, "result_head": _head(head, photo)})
    if rows:
        for table, changed in ((SearchRow.__table__, values), (SearchDocument.__table__, heads)):
            names = [name for name in changed[0] if name != "id"]
            statement: Any = update(table).where(table.c.file_id == bindparam("id"))  # type: ignore[arg-type]
            session.connection().execute(statement.values({name: bindparam(name) for name in names}), changed)
    record_change(session)


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
