"""Labels, which are the keywords of photos: their list, changes in all photos that have one, and those of one photo.

Lists of people, and the jobs that change many photos, have the same form. A change of few photos is made at once.
"""

from typing import Any, Final

from flask import Response, request

from photosvc.core.errors import InvalidValueError
from photosvc.library.labels import add_label, check_label_name, confirm, remove_label
from photosvc.library.renames import QueuedRename, change_label, remove_labels
from photosvc.records.people import (
    LabelEditSchema,
    LabelEntitySchema,
    LabelSchema,
    LabelSelectionSchema,
    PhotoLabelEditSchema,
)
from photosvc.records.photos import PhotoSchema
from photosvc.search.reading.people import read_labels, with_covers_of_labels
from photosvc.web.changes import Editing, answer_changed, rename_context
from photosvc.web.contract import (
    ETAG,
    NUMBER,
    TEXT,
    answers,
    or_answers,
    outcome,
    takes,
    takes_query,
)
from photosvc.web.job_answers import JOB, answer_job
from photosvc.web.lists import PAGE_HEADERS, list_entries, list_parameters
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

labels = OwnBlueprint("labels", __name__)

_label, _entity = LabelSchema(), LabelEntitySchema()
_UIDS: Final = {"type": "array", "items": TEXT}
_DELETED: Final = outcome(labels=_UIDS, photos=NUMBER)
#: The `Uncertainty` by which clients remove a label from a photo.
_ABSENT = 100


@labels.get("/labels")
@require("labels.search")
@takes_query(list_parameters)
@answers(LabelSchema, "A page of keywords.", many=True, headers={**PAGE_HEADERS, **ETAG})
def list_labels() -> Response:
    """List the keywords of the photos, each with the number of its photos."""
    return list_entries("labels", current_service().cached(read_labels), _label, with_covers_of_labels)


@labels.put("/labels/<label_uid>")
@require("labels.update")
@takes(LabelEditSchema, any_type=True)
@answers(LabelEntitySchema, "The changed label.", refuses=(400, 404, 429))
@or_answers(JOB)
def rename_label(body: dict[str, Any], label_uid: str) -> Response:
    """Rename a label, or make it a favourite.

    All photos with the label get the new one instead, as by an edit of their keywords; the name of another label
    merges the two. Files that are indexed later have the keywords that they contain. If over 1,000 photos have the
    label, a job does it.
    """
    name, favorite = body.get("name"), body.get("favorite")
    if name is None and favorite is None:
        raise InvalidValueError("Name: send a name, or Favorite", field="Name")
    if name is not None:
        check_label_name(name)
    context = rename_context("label_uid")
    changed = change_label(context, context.find_label(label_uid), name, favorite=favorite)
    return answer_job(changed.job_id) if isinstance(changed, QueuedRename) else _answer(changed.uid)


@labels.post("/labels/<label_uid>/like", endpoint="label_like")
@labels.post("/labels/<label_uid>/favorite", endpoint="label_favorite")
@labels.delete("/labels/<label_uid>/like", endpoint="label_no_like")
@labels.delete("/labels/<label_uid>/favorite", endpoint="label_no_favorite")
@require("labels.update")
@answers(LabelEntitySchema, "The changed label.", refuses=(404,))
def like_label(label_uid: str) -> Response:
    """Make a label a favourite by POST, and no longer by DELETE."""
    context = rename_context("label_uid")
    change_label(context, context.find_label(label_uid), None, favorite=request.method == "POST")
    return _answer(label_uid)


@labels.post("/batch/labels/delete")
@require("labels.update")
@takes(LabelSelectionSchema, any_type=True)
@answers(_DELETED, "UIDs of the deleted labels, and the number of changed photos.", refuses=(400, 429))
@or_answers(JOB)
def delete_labels(body: dict[str, Any]) -> Response:
    """Remove the labels in `labels` from all photos, as by an edit of their keywords; unknown ones are left out.

    If over 1,000 photos have them, a job does it.
    """
    uids = set(body["labels"] or ())
    if not uids:
        raise InvalidValueError("No items selected", field="labels")
    context = rename_context("labels")
    chosen = [label for label in context.every_label() if label.uid in uids]
    photos = remove_labels(context, chosen)
    if isinstance(photos, QueuedRename):
        return answer_job(photos.job_id)
    message = f"{len(chosen)} labels deleted"
    return json_answer({"code": 200, "message": message, "labels": [label.uid for label in chosen], "photos": photos})


def _answer(uid: str) -> Response:
    """Answer with a label after a change, with its cover."""
    context = rename_context("label_uid")
    label = context.find_label(uid)
    with context.reading() as connection:
        (covered,) = with_covers_of_labels(connection, [label], sees_private=context.sees_private)
    return json_answer(_entity.dump(covered))


@labels.post("/photos/<photo_uid>/label")
@require("photos.update")
@takes(PhotoLabelEditSchema, any_type=True)
@answers(PhotoSchema, "The changed photo.", refuses=(400, 404, 409, 412))
def label_photo(body: dict[str, Any], photo_uid: str) -> Response:
    """Add a label to a photo: a keyword, which outlives every index run as other edits do."""
    name = body["name"]
    if name is None:
        raise InvalidValueError("Name: send the name of the label", field="Name")
    check_label_name(name)
    return answer_changed(
        photo_uid, "photos.label", lambda editing: add_label(editing.shared_rows, editing.photo, name)
    )


@labels.put("/photos/<photo_uid>/label/<label_id>")
@require("photos.update")
@takes(PhotoLabelEditSchema, any_type=True)
@answers(PhotoSchema, "The changed photo.", refuses=(400, 404, 412))
def confirm_label(body: dict[str, Any], photo_uid: str, label_id: str) -> Response:
    """Keep the label, even if the files say something else later; an `Uncertainty` of 100 removes it from the photo.

    A label that was seen in the picture becomes a keyword.
    """

    def change(editing: Editing) -> None:
        if body["uncertainty"] == _ABSENT:
            remove_label(editing.shared_rows, editing.photo, label_id)
        else:
            confirm(editing.shared_rows, editing.photo, label_id)

    return answer_changed(photo_uid, "photos.label", change)


@labels.delete("/photos/<photo_uid>/label/<label_id>")
@require("photos.update")
@answers(PhotoSchema, "The changed photo.", refuses=(404, 412))
def unlabel_photo(photo_uid: str, label_id: str) -> Response:
    """Remove a label from a photo; it stays away when the files are read, or the picture is looked at, again."""
    return answer_changed(
        photo_uid, "photos.label", lambda editing: remove_label(editing.shared_rows, editing.photo, label_id)
    )
