"""Flags of many photos at once: archive, restore, approve, private. What `changing` does, without their files."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from photosvc.core.values.sources import MANUAL
from photosvc.index.describing.describe import REVIEW_BELOW
from photosvc.library.edits.journal import Change, record
from photosvc.library.edits.time_limit import timely
from photosvc.library.edits.values import Difference, difference
from photosvc.models import Photo
from photosvc.search.projection.flags import project_flags

#: Photos in one statement.
_PORTION: Final = 500
_COLUMNS: Final = (
    Photo.id, Photo.uid, Photo.private, Photo.archived_at, Photo.archived_src, Photo.manual, Photo.quality,
)  # fmt: skip
#: The values that change for one photo, given its row; empty when it is that way already.
Flagging = Callable[[Any, datetime], dict[str, Any]]


def archive(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401 - a row of `_COLUMNS`
    """Take the photo out of searches."""
    return {} if photo.archived_at else {"archived_at": now, "archived_src": MANUAL}


def unarchive(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Bring an archived photo back."""
    return {"archived_at": None, "archived_src": MANUAL} if photo.archived_at else {}


def approve_many(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Take the photo out of review, as `apply.approve`."""
    marks = set(photo.manual.split())
    return {} if "approved" in marks else {"manual": " ".join(sorted(marks | {"approved"}))}


def make_private(wanted: bool | None) -> Flagging:
    """Make photos private or not; None: the opposite of what each is."""

    def flag(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
        private = not photo.private if wanted is None else wanted
        return {} if private == photo.private else {"private": private}

    return flag


def change_flags(session: Session, photo_ids: Sequence[int], flagging: Flagging, change: Change, now: datetime) -> int:
    """Change these photos in the session's write transaction, a portion at a time; gives how many changed.

    Raises:
        BatchTooLongError: others would have to wait for too long.

    """
    total = 0
    for portion in timely(photo_ids, _PORTION):
        query = select(*_COLUMNS).where(Photo.id.in_(portion)).with_for_update()
        rows = [(row, values) for row in session.execute(query.order_by(Photo.id)) if (values := flagging(row, now))]
        if rows:
            _write(session, rows, change, now)
            project_flags(session, [row.id for row, _ in rows])
        total += len(rows)
    return total


def _write(session: Session, rows: Sequence[tuple[Any, dict[str, Any]]], change: Change, now: datetime) -> None:
    table: Any = Photo.__table__
    names = [*rows[0][1], "quality"]
    statement = update(table).where(table.c.id == bindparam("row")).values(edited_at=now, updated_at=now)
    statement = statement.values({name: bindparam(f"new_{name}") for name in names})
    session.connection().execute(statement, list(_updates(rows)))
    record(session, change, now, {row.uid: _difference(row, values) for row, values in rows})


def _updates(rows: Sequence[tuple[Any, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for row, values in rows:
        # As `describe` has it: edited photos are not in review, and those without a file that can be shown stay hidden.
        quality = max(row.quality, REVIEW_BELOW) if row.quality >= 0 else row.quality
        yield {"row": row.id, "new_quality": quality, **{f"new_{name}": value for name, value in values.items()}}


def _difference(row: Any, values: dict[str, Any]) -> Difference:  # noqa: ANN401
    before = {name: _json(getattr(row, name)) for name in values}
    return difference(before, {name: _json(value) for name, value in values.items()})


def _json(value: Any) -> Any:  # noqa: ANN401
    return value.isoformat() if isinstance(value, datetime) else value
