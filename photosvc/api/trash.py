"""The trash at /trash: deleted and replaced originals, their restoration, and their permanent deletion."""

from datetime import timedelta
from itertools import islice
from typing import Any, Final

from flask import Response, request

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.message import counted
from photosvc.core.vocabulary import UNKNOWN
from photosvc.library.journal import Author
from photosvc.library.trash.folder import Trash, is_deletion
from photosvc.library.trash.own import MOST_LISTED, days_left, deleted_photos
from photosvc.library.trash.restoring import (
    END_OF_TIME,
    MOST_RESTORED,
    chosen_files,
    kept_until,
    open_trash,
    photos_of,
)
from photosvc.records.upkeep import EmptySchema, RestoreSchema, TrashedFileSchema, TrashedPhotosSchema
from photosvc.search.reading.files import SeenFile
from photosvc.search.reading.library import version_of
from photosvc.search.reading.request import parse_number
from photosvc.search.reading.timeline import DEFAULT_SHOWN, LONGEST_TEXT, MOST_SHOWN
from photosvc.web.changes import delete_own_files, empty_files, restore_files
from photosvc.web.contract import (
    FLAG,
    LONG_BODY,
    NUMBER,
    TEXT,
    answers,
    describe,
    json_object,
    outcome,
    takes,
    takes_query,
)
from photosvc.web.paging import POSITIONS, page_headers, page_parameters, read_page
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

trash = OwnBlueprint("trash", __name__)

_NAMES: Final = {"type": "array", "items": TEXT}
_RESTORED: Final = outcome(files=_NAMES, photos=_NAMES, taken=_NAMES, complete=FLAG)
_OWN: Final = json_object(
    **{"from": NUMBER}, version=TEXT, total=NUMBER, ratio={"type": "array", "items": NUMBER}, color=TEXT, type=TEXT,
    photos={
        "type": "array",
        "items": json_object(
            uid=TEXT, hash=TEXT, duration=NUMBER, favorite=FLAG, private=FLAG, width=NUMBER, height=NUMBER,
            turn=NUMBER, text=TEXT, days={"anyOf": [NUMBER, {"type": "null"}]},
        ),
    },
    next=TEXT,
)  # fmt: skip
_EMPTIED: Final = outcome(files=NUMBER, bytes=NUMBER, complete=FLAG)
_kept = TrashedFileSchema()


@trash.get("/trash")
@require("trash.view")
@takes_query(lambda: describe({**page_parameters("files"), "q": (TEXT, "Part of the former name.")}))
@answers(TrashedFileSchema, "A page of the files in the trash.", many=True, headers=page_headers("files"))
def list_trash() -> Response:
    """List the originals that were deleted or replaced, the last ones first, each with its former photo."""
    service = current_service()
    page = read_page()
    text = request.args.get("q", "").strip()
    listed = Trash(service.settings.originals).page(page.offset, page.count, text)
    with service.reading(orm=True) as session:
        photos = photos_of(session, listed)
    rows = [(kept, photos.get(kept.path, ""), kept_until(kept, service.settings)) for kept in listed]
    return page.answer(json_answer([_kept.dump(row) for row in rows]), len(listed))


@trash.get("/trash/photos")
@require("trash.view")
@takes_query(lambda: describe({**POSITIONS, "locate": (TEXT, "The UID of a photo, in place of `from`.")}))
@answers(_OWN, "The photos at these positions, each with the `days` that it stays; null without an end.")
def list_own_photos() -> Response:
    """List the photos that the own account deleted, the last ones first, in the form of `/photos/sequence`."""
    service, who = current_service(), principal()
    start = parse_number(request.args.get("from", ""), "from", 0, MOST_LISTED, 0)
    count = parse_number(request.args.get("n", ""), "n", 1, MOST_SHOWN, DEFAULT_SHOWN)
    located = request.args.get("locate", "")
    with service.reading() as connection:
        files = deleted_photos(connection, Author.of(who).uid)
        version = version_of(connection, sees_private=who.sees_private)
    if located:
        start = next((at for at, file in enumerate(files) if file.photo_uid == located), -1)
        if start < 0:
            raise NotFoundError("this photo is not in the trash", field="locate")
    shown = files[start : start + count]
    days, now = 0 if service.settings.readonly else service.settings.trash_days, service.now()
    columns = {
        "ratio": [round(100 * file.width / file.height) if file.width and file.height else 100 for file in shown],
        "color": "1" * len(shown),
        "type": "0" * len(shown),
    }
    photos = [_own_photo(file, days_left(file, days, now)) for file in shown]
    answer = {"version": version, "from": start, "total": len(files), **columns, "photos": photos, "next": ""}
    return json_answer(answer)


def _own_photo(file: SeenFile, days: int | None) -> dict[str, Any]:
    return {
        "uid": file.photo_uid, "hash": file.hash, "duration": 0, "favorite": False, "private": False,
        "width": file.width, "height": file.height, "turn": file.turn, "days": days,
        "text": "" if file.title == UNKNOWN else file.title[:LONGEST_TEXT],
    }  # fmt: skip


@trash.post("/trash/delete")
@require("trash.delete")
@takes(TrashedPhotosSchema, any_type=True, max_body=LONG_BODY)
@answers(_EMPTIED, "Number of permanently deleted files.", refuses=(400, 403, 404, 409, 429))
def delete_own_photos(body: dict[str, Any]) -> Response:
    """Delete photos in the trash for good that the own account deleted; others are left out.

    A request that takes longer than 20 seconds leaves the rest to the next one; `complete` is false then.
    """
    service = current_service()
    photos = body["photos"] or []
    if not photos or not all(is_uid(uid, PHOTO) for uid in photos):
        raise InvalidValueError("photos: send the UIDs of photos in the trash", field="photos")
    deleted = delete_own_files(open_trash(service.writing, service.settings), photos)
    if not deleted.files and deleted.is_complete:
        raise NotFoundError("none of these photos is in your trash", field="photos")
    emptied = {"files": deleted.files, "bytes": deleted.size, "complete": deleted.is_complete}
    message = f"{counted(deleted.files, 'file')} deleted permanently"
    return json_answer({"code": 200, "message": message, **emptied})


@trash.post("/trash/restore")
@require("trash.restore")
@takes(RestoreSchema, any_type=True, max_body=LONG_BODY)
@answers(
    _RESTORED,
    "Names of restored files, and of those that cannot be restored because their name is in use.",
    refuses=(400, 404, 409, 429, 507),
)
def restore_trash(body: dict[str, Any]) -> Response:
    """Restore originals under their names, and their photos under the same UIDs with all that people entered.

    Items that are not in the trash are left out. A name that another file has by now stays with that file, and `taken`
    lists it. A request restores up to 10,000 files, and begins no further hundred after 20 seconds; `complete` is false
    if there are more.
    """
    service = current_service()
    trash = open_trash(service.writing, service.settings)
    items = [*(body["items"] or ()), *(body["photos"] or ())]
    if bool(items) == body["all"]:
        raise InvalidValueError("say which items or photos to restore, or all", field="items")
    if unknown := [item for item in items if not (is_uid(item, PHOTO) or is_deletion(item.partition("/")[0]))]:
        msg = f"{unknown[0][:40]!r} is neither an Item of the trash nor the UID of a photo"
        raise InvalidValueError(msg, field="items")
    if body["all"]:
        files = list(islice(trash.every_file(), MOST_RESTORED + 1))
    else:
        with service.reading(orm=True) as session:
            files = chosen_files(session, trash, items)[: MOST_RESTORED + 1]
    if not files and items:
        raise NotFoundError("nothing of this is in the trash", field="items")
    restored = restore_files(files)
    answer = {
        "files": restored.files,
        "photos": restored.photos,
        "taken": restored.taken,
        "complete": restored.is_complete,
    }
    return json_answer({"code": 200, "message": f"{counted(len(restored.files), 'file')} restored", **answer})


@trash.delete("/trash")
@require("trash.empty")
@takes(EmptySchema, any_type=True)
@answers(_EMPTIED, "Number of permanently deleted files.", refuses=(400, 409, 429))
def empty_trash(body: dict[str, Any]) -> Response:
    """Delete files in the trash for good: those older than `days`, or all, if their number is `expected`.

    A request that takes longer than 20 seconds leaves the rest to the next one; `complete` is false then.
    """
    service = current_service()
    trash = open_trash(service.writing, service.settings)
    days, expected = body["days"], body["expected"]
    if days is None and expected is None:
        raise InvalidValueError("say for how many days files are kept, or how many files are expected", field="days")
    before = service.now() - timedelta(days=days) if days else END_OF_TIME
    deleted = empty_files(trash, before, expected)
    message = f"{counted(deleted.files, 'file')} deleted permanently"
    emptied = {"files": deleted.files, "bytes": deleted.size, "complete": deleted.is_complete}
    return json_answer({"code": 200, "message": message, **emptied})
