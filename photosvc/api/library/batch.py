"""POST /batch/photos/…: change many photos in one transaction."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, Response
from sqlalchemy.orm import Session

from photosvc.api.library.taking import taking_originals
from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.texts.counted import counted
from photosvc.index.places import Gazetteer
from photosvc.index.storing.catalog import PlainCatalog
from photosvc.library.edits import flags
from photosvc.library.edits.apply import apply
from photosvc.library.edits.changing import changing
from photosvc.library.edits.each import Each
from photosvc.library.edits.flags import Flagging, change_flags
from photosvc.library.edits.journal import Actor, Change, find_own, first_of_batch
from photosvc.library.edits.loading import load_photos
from photosvc.library.edits.selected import selected_photos
from photosvc.library.edits.time_limit import timely
from photosvc.library.edits.undo import undo_batch
from photosvc.library.files.removal import remove_photos
from photosvc.library.trash import originals
from photosvc.models.database.transactions import many_pages
from photosvc.records.edits.batch import BatchSchema, EditBatchSchema, PrivateBatchSchema, UndoBatchSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import NUMBER, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import limiting

#: Photos in one batch: while it runs, others wait for the database. `timely` limits what they cost together.
MOST: Final = 20_000
MOST_EDITED: Final = 10_000
#: With their originals.
MOST_DELETED: Final = 10_000
#: Bytes of the request: 20,000 UIDs take 400 KB.
_MAX_BODY: Final = 1 << 20
#: Photos that an edit loads at once.
_PORTION: Final = 500

_COUNTED: Final = json_object("code message photos", code=NUMBER, message=TEXT, photos=NUMBER)
_EDITED: Final = json_object(
    "code message photos change",
    code=NUMBER,
    message=TEXT,
    photos=NUMBER,
    change={"type": ["integer", "null"], "description": "The number of the edit, to take it back; null: none changed."},
)
_UNDONE: Final = json_object("code message photos left", code=NUMBER, message=TEXT, photos=NUMBER, left=NUMBER)
_MEANING: Final = "How many photos changed."


def add_routes(api: Blueprint) -> None:
    """Add the batches to the API."""
    for name, view in (
        ("archive", archive_photos),
        ("restore", restore_photos),
        ("approve", approve_photos),
        ("private", hide_photos),
        ("edit", edit_photos),
        ("undo", undo_edit),
        ("delete", delete_photos),
    ):
        api.add_url_rule(f"/batch/photos/{name}", view_func=view, methods=["POST"])
    api.add_url_rule("/photos/<photo_uid>", view_func=remove_photo, methods=["DELETE"])


@require("photos.update")
@takes(BatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_COUNTED, _MEANING)
@refuses(400, 409)
def archive_photos(given: dict[str, Any]) -> Response:
    """Archive photos: searches show them only with `archived:true`."""
    return _flag(given, "photos.archive", flags.archive, "archived")


@require("photos.update")
@takes(BatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_COUNTED, _MEANING)
@refuses(400, 409)
def restore_photos(given: dict[str, Any]) -> Response:
    """Bring archived photos back."""
    return _flag(given, "photos.restore", flags.unarchive, "restored")


@require("photos.update")
@takes(BatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_COUNTED, _MEANING)
@refuses(400, 409)
def approve_photos(given: dict[str, Any]) -> Response:
    """Take photos out of review."""
    return _flag(given, "photos.approve", flags.approve_many, "approved")


@require("photos.update")
@takes(PrivateBatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_COUNTED, _MEANING)
@refuses(400, 409)
def hide_photos(given: dict[str, Any]) -> Response:
    """Make photos private, or not; without `private`, each becomes the opposite of what it is, as clients expect."""
    return _flag(given, "photos.private", flags.make_private(given["private"]), "changed")


@require("photos.update")
@takes(EditBatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_EDITED, _MEANING)
@refuses(400, 409)
def edit_photos(given: dict[str, Any]) -> Response:
    """Write the same `values` into photos, as `PUT /photos/<uid>` does; at most 10,000 photos.

    Keywords can be added to those of each photo, or removed from them, and times moved. `change` in the answer takes
    the edit back: send it to `POST /batch/photos/undo`.
    """
    values = {**given["values"], **(given["values"].pop("details", None) or {})}
    each = Each(given["add_keywords"], given["remove_keywords"], given["shift"])
    entry, numbers = Change("photos.update", Actor.of(principal())), list[int | None]()

    def edit(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
        catalog, changed = PlainCatalog(session, Gazetteer.load()), 0
        for portion in timely(photo_ids, _PORTION):
            loaded = load_photos(session, portion)
            catalog.remember(loaded.photos)
            with changing(session, catalog, loaded, entry, now) as touched:
                for photo in loaded.photos:
                    apply(photo, each.values(photo, values), catalog)
            changed += len(touched)
            if touched and not numbers:
                numbers.append(first_of_batch(session, [photo.uid for photo in touched], entry, now))
        return changed

    answer = _batch(given, edit, "changed", most=MOST_EDITED)
    return json_answer({**(answer.json or {}), "change": numbers[0] if numbers else None})


@require("photos.update")
@takes(UndoBatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_UNDONE, "How many photos are what they were, and how many stay because they changed since.")
@refuses(400, 404, 409)
def undo_edit(given: dict[str, Any]) -> Response:
    """Take an own edit of many photos back; those that changed since then stay as they are."""
    actor, left = Actor.of(principal()), 0

    def take_back(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
        nonlocal left
        first = find_own(session, given["change"], actor)
        undone, left = undo_batch(session, photo_ids, first, Change("photos.undo", actor), now)
        return undone

    answer = _batch(given, take_back, "taken back", most=MOST_EDITED)
    return json_answer({**(answer.json or {}), "left": left})


@require("photos.delete")
@takes(BatchSchema, any_type=True, max_body=_MAX_BODY)
@answers(_COUNTED, "How many photos were removed.")
@refuses(400, 409, 507)
def delete_photos(given: dict[str, Any]) -> Response:
    """Remove photos from the library.

    Their originals stay, and only `svc index --force` adds them again; with `PHOTOSVC_DELETE_ORIGINALS` the originals
    move into the trash, from which they can be restored with all that people set.
    """
    return _remove(given)


@require("photos.delete")
@answers(_COUNTED, "The photo is removed.")
@refuses(404, 507)
def remove_photo(photo_uid: str) -> Response:
    """Remove one photo from the library, as `POST /batch/photos/delete` does."""
    answer = _remove({"photos": [photo_uid], "q": None}) if is_uid(photo_uid, PHOTO) else None
    if answer is None or not (answer.json or {}).get("photos"):
        msg = "there is no such photo"
        raise NotFoundError(msg, field="uid")
    return answer


def _remove(given: dict[str, Any]) -> Response:
    change = Change("photos.delete", Actor.of(principal()))
    with taking_originals() as deletion:

        def remove(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
            if deletion is None:
                return remove_photos(session, photo_ids, change, now)
            return originals.delete_photos(session, photo_ids, deletion, change, now)

        return _batch(given, remove, "removed", most=MOST if deletion is None else MOST_DELETED)


def _flag(given: dict[str, Any], action: str, flagging: Flagging, done: str) -> Response:
    def change(session: Session, photo_ids: Sequence[int], now: datetime) -> int:
        return change_flags(session, photo_ids, flagging, Change(action, Actor.of(principal())), now)

    return _batch(given, change, done, most=MOST)


def _batch(
    given: dict[str, Any], change: Callable[[Session, Sequence[int], datetime], int], done: str, *, most: int
) -> Response:
    service, who = current_service(), principal()
    now = service.now()
    with service.changing() as session:
        connection = session.connection()
        with limiting(connection, who.owner_uid):
            photo_ids = selected_photos(connection, given, most=most, sees_private=who.sees_private)
        with many_pages(session):
            count = change(session, photo_ids, now)
    return json_answer({"code": 200, "message": f"{counted(count, 'photo')} {done}", "photos": count})
