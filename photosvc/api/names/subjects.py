"""People: lists of those whose names photos have, renaming and merging them, favourites."""

from collections.abc import Collection, Sequence
from typing import Any

from flask import Blueprint, Response, request

from photosvc.api.names.listing import PAGE_HEADERS, list_entries, list_parameters
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.library.people import MOST_RENAMED, choose_name, mark_favorite, photos_with, rename_photos
from photosvc.query.fold import words
from photosvc.records.people import SubjectEditSchema, SubjectSchema
from photosvc.search.reading.overview.people import Person
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import ETAG, answers, refuses, takes, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import searching

_subject = SubjectSchema()


def add_routes(api: Blueprint) -> None:
    """Add people and faces to the API."""
    api.add_url_rule("/subjects", view_func=list_subjects, methods=["GET"])
    api.add_url_rule("/subjects/<subject_uid>", view_func=read_subject, methods=["GET"])
    api.add_url_rule("/subjects/<subject_uid>", view_func=rename_subject, methods=["PUT"])
    api.add_url_rule("/subjects/<subject_uid>/like", view_func=like_subject, methods=["POST"])
    api.add_url_rule("/subjects/<subject_uid>/like", view_func=dislike_subject, methods=["DELETE"])
    api.add_url_rule("/faces", view_func=list_faces, methods=["GET"])


@require("people.search")
@takes_query(list_parameters)
@answers(SubjectSchema, "A page of people.", many=True, headers={**PAGE_HEADERS, **ETAG})
def list_subjects() -> Response:
    """The people whose names photos have, each with the number of their photos."""
    if request.args.get("type", "").strip().lower() not in {"", "person"}:
        return json_answer([])
    return list_entries("people", current_service().people, _subject)


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
    """Rename a person, or make them a favourite.

    The name of another person makes one person of both, with the UID of that one. A name outlives every index run:
    files that have an earlier name show this person.
    """
    name, favorite = given.get("name"), given.get("favorite")
    if name is None and favorite is None:
        msg = "Name: send a name, or Favorite"
        raise InvalidValueError(msg, field="Name")
    if name is not None and not words(name):
        msg = "Name: send a name with letters or digits"
        raise InvalidValueError(msg, field="Name")
    person = _find(subject_uid)
    uid = person.uid if name is None else _rename(person, name)
    if favorite is not None:
        _mark(uid, favorite=favorite)
    return json_answer(_subject.dump(_find(uid)))


@require("people.update")
@answers(SubjectSchema, "The person as it is now.")
@refuses(404)
def like_subject(subject_uid: str) -> Response:
    """Make a person a favourite."""
    _mark(subject_uid, favorite=True)
    return json_answer(_subject.dump(_find(subject_uid)))


@require("people.update")
@answers(SubjectSchema, "The person as it is now.")
@refuses(404)
def dislike_subject(subject_uid: str) -> Response:
    """Make a person no favourite."""
    _mark(subject_uid, favorite=False)
    return json_answer(_subject.dump(_find(subject_uid)))


def _rename(person: Person, name: str) -> str:
    """Give a person a name; gives their UID."""
    service = current_service()
    now = service.now()
    with service.changing() as session:
        uid, names = choose_name(session, person, name, now)
    while photo_ids := _photos_with(names):  # an index run may add one under an earlier name meanwhile
        for start in range(0, len(photo_ids), MOST_RENAMED):
            with service.changing() as session:
                rename_photos(session, photo_ids[start : start + MOST_RENAMED], names, name, now)
    return uid


def _mark(uid: str, *, favorite: bool) -> None:
    service, person = current_service(), _find(uid)
    if person.favorite != favorite:
        with service.changing() as session:
            mark_favorite(session, person, service.now(), favorite=favorite)


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
