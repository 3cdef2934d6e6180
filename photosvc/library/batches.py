"""Batches: changes of many photos, selected by UIDs or by a query with the expected number of photos.

Short transactions let others write in between. Flags (archive, restore, approve, private) change as in
`unit_of_work.changing`, but without loading the files of the photos.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, InvalidValueError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.message import Message, counted
from photosvc.core.vocabulary import MANUAL
from photosvc.index.quality import quality_after_edit
from photosvc.index.shared_rows import SharedRows
from photosvc.library.edits import difference
from photosvc.library.journal import Author, Change, entries_of_batch, record
from photosvc.library.stacks import undo_change
from photosvc.library.unit_of_work import changing, load_photos
from photosvc.models import Photo, SearchRow
from photosvc.models.engine import Writing, many_pages
from photosvc.models.statements import Updates, among, in_portions
from photosvc.search.reading.columns import identified
from photosvc.search.reading.compile import visible_ids
from photosvc.search.reading.files import matching_ids
from photosvc.search.reading.request import MAX_COUNT, parse_request
from photosvc.search.rows.write import renew

_COLUMNS: Final = (
    Photo.id, Photo.uid, Photo.private, Photo.archived_at, Photo.archived_src, Photo.approved, Photo.quality,
)  # fmt: skip
#: Returns the values that change for a photo, given a row of `_COLUMNS`; empty if it has the flag already.
Flagging = Callable[[Any, datetime], dict[str, Any]]
#: Photos of the first transaction, the fewest of a later one, and the seconds for which one should hold the write lock.
_PORTION: Final = 500
_LEAST: Final = 20
_HELD: Final = 0.2
#: Seconds after which a request, which occupies a thread, begins no further transaction.
_LONGEST: Final = 60.0


def selected_photos(
    connection: Connection, given: Mapping[str, Any], today: date, *, most: int, sees_private: bool
) -> list[int]:
    """Return the ids of the visible photos that `photos`, or `q` with `expected`, selects today.

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
    too_many = InvalidValueError(
        Message("more than {most} photos are selected", most=most), field="photos" if uids else "q"
    )
    if len(uids) > most:
        raise too_many
    if uids:
        if not all(is_uid(uid, PHOTO) for uid in uids):
            raise InvalidValueError("an item of photos is not a photo UID", field="photos")
        return _ids(connection, partial(identified, "photo_uid"), uids, sees_private=sees_private)
    if given["expected"] is None:
        raise InvalidValueError("say how many photos the query must find", field="expected")
    request = parse_request({"q": query, "order": "oldest", "merged": "true", "count": str(MAX_COUNT)}, today)
    files = matching_ids(connection, request, sees_private=sees_private)
    photo_ids = _ids(connection, SearchRow.file_id.in_, files, sees_private=sees_private)
    if len(photo_ids) > most:
        raise too_many
    if len(files) == MAX_COUNT:  # there may be more, so that nobody knows whether they are as many as expected
        msg = Message("the query finds {most} files or more; narrow it, and change the photos in parts", most=MAX_COUNT)
        raise InvalidValueError(msg, field="q")
    if len(photo_ids) != given["expected"]:
        raise ConflictError(f"the query finds {len(photo_ids)} photos, not {given['expected']}", field="expected")
    return photo_ids


def _ids(
    connection: Connection, has: Callable[[Sequence[Any]], Any], values: Sequence[Any], *, sees_private: bool
) -> list[int]:
    """Return the ids of visible photos; `has` returns the condition of the rows for some of the values."""
    photo_ids: dict[int, None] = {}
    for portion in in_portions(values):
        query = visible_ids(sees_private=sees_private).where(has(portion))
        photo_ids |= dict.fromkeys(connection.scalars(query))
    return sorted(photo_ids)


def flag_archived(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401 - a row of `_COLUMNS`
    """Take the photo out of searches."""
    return {} if photo.archived_at else {"archived_at": now, "archived_src": MANUAL}


def flag_restored(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Take the photo out of the archive."""
    return {"archived_at": None, "archived_src": MANUAL} if photo.archived_at else {}


def flag_approved(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Take the photo out of review, as `edits.approve` does."""
    return {} if photo.approved else {"approved": True}


def flag_private(wanted: bool | None) -> Flagging:
    """Return the flagging that makes photos private or not; None inverts the flag of each photo."""

    def flag(photo: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401, ARG001
        private = not photo.private if wanted is None else wanted
        return {} if private == photo.private else {"private": private}

    return flag


def change_flags(session: Session, photo_ids: Sequence[int], flagging: Flagging, change: Change, now: datetime) -> int:
    """Change some hundreds of photos in a write transaction; return the number of changed photos."""
    query = select(*_COLUMNS).where(among(session, Photo.id, photo_ids)).with_for_update()
    rows = [(row, values) for row in session.execute(query.order_by(Photo.id)) if (values := flagging(row, now))]
    if rows:
        updates, differences = Updates(), {}
        for row, values in rows:
            edited = {"quality": quality_after_edit(row.quality), "edited_at": now, "updated_at": now}
            updates.add(Photo, "id", row.id, values | edited)
            before = _as_json({name: getattr(row, name) for name in values})
            differences[row.uid] = difference(before, _as_json(values))
        updates.run(session.connection())
        record(session, change, now, differences)
        renew(session, [row.id for row, _ in rows])
    return len(rows)


def _as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def undo_batch(
    session: Session, photo_ids: Sequence[int], batch: int, change: Change, now: datetime, zone: str
) -> tuple[int, int]:
    """Undo an edit on some of its photos.

    Args:
        photo_ids: some hundreds at most.
        batch: the batch of the edit in the journal.

    Returns:
        the number of photos with their former values, and the number of photos that changed since and stay.
    """
    shared_rows, photos, changed_since = SharedRows(session, zone), load_photos(session, photo_ids), 0
    entries = entries_of_batch(session, [photo.uid for photo in photos], batch)
    with changing(session, shared_rows, photos, change, now) as touched:
        for photo in photos:
            try:
                for entry in entries.get(photo.uid, ()):
                    undo_change(shared_rows, photo, entry, now)
            except ConflictError:  # raised before anything of an entry is written
                changed_since += 1
    return len(touched), changed_since


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """The request that changes many photos: its transactions, its time, its actor and their rights."""

    reading: Callable[[], AbstractContextManager[Connection]]
    writing: Writing
    slot: Callable[[], AbstractContextManager[object]] = nullcontext
    """A context around a change that needs more than one transaction."""
    clock: Clock
    """The clock of time limits, and of the sizes of transactions."""
    now: datetime
    zone: str
    """The time zone of photos without a zone and a position."""
    actor: Author
    user_id: int | None
    sees_private: bool


class BatchInterruptedError(PhotosvcError):
    """The database is busy or cannot be reached; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 5
    limit = "database"


def change_in_portions(
    context: BatchContext,
    photo_ids: Sequence[int],
    change: Callable[..., int],
    done: str,
    *,
    around: Callable[[], AbstractContextManager[Any]] | None = None,
    more: Callable[[], dict[str, object]] = dict,
    is_repeatable: bool = False,
) -> int:
    """Change photos in short transactions, the first with up to `_PORTION`; return the number of changed photos.

    Args:
        change: gets the session of a transaction, the ids of some photos and the value of `around`; returns the number
            of changed photos.
        done: a past participle for error messages, such as `changed`.
        around: a context around each transaction.
        more: returns further values for an error that stops the change after some photos.
        is_repeatable: true if the same request, sent again, changes the remaining photos.

    Raises:
        PhotosvcError: some photos remain after `_LONGEST` seconds; the others have changed.
        BatchInterruptedError: the database failed; the photos of earlier transactions have changed.
        PhotosvcError: `change` refuses a photo; or an error of `context.slot`.
    """
    count = 0
    with context.slot() if len(photo_ids) > _PORTION else nullcontext():
        try:
            for portion in _portions(photo_ids, context.clock, is_repeatable=is_repeatable):
                with (
                    around() if around else nullcontext() as held,
                    context.writing(library=True) as session,
                    many_pages(session),
                ):
                    count += change(session, portion, *([held] if around else []))
        except (PhotosvcError, OperationalError, NoConnectionError) as error:
            if not count:
                raise
            stopped = error if isinstance(error, PhotosvcError) else BatchInterruptedError()
            stopped.message += f" (before that, {counted(count, 'photo')} {done})"
            stopped.done = {"photos": count, **more()}
            if stopped is error:
                raise
            raise stopped from error
    return count


def _portions(photo_ids: Sequence[int], clock: Clock, *, is_repeatable: bool) -> Iterator[Sequence[int]]:
    """Yield the photos of one transaction after the other, as many as should take `_HELD` seconds.

    Raises:
        PhotosvcError: some photos remain after `_LONGEST` seconds.
    """
    began, start, size = clock.monotonic(), 0, _PORTION
    while start < len(photo_ids):
        now = clock.monotonic()
        if now - began > _LONGEST:
            rest = "send the same request again for the others" if is_repeatable else "select the others again"
            msg = f"{start:,} of {len(photo_ids):,} photos took {now - began:.0f} seconds: {rest}"
            field, retry_after = (None, 1) if is_repeatable else ("photos", None)
            raise PhotosvcError(msg, field=field, status=HTTPStatus.SERVICE_UNAVAILABLE, retry_after=retry_after)
        yield photo_ids[start : start + size]
        start += size
        size = max(_LEAST, min(_PORTION, round(size * _HELD / max(clock.monotonic() - now, 1e-3))))
