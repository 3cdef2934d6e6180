"""Changes and deletion of many photos at /batch/photos/…, and DELETE /photos/<uid>, which deletes one like them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Final

from flask import Response
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.message import counted
from photosvc.index.shared_rows import SharedRows
from photosvc.index.stack_rules import MAX_FILES
from photosvc.library import batches
from photosvc.library.batches import Flagging, change_flags, change_in_portions, selected_photos, undo_batch
from photosvc.library.edits import Each, apply
from photosvc.library.journal import Author, Change, find_own, first_of_batch
from photosvc.library.stacks import stack
from photosvc.library.trash.deletion import Deletion, trash_photos
from photosvc.library.unit_of_work import changing, load_photos
from photosvc.records.edits import BatchSchema, EditBatchSchema, PrivateBatchSchema, StackingSchema, UndoBatchSchema
from photosvc.web.changes import rename_context, taking_originals
from photosvc.web.contract import LONG_BODY, NUMBER, answers, outcome, takes
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

batch = OwnBlueprint("batch", __name__)

#: The most photos in one batch; `change_in_portions` limits their cost.
MOST: Final = 20_000
MOST_EDITED: Final = 10_000
#: The most photos in one deletion, which also moves their originals.
MOST_DELETED: Final = 10_000
_COUNTED: Final = outcome(photos=NUMBER)
_EDITED: Final = outcome(
    photos=NUMBER,
    change={"type": ["integer", "null"], "description": "The number of the edit, for undo; null if nothing changed."},
)
_UNDONE: Final = outcome(photos=NUMBER, left=NUMBER)
_MEANING: Final = "Number of changed photos."


@batch.post("/batch/photos/archive")
@require("photos.update")
@takes(BatchSchema, any_type=True, max_body=LONG_BODY)
@answers(_COUNTED, _MEANING, refuses=(400, 409, 429))
def archive_photos(body: dict[str, Any]) -> Response:
    """Archive photos: searches show them only with `archived:true`."""
    return _flag(body, "photos.archive", batches.flag_archived, "archived")


@batch.post("/batch/photos/restore")
@require("photos.update")
@takes(BatchSchema, any_type=True, max_body=LONG_BODY)
@answers(_COUNTED, _MEANING, refuses=(400, 409, 429))
def restore_photos(body: dict[str, Any]) -> Response:
    """Bring archived photos back."""
    return _flag(body, "photos.restore", batches.flag_restored, "restored")


@batch.post("/batch/photos/approve")
@require("photos.update")
@takes(BatchSchema, any_type=True, max_body=LONG_BODY)
@answers(_COUNTED, _MEANING, refuses=(400, 409, 429))
def approve_photos(body: dict[str, Any]) -> Response:
    """Take photos out of review."""
    return _flag(body, "photos.approve", batches.flag_approved, "approved")


@batch.post("/batch/photos/private")
@require("photos.update")
@takes(PrivateBatchSchema, any_type=True, max_body=LONG_BODY)
@answers(_COUNTED, _MEANING, refuses=(400, 409, 429))
def hide_photos(body: dict[str, Any]) -> Response:
    """Make photos private, or no longer private; without `private`, invert the flag of each, as clients expect."""
    return _flag(body, "photos.private", batches.flag_private(body["private"]), "changed")


@batch.post("/batch/photos/edit")
@require("photos.update")
@takes(EditBatchSchema, any_type=True, max_body=LONG_BODY)
@answers(_EDITED, _MEANING, refuses=(400, 409, 429))
def edit_photos(body: dict[str, Any]) -> Response:
    """Write the same `values` into photos, as `PUT /photos/<uid>` does; at most 10,000 photos.

    Keywords can be added to each photo or removed from it, and times moved. To undo the edit, send `change` of the
    answer to `POST /batch/photos/undo`.
    """
    each = Each(body["add_keywords"], body["remove_keywords"], body["shift"])
    entry, number = Change("photos.update", Author.of(principal())), None
    zone = current_service().settings.timezone

    def edit(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
        nonlocal number
        shared_rows, photos = SharedRows(session, zone), load_photos(session, photo_ids)
        with changing(session, shared_rows, photos, entry, now) as touched:
            for photo in photos:
                apply(photo, each.values(photo, body["values"]), shared_rows)
        if touched and number is None:
            number = first_of_batch(session, [photo.uid for photo in touched], entry)
        return len(touched)

    return _batch(body, edit, "changed", most=MOST_EDITED, more=lambda: {"change": number})


@batch.post("/batch/photos/undo")
@require("photos.update")
@takes(UndoBatchSchema, any_type=True, max_body=LONG_BODY)
@answers(
    _UNDONE,
    "Number of photos that were restored, and of those left alone because they changed since.",
    refuses=(400, 404, 409, 429),
)
def undo_edit(body: dict[str, Any]) -> Response:
    """Undo an edit of many photos by the same account; photos that changed since then stay as they are."""
    actor, left, zone = Author.of(principal()), 0, current_service().settings.timezone

    def take_back(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
        nonlocal left
        undone_batch = find_own(session, body["change"], actor).batch
        undone, not_undone = undo_batch(session, photo_ids, undone_batch, Change("photos.undo", actor), now, zone)
        left += not_undone
        return undone

    return _batch(body, take_back, "taken back", most=MOST_EDITED, more=lambda: {"left": left})


@batch.post("/batch/photos/stack")
@require("photos.update")
@takes(StackingSchema, any_type=True, max_body=LONG_BODY)
@answers(_EDITED, "Number of stacked photos.", refuses=(400, 404, 409))
def stack_photos(body: dict[str, Any]) -> Response:
    """Put photos together into the first one, also for later index runs; its file shows the stack.

    To undo it, send `change` of the answer to `POST /batch/photos/undo` with the first photo; `POST
    /photos/<uid>/files/<file_uid>/unstack` takes one photo out.
    """
    service, who, entry = current_service(), principal(), Change("photos.stack", Author.of(principal()))
    uids = list(dict.fromkeys(body["photos"] or ()))
    with service.writing(library=True) as session:
        selection = {"photos": uids, "q": None}
        photo_ids = selected_photos(
            session.connection(), selection, service.today(), most=MAX_FILES, sees_private=who.sees_private
        )
        photos = sorted(load_photos(session, photo_ids), key=lambda photo: uids.index(photo.uid))
        if len(photos) < len(uids):
            raise NotFoundError("one of these photos does not exist", field="photos")
        shared_rows = SharedRows(session, service.settings.timezone)
        stack(session, shared_rows, photos, entry, service.now())
        number = first_of_batch(session, uids[:1], entry)
    count = len(photos)
    return json_answer(
        {"code": 200, "message": f"{counted(count, 'photo')} stacked", "photos": count, "change": number}
    )


@batch.post("/batch/photos/delete")
@require("photos.delete")
@takes(BatchSchema, any_type=True, max_body=LONG_BODY)
@answers(_COUNTED, "Number of deleted photos.", refuses=(400, 409, 413, 429, 507))
def delete_photos(body: dict[str, Any]) -> Response:
    """Delete photos: their originals move into the trash, from which they are restored with all that people entered.

    Without `PHOTOSVC_DELETE_ORIGINALS` the originals stay where they are, and the photos are restored in the same way.
    """
    return _remove(body)


@batch.delete("/photos/<photo_uid>")
@require("photos.delete")
@answers(_COUNTED, "The photo is deleted.", refuses=(404, 409, 413, 507))
def remove_photo(photo_uid: str) -> Response:
    """Delete one photo, as `POST /batch/photos/delete` does."""
    answer = _remove({"photos": [photo_uid], "q": None}) if is_uid(photo_uid, PHOTO) else None
    if answer is None or not (answer.json or {}).get("photos"):
        raise NotFoundError("there is no such photo", field="uid")
    return answer


def _remove(body: dict[str, Any]) -> Response:
    change = Change("photos.delete", Author.of(principal()))

    def remove(session: Session, photo_ids: Sequence[int], now: datetime, deletion: Deletion | None) -> int:
        return trash_photos(session, photo_ids, deletion, change, now)

    return _batch(body, remove, "deleted", most=MOST_DELETED, around=taking_originals)


def _flag(body: dict[str, Any], action: str, flagging: Flagging, done: str) -> Response:
    entry = Change(action, Author.of(principal()))

    def change(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
        return change_flags(session, photo_ids, flagging, entry, now)

    return _batch(body, change, done, most=MOST)


def _batch(
    body: dict[str, Any],
    change: Callable[..., int],
    done: str,
    *,
    most: int,
    around: Callable[[], AbstractContextManager[Any]] | None = None,
    more: Callable[[], dict[str, object]] = dict,
) -> Response:
    """Change the selected photos, and answer with the number of those that changed.

    Args:
        change: gets the session of a transaction, the ids of some photos, the time, and the value of `around`.
        done: the past participle for the message, such as "archived".
        most: the largest number of photos.
        around: a context around each transaction.
        more: returns further fields of the answer, also if the batch stops after some photos.
    """
    context, today = rename_context("q"), current_service().today()
    with context.reading() as connection:
        photo_ids = selected_photos(connection, body, today, most=most, sees_private=context.sees_private)

    def change_some(session: Session, portion: Sequence[int], *held: Any) -> int:  # noqa: ANN401 - that of `around`
        return change(session, portion, context.now, *held)

    count = change_in_portions(context, photo_ids, change_some, done, around=around, more=more)
    return json_answer({"code": 200, "message": f"{counted(count, 'photo')} {done}", "photos": count, **more()})
