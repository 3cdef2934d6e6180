"""Albums that others see: the accounts that an album is shared with, and its public links.

They are at /albums/<uid>/accounts and /albums/<uid>/links, the albums that are shared with the own account at /shared.
"""

from dataclasses import replace
from typing import Any, Final

from flask import Response

from photosvc.core.accounts import CONTRIBUTOR, SHARE_ROLES
from photosvc.core.message import counted
from photosvc.library.admission import ADDED, DAMAGED, NOT_SHOWN, REFUSED
from photosvc.library.albums import album_of_people
from photosvc.library.links import add_link, change_link, end_link, find_link, list_links, new_password_hash
from photosvc.library.shares import (
    change_share,
    end_share,
    find_share,
    leave_album,
    list_shares,
    share_album,
    shared_albums,
    take_out,
    user_id_of,
)
from photosvc.records.albums import (
    AlbumResultSchema,
    LinkEditSchema,
    LinkSchema,
    NewShareSchema,
    SharedAlbumSchema,
    ShareEditSchema,
    ShareSchema,
    TakenOutSchema,
)
from photosvc.search.reading.albums import KnownAlbums
from photosvc.web.auditing import operating
from photosvc.web.contract import (
    MESSAGE,
    TEXT,
    answers,
    for_visitors,
    json_object,
    outcome,
    takes,
    takes_files,
)
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.searching import searching
from photosvc.web.service import current_service
from photosvc.web.uploads import contribute, message_of, record_of_file

shares = OwnBlueprint("shares", __name__)
links = OwnBlueprint("links", __name__)

_schema, _link_schema = ShareSchema(), LinkSchema()
_album_schema = AlbumResultSchema()
_share_fields = SharedAlbumSchema(only=("Role", "SharedBy", "SharedAt"))
_FILE: Final = json_object(
    "name status",
    name=TEXT,
    status={"type": "string", "enum": [ADDED, DAMAGED, NOT_SHOWN, REFUSED]},
    hash=TEXT,
    code=TEXT,
    reason=TEXT,
)
_TAKEN_OUT: Final = outcome(photos={"type": "array", "items": TEXT})


@shares.get("/albums/<album_uid>/accounts")
@require("links.list")
@answers(ShareSchema, "The accounts, the latest first.", many=True, refuses=(404, 409))
def list_accounts(album_uid: str) -> Response:
    """List the accounts that an album is shared with."""
    with current_service().reading(orm=True) as session:
        album_of_people(session, album_uid, sees_private=principal().sees_private)
        return json_answer([_schema.dump(share) for share in list_shares(session, album_uid)])


@shares.post("/albums/<album_uid>/accounts")
@require("links.make")
@takes(NewShareSchema, any_type=True)
@answers(ShareSchema, "The account, with its role.", refuses=(400, 404, 409))
def add_account(body: dict[str, Any], album_uid: str) -> Response:
    """Share an album with an account: a `viewer` sees its photos, a `contributor` adds photos too.

    A guest sees nothing else of the library; private, archived and hidden photos are left out.
    """
    with operating() as operation:
        album = album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        share = share_album(operation, album, body["account"], contributes=_contributes(body))
        return json_answer(_schema.dump(share))


@shares.put("/albums/<album_uid>/accounts/<account_uid>")
@require("links.make")
@takes(ShareEditSchema, any_type=True)
@answers(ShareSchema, "The account, with its role.", refuses=(400, 404, 409))
def change_account(body: dict[str, Any], album_uid: str, account_uid: str) -> Response:
    """Change the role of an account in a shared album."""
    with operating() as operation:
        album = album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        share = find_share(operation.session, album.uid, account_uid)
        change_share(operation, album, share, contributes=_contributes(body))
        return json_answer(_schema.dump(share))


@shares.delete("/albums/<album_uid>/accounts/<account_uid>")
@require("links.make")
@answers(ShareSchema, "The account, with the role that it had.", refuses=(404, 409))
def remove_account(album_uid: str, account_uid: str) -> Response:
    """Share an album with an account no longer: from now on, a guest sees none of its photos by any address."""
    with operating() as operation:
        album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        share = find_share(operation.session, album_uid, account_uid)
        record = _schema.dump(share)
        end_share(operation, share)
    return json_answer(record)


@shares.get("/shared")
@require("shared.list")
@answers(SharedAlbumSchema, "The albums, the latest first.", many=True)
def list_shared() -> Response:
    """List the albums that are shared with the own account, each with its number of photos."""
    service, who = current_service(), principal()
    records: list[dict[str, Any]] = []
    with searching(who.owner_uid) as connection:
        for share, album in shared_albums(connection, service.only(KnownAlbums), user_id_of(who), service.today()):
            fields = {
                "role": SHARE_ROLES[share.contributes],
                "shared_by": share.shared_by,
                "shared_at": share.shared_at,
            }
            # The query of a smart album may name people and places.
            records.append({**_album_schema.dump(replace(album, filter="")), **_share_fields.dump(fields)})
    return json_answer(records)


@shares.delete("/shared/<album_uid>")
@require("shared.leave")
@answers(MESSAGE, "The album is shared with the own account no longer.", refuses=(404,))
def leave(album_uid: str) -> Response:
    """Leave an album that is shared with the own account."""
    with operating() as operation:
        leave_album(operation, user_id_of(principal()), album_uid)
    return json_answer({"code": 200, "message": "Album left"})


@shares.post("/shared/<album_uid>/photos")
@require("shared.add")
@takes_files("Pictures and videos.")
@answers(
    outcome(files={"type": "array", "items": _FILE}), "The result of each file.", refuses=(400, 404, 413, 429, 503, 507)
)
@for_visitors
def add_photos(album_uid: str) -> Response:
    """Add photos to an album that is shared with the own account as a contributor, or by a link that takes files.

    They are sent in a form (`multipart/form-data`), count in the quota of the account, or of the one that made the
    link, and appear in the album once they are indexed. The answer does not tell which of them the library has already.
    """
    outcomes = contribute(album_uid)
    files = [record_of_file(outcome) for outcome in outcomes]
    return json_answer({"code": 200, "message": message_of([file["status"] for file in files]), "files": files})


@shares.delete("/shared/<album_uid>/photos")
@require("shared.remove")
@takes(TakenOutSchema)
@answers(_TAKEN_OUT, "The photos that were taken out.", refuses=(400, 404, 409))
def remove_photos(body: dict[str, Any], album_uid: str) -> Response:
    """Take photos that the own account uploaded out of a shared album; they stay in the library."""
    service, user_id = current_service(), user_id_of(principal())
    with service.writing(library=True) as session:
        removed = take_out(session, user_id, album_uid, body["photos"], service.now())
    return json_answer({"code": 200, "message": f"{counted(len(removed), 'photo')} taken out", "photos": removed})


def _contributes(body: dict[str, Any]) -> bool:
    return bool(body["role"] == CONTRIBUTOR)


@links.get("/albums/<album_uid>/links")
@require("links.list")
@answers(LinkSchema, "The links, the latest first.", many=True, refuses=(404, 409))
def list_album_links(album_uid: str) -> Response:
    """List the public links of an album, without their tokens."""
    with current_service().reading(orm=True) as session:
        album_of_people(session, album_uid, sees_private=principal().sees_private)
        return json_answer([_link_schema.dump(link) for link in list_links(session, album_uid)])


@links.post("/albums/<album_uid>/links")
@require("links.make")
@takes(LinkEditSchema, any_type=True)
@answers(LinkSchema, "The new link, and its `Token`, which is shown only now.", refuses=(400, 404, 409, 503))
def add_album_link(body: dict[str, Any], album_uid: str) -> Response:
    """Make a public link to an album: `/s/<Token>` shows its photos to people without an account.

    Unless the link allows more, they see the pictures alone.
    """
    password_hash = new_password_hash(body)
    with operating() as operation:
        album = album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        new_link = add_link(operation, album, body, password_hash, current_service().settings)
        return json_answer({**_link_schema.dump(new_link.link), "Token": new_link.token})


@links.put("/albums/<album_uid>/links/<link_uid>")
@require("links.make")
@takes(LinkEditSchema, any_type=True)
@answers(LinkSchema, "The changed link.", refuses=(400, 404, 409, 503))
def change_album_link(body: dict[str, Any], album_uid: str, link_uid: str) -> Response:
    """Change a public link: fields that are absent or null stay as they are. Another password ends its visits."""
    password_hash = new_password_hash(body)
    with operating() as operation:
        album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        link = find_link(operation.session, link_uid, album_uid)
        change_link(operation, link, body, password_hash)
        return json_answer(_link_schema.dump(link))


@links.delete("/albums/<album_uid>/links/<link_uid>")
@require("links.make")
@answers(LinkSchema, "The link as it was.", refuses=(404, 409))
def end_album_link(album_uid: str, link_uid: str) -> Response:
    """End a public link: it opens nothing from now on, neither do the addresses of pictures that it gave out."""
    with operating() as operation:
        album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        link = find_link(operation.session, link_uid, album_uid)
        record = _link_schema.dump(link)
        end_link(operation, link)
    return json_answer(record)
