"""PUT and PATCH /photos/<uid>, and what people do with one photo: like and approve it."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from photosvc.api.photos import record_of
from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.index.places import Gazetteer
from photosvc.index.storing.catalog import PlainCatalog
from photosvc.library.edits.apply import apply, approve
from photosvc.library.edits.changing import changing
from photosvc.library.edits.journal import Actor, Change
from photosvc.library.edits.loading import LoadedPhotos, load_photo
from photosvc.models import Photo
from photosvc.records.edits.edit import PhotoEditSchema
from photosvc.records.photos.entity import PhotoSchema
from photosvc.search.reading.lookup import files_of_photo
from photosvc.web.answers.answer import JSON, ReadyResponse, cache_headers, json_text
from photosvc.web.contract import ETAG, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require

#: Bytes of a request: clients send whole records back, with all files.
_MAX_BODY: Final = 1 << 20
#: The contract of answers that wrap the photo, as clients expect of all changes but PUT.
WRAPPED = json_object("photo", photo={"type": "object"})


class PhotoChangedError(PhotosvcError):
    """The photo changed meanwhile: read it again, and repeat the change if it still fits."""

    status = HTTPStatus.PRECONDITION_FAILED


def add_routes(api: Blueprint) -> None:
    """Add the changes of single photos to the API."""
    api.add_url_rule("/photos/<photo_uid>", view_func=change_photo, methods=["PUT"])
    api.add_url_rule("/photos/<photo_uid>", "patch_photo", change_photo, methods=["PATCH"])
    api.add_url_rule("/photos/<photo_uid>/like", view_func=like_photo, methods=["POST"])
    api.add_url_rule("/photos/<photo_uid>/like", view_func=dislike_photo, methods=["DELETE"])
    api.add_url_rule("/photos/<photo_uid>/approve", view_func=approve_photo, methods=["POST"])


@require("photos.update")
@takes(PhotoEditSchema, any_type=True, quoted=True, max_body=_MAX_BODY)
@answers(PhotoSchema, "The photo as it is now.", headers=ETAG)
@refuses(400, 404, 412)
def change_photo(given: dict[str, Any], photo_uid: str) -> Response:
    """Change a photo: fields that are absent stay as they are, null gives a value back to what the files say.

    What a person sets outlives every index run. With `If-Match`, only the state with that entity tag is changed.
    """
    values = {**given, **(given.pop("details", None) or {})}

    def change(editing: Editing) -> None:
        apply(editing.photo, values, editing.catalog)

    body, etag = change_one(photo_uid, "photos.update", change)
    return ReadyResponse(body, content_type=JSON, headers=cache_headers(etag))


@require("photos.update")
@answers(WRAPPED, "The photo as it is now.")
@refuses(404, 412)
def like_photo(photo_uid: str) -> Response:
    """Make a photo a favourite."""
    return _favorite(photo_uid, favorite=True)


@require("photos.update")
@answers(WRAPPED, "The photo as it is now.")
@refuses(404, 412)
def dislike_photo(photo_uid: str) -> Response:
    """Make a photo no favourite."""
    return _favorite(photo_uid, favorite=False)


def _favorite(photo_uid: str, *, favorite: bool) -> Response:
    def change(editing: Editing) -> None:
        apply(editing.photo, {"favorite": favorite}, editing.catalog)

    body, _ = change_one(photo_uid, "photos.like", change)
    return json_text(b'{"photo":' + body + b"}")


@require("photos.update")
@answers(WRAPPED, "The photo as it is now.")
@refuses(404, 412)
def approve_photo(photo_uid: str) -> Response:
    """Take a photo out of review: it counts as edited, and its score as good enough."""

    def change(editing: Editing) -> None:
        approve(editing.photo)

    body, _ = change_one(photo_uid, "photos.approve", change)
    return json_text(b'{"photo":' + body + b"}")


@dataclass(frozen=True, slots=True)
class Editing:
    """A photo that is changed in a write transaction."""

    session: Session
    catalog: PlainCatalog
    loaded: LoadedPhotos

    @property
    def photo(self) -> Photo:
        """The photo."""
        return self.loaded.photos[0]


def change_one(photo_uid: str, action: str, change: Callable[[Editing], int | None]) -> tuple[bytes, str]:
    """Change one photo in a write transaction; gives its new record and entity tag.

    Args:
        photo_uid: the photo.
        action: for the journal.
        change: changes it; gives the number of the change that it undoes, if any.

    Raises:
        NotFoundError: the photo does not exist, or may not be seen.
        PhotoChangedError: `If-Match` names another state of it.

    """
    service, who = current_service(), principal()
    now = service.now()
    valid = is_uid(photo_uid, PHOTO)  # PostgreSQL refuses texts with NUL
    with service.changing() as session:
        connection, sees_private = session.connection(), who.sees_private
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) if valid else ()
        loaded = load_photo(session, photo_uid) if seen else None
        if loaded is None or not loaded.photos:
            msg = "there is no such photo"
            raise NotFoundError(msg, field="uid")
        (photo,) = loaded.photos
        if "If-Match" in request.headers:
            _, etag = record_of(session, seen, photo, sees_private=sees_private)
            # An empty or unreadable header names no state either.
            if not request.if_match.contains(etag):
                raise PhotoChangedError
        catalog = PlainCatalog(session, Gazetteer.load())
        catalog.remember(loaded.photos)
        entry = Change(action, Actor.of(who))
        with changing(session, catalog, loaded, entry, now):
            entry.undoes = change(Editing(session, catalog, loaded))
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) or seen
        return record_of(session, seen, photo, sees_private=sees_private)
