"""Labels: lists of the keywords of the library, and changing one in all photos that have it."""

from collections.abc import Sequence
from typing import Any, Final

from flask import Blueprint, Response

from photosvc.api.names.listing import PAGE_HEADERS, list_entries, list_parameters
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.library.edits.journal import Actor, Change
from photosvc.library.labels import PORTION, check_name, mark_favorite, photos_with, replace_in, respell
from photosvc.query.fold import fold
from photosvc.records.people import LabelEditSchema, LabelEntitySchema, LabelSchema, LabelSelectionSchema
from photosvc.search.reading.overview.people import Label
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import ETAG, NUMBER, TEXT, answers, json_object, refuses, takes, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import searching

_label, _entity = LabelSchema(), LabelEntitySchema()
_UIDS: Final = {"type": "array", "items": TEXT}
_DELETED: Final = json_object("code message labels photos", code=NUMBER, message=TEXT, labels=_UIDS, photos=NUMBER)


def add_routes(api: Blueprint) -> None:
    """Add labels to the API; clients mark favourites at two addresses."""
    api.add_url_rule("/labels", view_func=list_labels, methods=["GET"])
    api.add_url_rule("/labels/<label_uid>", view_func=rename_label, methods=["PUT"])
    for name in ("like", "favorite"):
        api.add_url_rule(f"/labels/<label_uid>/{name}", f"label_{name}", like_label, methods=["POST"])
        api.add_url_rule(f"/labels/<label_uid>/{name}", f"label_no_{name}", dislike_label, methods=["DELETE"])
    api.add_url_rule("/batch/labels/delete", view_func=delete_labels, methods=["POST"])


@require("labels.search")
@takes_query(list_parameters)
@answers(LabelSchema, "A page of keywords.", many=True, headers={**PAGE_HEADERS, **ETAG})
def list_labels() -> Response:
    """The keywords of the photos, each with the number of its photos."""
    return list_entries("labels", current_service().labels, _label)


@require("labels.update")
@takes(LabelEditSchema, any_type=True)
@answers(LabelEntitySchema, "The label as it is now.")
@refuses(400, 404, 409)
def rename_label(given: dict[str, Any], label_uid: str) -> Response:
    """Rename a label, or make it a favourite.

    All photos that have it get the new one instead, as by an edit of their keywords; the name of another
    label makes one of both. Files that are indexed later have the keywords that they contain.
    """
    name, favorite = given.get("name"), given.get("favorite")
    if name is None and favorite is None:
        msg = "Name: send a name, or Favorite"
        raise InvalidValueError(msg, field="Name")
    if name is not None:
        check_name(name)
    label = _find(label_uid)
    if name is not None and name != label.name:
        label = _rename(label, name)
    if favorite is not None and favorite != label.favorite:
        _mark(label, favorite=favorite)
    return json_answer(_entity.dump(_find(label.uid)))


def _rename(label: Label, name: str) -> Label:
    service = current_service()
    if fold(name) == fold(label.name):
        with service.changing() as session:
            respell(session, label.id, name)
        return _find(label.uid)
    _replace([label], name, "labels.rename")
    renamed = _named(name)
    if label.favorite and not renamed.favorite:
        _mark(renamed, favorite=True)
    return _find(renamed.uid)


@require("labels.update")
@answers(LabelEntitySchema, "The label as it is now.")
@refuses(404)
def like_label(label_uid: str) -> Response:
    """Make a label a favourite."""
    _mark(_find(label_uid), favorite=True)
    return json_answer(_entity.dump(_find(label_uid)))


@require("labels.update")
@answers(LabelEntitySchema, "The label as it is now.")
@refuses(404)
def dislike_label(label_uid: str) -> Response:
    """Make a label no favourite."""
    _mark(_find(label_uid), favorite=False)
    return json_answer(_entity.dump(_find(label_uid)))


@require("labels.update")
@takes(LabelSelectionSchema, any_type=True)
@answers(_DELETED, "The UIDs of the labels that no photo has any more, and how many photos changed.")
@refuses(400)
def delete_labels(given: dict[str, Any]) -> Response:
    """Take the labels in `labels` from all photos, as by an edit of their keywords; unknown ones are left out."""
    uids = set(given["labels"] or ())
    if not uids:
        msg = "No items selected"
        raise InvalidValueError(msg, field="labels")
    found = [label for label in _every() if label.uid in uids]
    photos = _replace(found, None, "labels.delete")
    message = f"{len(found)} labels deleted"
    return json_answer({"code": 200, "message": message, "labels": [label.uid for label in found], "photos": photos})


def _replace(labels: Sequence[Label], name: str | None, action: str) -> int:
    """Replace labels in all of their photos, a transaction for each portion; gives how many photos changed."""
    service, who = current_service(), principal()
    with searching(who.owner_uid, "label_uid") as connection:
        photo_ids = photos_with(connection, [label.id for label in labels], sees_private=who.sees_private)
    now, changed, folded = service.now(), 0, {fold(label.name) for label in labels}
    for start in range(0, len(photo_ids), PORTION):
        with service.changing() as session:
            portion = photo_ids[start : start + PORTION]
            changed += replace_in(session, portion, folded, name, Change(action, Actor.of(who)), now)
    return changed


def _mark(label: Label, *, favorite: bool) -> None:
    with current_service().changing() as session:
        mark_favorite(session, label.id, favorite=favorite)


def _every() -> list[Label]:
    service, who = current_service(), principal()
    with searching(who.owner_uid, "label_uid") as connection:
        return service.labels.read(connection, sees_private=who.sees_private)


def _find(uid: str) -> Label:
    found = next((label for label in _every() if label.uid == uid), None)
    if found is None:
        msg = "there is no such label"
        raise NotFoundError(msg, field="uid")
    return found


def _named(name: str) -> Label:
    found = next((label for label in _every() if fold(label.name) == fold(name)), None)
    if found is None:  # its photos are archived, or were changed meanwhile
        msg = "no photo in searches has this label"
        raise NotFoundError(msg, field="Name")
    return found
