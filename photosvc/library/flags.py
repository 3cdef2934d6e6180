"""Flags of many photos at once: archive, restore, approve, private.

They have the effects of `changing`, without loading the files of the photos. A batch selects its photos by UIDs, or by
a query with the number of photos that it must find.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.vocabulary import MANUAL
from photosvc.core.words import in_portions
from photosvc.index.quality import quality_after_edit
from photosvc.library.journal import Change, Difference, difference, record
from photosvc.models import Photo, SearchRow
from photosvc.models.statements import Updates, among
from photosvc.search.reading.columns import identified
from photosvc.search.reading.compile import EVERY_SWITCH, visible
from photosvc.search.reading.files import matching_ids
from photosvc.search.reading.request import parse_request
from photosvc.search.rows.write import project_flags

_COLUMNS: Final = (
    Photo.id, Photo.uid, Photo.private, Photo.archived_at, Photo.archived_src, Photo.approved, Photo.quality,
)  # fmt: skip
#: The values that change for one photo, given its row; empty when it is that way already.
Flagging = Callable[[Any, datetime], dict[str, Any]]


def selected_photos(connection: Connection, given: Mapping[str, Any], *, most: int, sees_private: bool) -> list[int]:
    """Return the ids of the photos that `photos`, or `q` with `expected`, selects, as far as they may be seen.

    Raises:
        InvalidValueError: nothing or too much is selected, or `expected` is missing.
        InvalidQueryError: the query is not valid.
        ConflictError: the query finds another number of photos than `expected`.

    """
    uids, query = list(dict.fromkeys(given["photos"] or ())), (given["q"] or "").strip()
    if not (uids or query):
        raise InvalidValueError("No items selected", field="photos")
    if uids and query:
        raise InvalidValueError("select photos either by UIDs or by a query", field="q")
    too_many = InvalidValueError(f"more than {most:,} photos are selected", field="photos" if uids else "q")
    if len(uids) > most:
        raise too_many
    if uids:
        if not all(is_uid(uid, PHOTO) for uid in uids):
            raise InvalidValueError("an item of photos is not a photo UID", field="photos")
        return _ids(connection, partial(identified, "photo_uid"), uids, sees_private=sees_private)
    if given["expected"] is None:
        raise InvalidValueError("say how many photos the query must find", field="expected")
    request = parse_request({"q": query, "order": "oldest", "merged": "true", "count": "100000"})
    files = matching_ids(connection, request, sees_private=sees_private)
    found = _ids(connection, SearchRow.file_id.in_, files, sees_private=sees_private)
    if len(found) != given["expected"]:
        raise ConflictError(f"the query finds {len(found)} photos, not {given['expected']}", field="expected")
    if len(found) > most:
        raise too_many
    return found


def _ids(
    connection: Connection, has: Callable[[Sequence[Any]], Any], values: Sequence[Any], *, sees_private: bool
) -> list[int]:
    """Return the ids of the photos whose rows fulfil the condition that `has` makes of some values."""
    found: dict[int, None] = {}
    for some in in_portions(values):
        query = select(SearchRow.photo_id).where(has(some))
        seen = query.where(visible(sees_private=sees_private, opened=EVERY_SWITCH))
        found |= dict.fromkeys(connection.scalars(seen))
    return sorted(found)


def archive(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401 - a row of `_COLUMNS`
    """Take the photo out of searches."""
    return {} if photo.archived_at else {"archived_at": now, "archived_src": MANUAL}


def unarchive(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Bring an archived photo back."""
    return {"archived_at": None, "archived_src": MANUAL} if photo.archived_at else {}


def approve_many(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Take the photo out of review, as `apply.approve` does."""
    return {} if photo.approved else {"approved": True}


def make_private(wanted: bool | None) -> Flagging:
    """Return the flagging that makes photos private or not; with None, each gets the opposite of its present state."""

    def flag(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
        private = not photo.private if wanted is None else wanted
        return {} if private == photo.private else {"private": private}

    return flag


def change_flags(session: Session, photo_ids: Sequence[int], flagging: Flagging, change: Change, now: datetime) -> int:
    """Change some hundreds of photos at most, in the session's write transaction; return how many changed."""
    query = select(*_COLUMNS).where(among(session, Photo.id, photo_ids)).with_for_update()
    rows = [(row, values) for row in session.execute(query.order_by(Photo.id)) if (values := flagging(row, now))]
    if rows:
        _write(session, rows, change, now)
        project_flags(session, [row.id for row, _ in rows])
    return len(rows)


def _write(session: Session, rows: Sequence[tuple[Any, dict[str, Any]]], change: Change, now: datetime) -> None:
    updates = Updates()
    for row, values in rows:
        edited = {"quality": quality_after_edit(row.quality), "edited_at": now, "updated_at": now}
        updates.add(Photo, "id", row.id, values | edited)
    updates.run(session.connection())
    record(session, change, now, {row.uid: _difference(row, values) for row, values in rows})


def _difference(row: Any, values: dict[str, Any]) -> Difference:  # noqa: ANN401
    before = {name: _json(getattr(row, name)) for name in values}
    return difference(before, {name: _json(value) for name, value in values.items()})


def _json(value: Any) -> Any:  # noqa: ANN401
    return value.isoformat() if isinstance(value, datetime) else value
