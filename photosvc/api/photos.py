"""GET /photos/<uid>, also as YAML, and /files/<hash>: the records of a photo and of a file (spec 2.2 and 2.3)."""

import hashlib
from collections.abc import Sequence
from typing import Final

import orjson
from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, is_hash, is_uid
from photosvc.models import Photo
from photosvc.records.fields import compile_schema
from photosvc.records.photos.entity import FileEntitySchema, PhotoSchema
from photosvc.records.photos.photo import without_empty
from photosvc.records.yaml_text import yaml_text
from photosvc.search.reading.entity import load_file, load_photo
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.lookup import SeenFile, file_with_hash, files_of_photo
from photosvc.web.answers.answer import JSON, ReadyResponse, cache_headers, is_fresh, not_modified
from photosvc.web.contract import ETAG, answers, refuses
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.transfers.files import disposition

_YAML: Final = "text/x-yaml; charset=utf-8"
_dump_photo, _dump_file = compile_schema(PhotoSchema()), compile_schema(FileEntitySchema())


def add_routes(api: Blueprint) -> None:
    """Add the records of photos and files to the API."""
    api.add_url_rule("/photos/<photo_uid>", view_func=read_photo, methods=["GET"])
    api.add_url_rule("/photos/<photo_uid>/yaml", view_func=read_photo_as_yaml, methods=["GET"])
    api.add_url_rule("/files/<content_hash>", view_func=read_file, methods=["GET"])


@require("photos.view")
@answers(PhotoSchema, "The photo.", headers=ETAG)
def read_photo(photo_uid: str) -> Response:
    """A photo with its files, camera, lens, place and albums.

    It has every field of a merged search result, and the records that those fields refer to.
    """
    body, etag = _record(photo_uid)
    if is_fresh(etag):
        return not_modified(etag)
    return ReadyResponse(body, content_type=JSON, headers=cache_headers(etag))


@require("photos.view")
@answers({"type": "string"}, "The photo as YAML.", media_type="text/x-yaml", headers=ETAG)
@refuses(404)
def read_photo_as_yaml(photo_uid: str) -> Response:
    """The record of a photo as YAML, to keep or to read; with `download` as a file of its name."""
    body, etag = _record(photo_uid)
    if is_fresh(etag):
        return not_modified(etag)
    headers = cache_headers(etag)
    if "download" in request.args:
        headers.append(disposition(f"{photo_uid}.yml"))
    return ReadyResponse(yaml_text(orjson.loads(body)), content_type=_YAML, headers=headers)


def _record(photo_uid: str) -> tuple[bytes, str]:
    """The record of a photo as JSON, and its entity tag.

    Raises:
        NotFoundError: there is none, or it may not be seen.

    """
    service, sees_private = current_service(), principal().sees_private
    with service.reading() as connection:
        # PostgreSQL refuses texts with NUL, so only what has the form of a UID is looked up.
        valid = is_uid(photo_uid, PHOTO)
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) if valid else ()
        if not seen:
            msg = "there is no such photo"
            raise NotFoundError(msg, field="uid")
    with service.loading() as session:
        return record_of(session, seen, sees_private=sees_private)


def record_of(
    session: Session, seen: Sequence[SeenFile], photo: Photo | None = None, *, sees_private: bool
) -> tuple[bytes, str]:
    """The record of the photo of these files as JSON, and its entity tag, which other changes of the library keep."""
    found = load_photo(session, seen, photo, sees_private=sees_private)
    body = orjson.dumps(without_empty(_dump_photo(found)))
    return body, hashlib.blake2b(body, digest_size=16).hexdigest()


@require("files.view")
@answers(FileEntitySchema, "The file.", headers=ETAG)
def read_file(content_hash: str) -> Response:
    """The file with this SHA1; `PhotoUID` names its photo."""
    service, sees_private, content_hash = current_service(), principal().sees_private, content_hash.lower()
    with service.reading() as connection:
        valid = is_hash(content_hash)
        found = file_with_hash(connection, content_hash, sees_private=sees_private) if valid else None
        if found is None:
            msg = "there is no such file"
            raise NotFoundError(msg, field="hash")
        etag = state_tag(connection, "file", content_hash, sees_private=sees_private)
    if is_fresh(etag):
        return not_modified(etag)
    with service.loading() as session:
        body = orjson.dumps(_dump_file(load_file(session, found.file_id)))
    return ReadyResponse(body, content_type=JSON, headers=cache_headers(etag))
