"""/photos/<uid>/label: labels of one photo, which are its keywords."""

from typing import Any

from flask import Blueprint, Response

from photosvc.api.library.edits import Editing, change_one
from photosvc.core.errors import InvalidValueError
from photosvc.library.edits.apply import keep_keywords
from photosvc.library.labels import add_label, check_name, label_of, remove_label
from photosvc.records.people import PhotoLabelEditSchema
from photosvc.records.photos.entity import PhotoSchema
from photosvc.web.answers.answer import json_text
from photosvc.web.contract import answers, refuses, takes
from photosvc.web.protector import require

#: The uncertainty that takes a label from a photo.
_ABSENT = 100


def add_routes(api: Blueprint) -> None:
    """Add the labels of photos to the API."""
    path = "/photos/<photo_uid>/label"
    api.add_url_rule(path, view_func=label_photo, methods=["POST"])
    api.add_url_rule(f"{path}/<label_id>", view_func=confirm_label, methods=["PUT"])
    api.add_url_rule(f"{path}/<label_id>", view_func=unlabel_photo, methods=["DELETE"])


@require("photos.update")
@takes(PhotoLabelEditSchema, any_type=True)
@answers(PhotoSchema, "The photo as it is now.")
@refuses(400, 404, 409, 412)
def label_photo(given: dict[str, Any], photo_uid: str) -> Response:
    """Add a label to a photo: a keyword, which outlives every index run as those of other edits."""
    name = given["name"]
    if name is None:
        msg = "Name: send the name of the label"
        raise InvalidValueError(msg, field="Name")
    check_name(name)

    def change(editing: Editing) -> None:
        add_label(editing.catalog, editing.photo, name)

    return json_text(change_one(photo_uid, "photos.label", change)[0])


@require("photos.update")
@takes(PhotoLabelEditSchema, any_type=True)
@answers(PhotoSchema, "The photo as it is now.")
@refuses(400, 404, 412)
def confirm_label(given: dict[str, Any], photo_uid: str, label_id: str) -> Response:
    """Keep the label, even if the files say something else later; an `Uncertainty` of 100 takes it from the photo."""

    def change(editing: Editing) -> None:
        if given["uncertainty"] == _ABSENT:
            remove_label(editing.catalog, editing.photo, label_id)
        else:
            label_of(editing.photo.keywords, label_id)
            keep_keywords(editing.photo)

    return json_text(change_one(photo_uid, "photos.label", change)[0])


@require("photos.update")
@answers(PhotoSchema, "The photo as it is now.")
@refuses(404, 412)
def unlabel_photo(photo_uid: str, label_id: str) -> Response:
    """Take a label from a photo; it stays away when the files are read again."""

    def change(editing: Editing) -> None:
        remove_label(editing.catalog, editing.photo, label_id)

    return json_text(change_one(photo_uid, "photos.label", change)[0])
