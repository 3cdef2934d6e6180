"""The public links of an album, at /albums/<uid>/links."""

from typing import Any

from flask import Response

from photosvc.library.albums import album_of_people
from photosvc.library.links import add_link, change_link, end_link, find_link, list_links, new_password_hash
from photosvc.records.albums import LinkEditSchema, LinkSchema
from photosvc.web.answers import json_answer
from photosvc.web.auditing import operating
from photosvc.web.contract import OwnBlueprint, answers, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require

links = OwnBlueprint("links", __name__)

_schema = LinkSchema()


@links.get("/albums/<album_uid>/links")
@require("links.list")
@answers(LinkSchema, "The links, the latest first.", many=True)
@refuses(404, 409)
def list_album_links(album_uid: str) -> Response:
    """List the public links of an album; their tokens are not stored."""
    with current_service().reading(orm=True) as session:
        album_of_people(session, album_uid, sees_private=principal().sees_private)
        found = [_schema.dump(link) for link in list_links(session, album_uid)]
    return json_answer(found)


@links.post("/albums/<album_uid>/links")
@require("links.make")
@takes(LinkEditSchema, any_type=True)
@answers(LinkSchema, "The new link, and its `Token`, which is shown only now.")
@refuses(400, 404, 409, 503)
def add_album_link(given: dict[str, Any], album_uid: str) -> Response:
    """Make a public link to an album: `/s/<Token>` shows its photos to people without an account.

    Unless the link allows more, they see the pictures alone.
    """
    password_hash = new_password_hash(given)
    with operating() as operation:
        album = album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        made = add_link(operation, album, given, password_hash)
        record = {**_schema.dump(made.link), "Token": made.token}
    return json_answer(record)


@links.put("/albums/<album_uid>/links/<link_uid>")
@require("links.make")
@takes(LinkEditSchema, any_type=True)
@answers(LinkSchema, "The changed link.")
@refuses(400, 404, 409, 503)
def change_album_link(given: dict[str, Any], album_uid: str, link_uid: str) -> Response:
    """Change a public link: fields that are absent or null stay as they are. Another password ends its visits."""
    password_hash = new_password_hash(given)
    with operating() as operation:
        album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        link = find_link(operation.session, link_uid, album_uid)
        change_link(operation, link, given, password_hash)
        record = _schema.dump(link)
    return json_answer(record)


@links.delete("/albums/<album_uid>/links/<link_uid>")
@require("links.make")
@answers(LinkSchema, "The link as it was.")
@refuses(404, 409)
def end_album_link(album_uid: str, link_uid: str) -> Response:
    """End a public link: it opens nothing from now on, neither do the addresses of pictures that it gave out."""
    with operating() as operation:
        album_of_people(operation.session, album_uid, sees_private=principal().sees_private)
        link = find_link(operation.session, link_uid, album_uid)
        record = _schema.dump(link)
        end_link(operation, link)
    return json_answer(record)
