"""People, labels and faces: lists of what photos show, and renaming people."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from flask import Blueprint, Response, request
from marshmallow import Schema

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.library.people import MOST_RENAMED, choose_name, photos_with, rename_photos
from photosvc.query.fold import fold, words
from photosvc.records.people import LabelSchema, SubjectEditSchema, SubjectSchema
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.overview.kept import Kept
from photosvc.search.reading.overview.people import Label, Person
from photosvc.search.reading.request import DEFAULT_COUNT, MAX_COUNT, parse_request
from photosvc.web.answer import ReadyResponse, cache_headers, is_fresh, json_answer
from photosvc.web.contract import ETAG, TEXT, Header, answers, refuses, takes, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.searching import searching

_PAGE_HEADERS: Final = {
    "X-Count": Header("integer", "Entries on this page."),
    "X-Limit": Header("integer", "The most entries that a page can have."),
    "X-Offset": Header("integer", "Entries before it."),
}
_subject, _label = SubjectSchema(), LabelSchema()
#: Orders of the lists: by name, or the most frequent first.
_ORDERS: Final[dict[str, Callable[[Person | Label], Any]]] = {
    "name": lambda entry: fold(entry.name),
    "slug": lambda entry: fold(entry.name),
    "count": lambda entry: -entry.photo_count,
    "relevance": lambda entry: -entry.photo_count,
}


def add_routes(api: Blueprint) -> None:
    """Add people, labels and faces to the API."""
    api.add_url_rule("/subjects", view_func=list_subjects, methods=["GET"])
    api.add_url_rule("/subjects/<subject_uid>", view_func=read_subject, methods=["GET"])
    api.add_url_rule("/subjects/<subject_uid>", view_func=rename_subject, methods=["PUT"])
    api.add_url_rule("/labels", view_func=list_labels, methods=["GET"])
    api.add_url_rule("/faces", view_func=list_faces, methods=["GET"])


def _parameters() -> list[dict[str, Any]]:
    limits = {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": DEFAULT_COUNT}
    described: dict[str, tuple[dict[str, Any], str]] = {
        "count": (limits, "Entries on a page."),
        "offset": ({"type": "integer", "minimum": 0, "default": 0}, "Entries to skip."),
        "q": (TEXT, "Part of the name."),
        "order": ({"type": "string", "enum": [*_ORDERS], "default": "name"}, "The order of the entries."),
    }
    return [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, (schema, description) in described.items()
    ]


@require("people.search")
@takes_query(_parameters)
@answers(SubjectSchema, "A page of people.", many=True, headers={**_PAGE_HEADERS, **ETAG})
def list_subjects() -> Response:
    """The people whose names photos have, each with the number of their photos."""
    if request.args.get("type", "").strip().lower() not in {"", "person"}:
        return json_answer([])
    return _list("people", current_service().people, _subject)


@require("labels.search")
@takes_query(_parameters)
@answers(LabelSchema, "A page of keywords.", many=True, headers={**_PAGE_HEADERS, **ETAG})
def list_labels() -> Response:
    """The keywords of the photos, each with the number of its photos."""
    return _list("labels", current_service().labels, _label)


@require("people.search")
@answers({"type": "object"}, "No faces.", many=True)
def list_faces() -> Response:
    """Always an empty list: this service recognises no faces. Names come from the marked areas of files."""
    return json_answer([])


@require("people.search")
@answers(SubjectSchema, "The person.")
@refuses(404)
def read_subject(subject_uid: str) -> Response:
    """A person with the number of their photos."""
    return json_answer(_subject.dump(_find(subject_uid)))


@require("people.update")
@takes(SubjectEditSchema, any_type=True)
@answers(SubjectSchema, "The person as it is now.")
@refuses(400, 404)
def rename_subject(given: dict[str, Any], subject_uid: str) -> Response:
    """Rename a person. The name of another person makes one person of both, with the UID of that one.

    The name outlives every index run: files that have an earlier name show this person.
    """
    service, name = current_service(), given["name"]
    if not words(name):
        msg = "Name: send a name with letters or digits"
        raise InvalidValueError(msg, field="Name")
    person, now = _find(subject_uid), service.now()
    with service.changing() as session:
        uid, names = choose_name(session, person, name, now)
    while photo_ids := _photos_with(names):  # an index run may add one under an earlier name meanwhile
        for start in range(0, len(photo_ids), MOST_RENAMED):
            with service.changing() as session:
                rename_photos(session, photo_ids[start : start + MOST_RENAMED], names, name, now)
    return json_answer(_subject.dump(_find(uid)))


def _photos_with(names: Collection[str]) -> Sequence[int]:
    with searching(principal().owner_uid, "subject_uid") as connection:
        return photos_with(connection, names) if names else ()


def _find(uid: str) -> Person:
    service, who = current_service(), principal()
    with searching(who.owner_uid, "subject_uid") as connection:
        every = service.people.read(connection, sees_private=who.sees_private)
    found = next((person for person in every if person.uid == uid), None)
    if found is None:
        msg = "there is no such person"
        raise NotFoundError(msg, field="uid")
    return found


def _list(name: str, kept: Kept[list[Any]], schema: Schema) -> Response:
    sees_private = principal().sees_private
    page = parse_request({name: request.args.get(name, "") for name in ("count", "offset")})
    wanted, order = fold(request.args.get("q", "")), request.args.get("order", "").strip().lower() or "name"
    if order not in _ORDERS:
        msg = f"order {order[:40]!r} is unknown: use one of {', '.join(_ORDERS)}"
        raise InvalidValueError(msg, field="order")
    with searching(principal().owner_uid) as connection:
        etag = state_tag(connection, name, page.count, page.offset, wanted, order, sees_private=sees_private)
        if is_fresh(etag):
            return ReadyResponse(status=304, headers=cache_headers(etag))
        every: Sequence[Any] = kept.read(connection, sees_private=sees_private)
    found = sorted((entry for entry in every if wanted in fold(entry.name)), key=_ORDERS[order])
    found = found[page.offset : page.offset + page.count]
    answer = json_answer([schema.dump(entry) for entry in found])
    answer.headers.extend(cache_headers(etag))
    for header, value in (("X-Count", len(found)), ("X-Limit", page.count), ("X-Offset", page.offset)):
        answer.headers[header] = str(value)
    return answer
