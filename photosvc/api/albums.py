"""The albums of the API, and the photos in them."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, Final

from flask import Response, request
from sqlalchemy import Connection

from photosvc.auth import policy
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.message import counted
from photosvc.core.times import ZERO_TIME
from photosvc.library.album_photos import add_photos, arrange_photos, keep_shown_order, photos_in_order, remove_photos
from photosvc.library.albums import (
    PhotosChange,
    album_of_people,
    album_to_change,
    albums_among,
    change_album,
    delete_whole,
    make_album,
)
from photosvc.library.links import links_state, with_link_counts
from photosvc.models.engine import session_on
from photosvc.records.albums import (
    AlbumEditSchema,
    AlbumResultSchema,
    AlbumSelectionSchema,
    ArrangementSchema,
    ZipSelectionSchema,
)
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.albums import ORDERS, TYPES, AlbumRecord, KnownAlbums, parse_albums_request
from photosvc.search.reading.albums_named import kind_of
from photosvc.search.reading.covers import with_album_covers
from photosvc.search.reading.guests import sees_album
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.request import ALBUM_ORDERS
from photosvc.search.reading.selection import MOST_SELECTED, parse_selection
from photosvc.web.changes import change_photos, one_batch
from photosvc.web.contract import (
    ETAG,
    LONG_BODY,
    MESSAGE,
    TEXT,
    answers,
    describe,
    for_visitors,
    json_object,
    outcome,
    takes,
    takes_query,
)
from photosvc.web.links import LINK_HEADERS, link_headers
from photosvc.web.paging import page_headers, page_parameters, read_page
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import cached_answer, json_answer, require_modified
from photosvc.web.searching import searching
from photosvc.web.service import current_service

albums = OwnBlueprint("albums", __name__)

#: Number of albums above which an account's deletions run one at a time, because each album is a transaction.
_BATCH: Final = 500
_UIDS: Final = {"type": "array", "items": TEXT}
_schema = AlbumResultSchema()
_ALBUM: Final = {"type": "object"}
_CHANGED: Final = {"type": "array", "items": json_object(PhotoUID=TEXT, AlbumUID=TEXT)}
_ADDED: Final = outcome(album=_ALBUM, photos=_UIDS, added=_CHANGED)
_REMOVED: Final = outcome(album=_ALBUM, photos=_UIDS, removed=_CHANGED)
_ORDER: Final = json_object(photos=_UIDS)


def _list_parameters() -> list[dict[str, Any]]:
    described = {
        **page_parameters("albums"),
        "type": ({"type": "string", "enum": [*TYPES], "default": TYPES[0]}, "Albums of people, or computed ones."),
        "q": (TEXT, "Part of the title."),
        "order": ({"type": "string", "enum": [*ORDERS]}, "The order of the albums."),
    }
    return describe(described)


@albums.get("/albums")
@require("albums.search")
@takes_query(_list_parameters)
@answers(AlbumResultSchema, "A page of albums.", many=True, headers={**page_headers("albums"), **ETAG, **LINK_HEADERS})
def list_albums() -> Response:
    """List the albums of people, or the folders, months or states of the library, each with its number of photos."""
    service, who = current_service(), principal()
    sees_private, today, headers = who.sees_private, service.today(), link_headers()
    page = read_page()
    parsed = parse_albums_request(request.args, page.count, page.offset)
    with searching(who.owner_uid) as connection:
        links = links_state(connection) if _sees_links() else None
        etag = state_tag(connection, "albums", parsed, links, sees_private=sees_private, today=today)
        require_modified(etag, headers)
        albums = service.only(KnownAlbums).page(connection, parsed, sees_private=sees_private, today=today)
        albums = _complete(connection, albums)
    answer = cached_answer([_schema.dump(album) for album in albums], etag)
    answer.headers.extend(headers)
    return page.answer(answer, len(albums))


@albums.get("/albums/<album_uid>")
@require("albums.view")
@answers(AlbumResultSchema, "The album.", headers=ETAG, refuses=(404,))
@for_visitors
def read_album(album_uid: str) -> Response:
    """Show an album with the number of its photos; the parameter `s` of the search finds these."""
    service, who = current_service(), principal()
    sees_private, today = who.sees_private, service.today()
    with searching(who.owner_uid, "uid") as connection:
        links = links_state(connection) if _sees_links() else None
        etag = state_tag(connection, "album", album_uid, links, sees_private=sees_private, today=today)
        album = None
        if sees_album(who, album_uid):
            album = service.only(KnownAlbums).find(connection, album_uid, sees_private=sees_private, today=today)
        if album is None:
            raise _no_album()
        (album,) = _complete(connection, [album])
    if who.shared is not None:
        album = replace(album, filter="", category="", notes="", cover="")  # they may name people and places
        if not who.shared.metadata:
            album = replace(album, location="", id=0, created_at=ZERO_TIME, updated_at=ZERO_TIME)
    require_modified(etag)
    return cached_answer(_schema.dump(album), etag)


@albums.post("/albums")
@require("albums.create")
@takes(AlbumEditSchema, any_type=True)
@answers(AlbumResultSchema, "The new album.", refuses=(400, 409))
def create_album(body: dict[str, Any]) -> Response:
    """Make an album; with a `Filter` a smart one, which contains the photos that this query finds."""
    service = current_service()
    with service.writing(library=True) as session:
        uid = make_album(session, body, service.now(), principal().owner_uid).uid
    return json_answer(record_of_album(uid))


@albums.put("/albums/<album_uid>")
@albums.patch("/albums/<album_uid>", endpoint="patch_album")
@require("albums.update")
@takes(AlbumEditSchema, any_type=True)
@answers(AlbumResultSchema, "The changed album.", refuses=(400, 404, 409))
def update_album(body: dict[str, Any], album_uid: str) -> Response:
    """Change an album: fields that are absent or null stay as they are."""
    return json_answer(_changed(album_uid, body))


@albums.post("/albums/<album_uid>/like")
@albums.delete("/albums/<album_uid>/like", endpoint="dislike_album")
@require("albums.update")
@answers(MESSAGE, "The changed album, with `code` and `message`.", refuses=(404, 409))
def like_album(album_uid: str) -> Response:
    """Make an album a favourite by POST, and no longer by DELETE."""
    values = {"favorite": request.method == "POST"}
    return json_answer({"code": 200, "message": "Album saved", **_changed(album_uid, values)})


@albums.delete("/albums/<album_uid>")
@require("albums.delete")
@answers(MESSAGE, "The album that is deleted, with `code` and `message`.", refuses=(404, 409))
def remove_album(album_uid: str) -> Response:
    """Delete an album. Its photos stay in the library."""
    service, sees_private = current_service(), principal().sees_private
    with service.reading(orm=True) as session:  # raises the reason if the album cannot be deleted
        album_of_people(session, album_uid, sees_private=sees_private)
    record = record_of_album(album_uid)
    title = delete_whole(service.writing, album_uid, service.now(), sees_private=sees_private)
    return json_answer({"code": 200, "message": f"{title} deleted", **record})


@albums.post("/batch/albums/delete")
@require("albums.delete")
@takes(AlbumSelectionSchema, any_type=True, max_body=LONG_BODY)
@answers(outcome(albums=_UIDS), "The UIDs of the albums that are deleted.", refuses=(400, 404, 409, 429))
def delete_albums(body: dict[str, Any]) -> Response:
    """Delete the albums in `albums`; unknown ones are left out."""
    service, sees_private = current_service(), principal().sees_private
    selection = parse_selection(body, most_albums=MOST_SELECTED)
    uids = dict.fromkeys(selection.albums)
    with service.reading(orm=True) as session:
        for uid in filter(kind_of, uids):  # refused before any is deleted
            with suppress(NotFoundError):
                album_of_people(session, uid, sees_private=sees_private)
        present = albums_among(session, list(uids), sees_private=sees_private)
    deleted: list[str] = []
    with one_batch() if len(present) > _BATCH else nullcontext():
        for uid in present:
            with suppress(NotFoundError):
                delete_whole(service.writing, uid, service.now(), sees_private=sees_private)
                deleted.append(uid)
    return json_answer({"code": 200, "message": f"{len(deleted)} albums deleted", "albums": deleted})


def _sees_links() -> bool:
    return policy.may(principal(), "links.list")


def _complete(connection: Connection, albums: Sequence[AlbumRecord]) -> list[AlbumRecord]:
    """Return the albums with their covers and, for callers who may list links, with the numbers of their links."""
    albums = with_album_covers(connection, albums, sees_private=principal().sees_private)
    return with_link_counts(connection, albums) if _sees_links() else albums


def _changed(album_uid: str, values: dict[str, Any]) -> dict[str, Any]:
    service, who = current_service(), principal()
    with service.writing(library=True) as session:
        album = album_to_change(session, album_uid, sees_private=who.sees_private)
        change_album(session, album, values, service.now(), sees_private=who.sees_private)
    return record_of_album(album_uid)


def _find_changed(uid: str, *, counted: bool) -> AlbumRecord | None:
    service, who = current_service(), principal()
    known, today = service.only(KnownAlbums), service.today()
    with searching(who.owner_uid, "uid") as connection:
        album = known.find(connection, uid, sees_private=who.sees_private, today=today, counted=counted)
        if album is None:
            album = known.find(connection, uid, sees_private=True, today=today, counted=False)
            album = album and replace(album, photo_count=0, latest="")
        if album is not None:
            (album,) = _complete(connection, [album])
    return album


def record_of_album(uid: str) -> dict[str, Any]:
    """Return the record of an album that this request changed, even if the change made it private."""
    try:
        album = _find_changed(uid, counted=True)
    except SearchEndedError:  # the change is committed: answer with the number known last, or 0
        album = _find_changed(uid, counted=False)
    if album is None:
        raise _no_album()
    record: dict[str, Any] = _schema.dump(album)
    return record


def _no_album() -> NotFoundError:
    return NotFoundError("there is no such album", field="uid")


@albums.get("/albums/<album_uid>/photos")
@require("albums.view")
@answers(_ORDER, "The UIDs of the photos.", refuses=(404, 409))
def list_album_photos(album_uid: str) -> Response:
    """List the photos of an album in the order that people gave them; new ones are the last."""
    return _in_order(album_uid)


@albums.put("/albums/<album_uid>/photos")
@require("albums.update")
@takes(ArrangementSchema, any_type=True, max_body=LONG_BODY)
@answers(_ORDER, "The UIDs of the moved photos, in their order.", refuses=(400, 404, 409))
def arrange_album_photos(body: dict[str, Any], album_uid: str) -> Response:
    """Move photos of an album, in the order given, before the photo `before`, to the beginning, or to the end.

    Without `order`, the order of the album stays the one it has.
    """
    service, who = current_service(), principal()
    if len(body["photos"]) > MOST_SELECTED:
        raise InvalidValueError(f"photos: send at most {MOST_SELECTED:,} photo UIDs", field="photos")
    if not all(is_uid(uid, PHOTO) for uid in body["photos"]):
        raise InvalidValueError("photos: send photo UIDs", field="photos")
    if not (body["before"] is None or is_uid(body["before"], PHOTO)):
        raise InvalidValueError("before: send a photo UID", field="before")
    shown = body["order"]
    if shown is not None and (shown not in ALBUM_ORDERS or shown == "random"):
        raise InvalidValueError("order: send the name of an order that is always the same", field="order")
    with service.writing(library=True) as session:
        album = album_to_change(session, album_uid, sees_private=who.sees_private)
        if shown is not None and not album.filter:
            keep_shown_order(session, album, shown, service.today())
        arrange_photos(
            session,
            album,
            body["photos"],
            body["before"],
            service.now(),
            last=bool(body["last"]),
            sees_private=who.sees_private,
        )
    return json_answer({"photos": body["photos"]})


@albums.post("/albums/<album_uid>/photos")
@require("albums.update")
@takes(ZipSelectionSchema, any_type=True, max_body=LONG_BODY)
@answers(_ADDED, "The album, the selection, and the photos that were added.", refuses=(400, 404, 409))
def add_album_photos(body: dict[str, Any], album_uid: str) -> Response:
    """Add photos to an album: by their UIDs, by files or albums, or by a query.

    The query of a smart album decides what it contains: there, only photos that were removed can be added again.
    """
    return _with_photos(album_uid, body, add_photos, "added")


@albums.delete("/albums/<album_uid>/photos")
@require("albums.update")
@takes(ZipSelectionSchema, any_type=True, max_body=LONG_BODY)
@answers(_REMOVED, "The album, the selection, and the photos that were removed.", refuses=(400, 404, 409))
def remove_album_photos(body: dict[str, Any], album_uid: str) -> Response:
    """Remove photos from an album, also from a smart one. They stay in the library."""
    return _with_photos(album_uid, body, remove_photos, "removed")


@albums.post("/albums/<album_uid>/clone")
@require("albums.update")
@takes(AlbumSelectionSchema, any_type=True, max_body=LONG_BODY)
@answers(_ADDED, "The album, the selection, and the photos that were added.", refuses=(400, 404, 409))
def clone_albums(body: dict[str, Any], album_uid: str) -> Response:
    """Add the photos of the albums in `albums`, also of smart and computed ones, to an album of chosen photos."""
    return _with_photos(album_uid, body, add_photos, "added")


def _in_order(album_uid: str) -> Response:
    who = principal()
    with searching(who.owner_uid, "uid") as connection, session_on(connection) as session:
        album = album_of_people(session, album_uid, sees_private=who.sees_private)
        uids = photos_in_order(session, album, sees_private=who.sees_private)
    return json_answer({"photos": uids})


def _with_photos(album_uid: str, body: Mapping[str, Any], change: PhotosChange, outcome: str) -> Response:
    photos, changed = change_photos(album_uid, parse_selection(body), change)
    record = record_of_album(album_uid)
    answer = {
        "code": 200,
        "message": f"{counted(len(changed), 'photo')} {outcome}: {record['Title']}",
        "album": record,
        "photos": list(photos.values()),
        outcome: [{"PhotoUID": photos[photo_id], "AlbumUID": album_uid} for photo_id in changed],
    }
    # The client photoprism 0.1.0 reads the fields of the album at the top level, and after `clone` in `a`.
    return json_answer({**record, **answer, "a": record})
