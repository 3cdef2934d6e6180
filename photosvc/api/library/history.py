"""GET /photos/<uid>/history and POST /photos/<uid>/history/<n>/undo: who changed a photo, and taking it back."""

from typing import Any, Final

from flask import Blueprint, Response, request

from photosvc.api.library.edits import WRAPPED, Editing, change_one
from photosvc.core.accounts import ADMIN
from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.library.edits.journal import changes_of, find_change, shown
from photosvc.library.edits.undo import undo
from photosvc.records.edits.change import ChangeSchema
from photosvc.search.reading.lookup import files_of_photo
from photosvc.search.reading.overview.photos import parse_number
from photosvc.web.answers.answer import json_answer, json_text
from photosvc.web.contract import answers, refuses, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.requests.parameters import describe

_MOST: Final = 1000
_LAST: Final = 10**10 - 1
_schema = ChangeSchema()


def add_routes(api: Blueprint) -> None:
    """Add the history of photos to the API."""
    api.add_url_rule("/photos/<photo_uid>/history", view_func=read_history, methods=["GET"])
    api.add_url_rule("/photos/<photo_uid>/history/<number>/undo", view_func=undo_change, methods=["POST"])


def _parameters() -> list[dict[str, Any]]:
    count = {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 100}
    before = "Only changes with a lower `ID`: the last one of the page before."
    return describe({"count": (count, "The most changes to give."), "before": ({"type": "integer"}, before)})


@require("photos.history")
@takes_query(_parameters)
@answers(ChangeSchema, "The changes, the last one first.", many=True)
@refuses(400, 404)
def read_history(photo_uid: str) -> Response:
    """Who changed the photo when: `Before` and `After` contain the values that differ, by the names of its record.

    Callers who may not see private photos see what changed since the photo was last private. Administrators also see
    the history of a photo that was deleted; its deletion is the last change.
    """
    count = parse_number(request.args.get("count", ""), "count", 1, _MOST, 100)
    before = parse_number(request.args.get("before", ""), "before", 1, _LAST, _LAST)
    service, who = current_service(), principal()
    valid = is_uid(photo_uid, PHOTO)  # PostgreSQL refuses texts with NUL
    with service.reading() as connection:
        seen = files_of_photo(connection, photo_uid, sees_private=who.sees_private) if valid else ()
    with service.loading() as session:
        known = seen or (who.role == ADMIN and valid)
        changes = []
        if known:
            changes = changes_of(session, photo_uid, count=count, before=before, sees_private=who.sees_private)
        if not (seen or changes):
            msg = "there is no such photo"
            raise NotFoundError(msg, field="uid")
        records = [_schema.dump(change) for change in changes]
    for one in records:
        one["Before"], one["After"] = shown(one["Before"]), shown(one["After"])
        if not who.sees_private:
            one["Before"].pop("Albums", None)  # of a removed photo that came back: also private ones
    return json_answer(records)


@require("photos.update")
@answers(WRAPPED, "The photo as it is now.")
@refuses(404, 409, 412)
def undo_change(photo_uid: str, number: str) -> Response:
    """Take a change back: its values become what they were before. This is a change of its own, which can be undone.

    409 names the values that changed since then.
    """

    def change(editing: Editing) -> int:
        found = find_change(editing.session, photo_uid, number, sees_private=principal().sees_private)
        undo(editing.catalog, editing.photo, found)
        return found.id

    body, _ = change_one(photo_uid, "photos.undo", change)
    return json_text(b'{"photo":' + body + b"}")
