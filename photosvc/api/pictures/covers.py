"""Covers: the thumbnail of the latest photo of an album, of a folder or of a label."""

from collections.abc import Sequence

from flask import Blueprint, Response
from sqlalchemy import select

from photosvc.api.pictures.thumbnails import show_cover
from photosvc.core.errors import NotFoundError
from photosvc.models import SearchRow, photo_keywords
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.reading.lookup import files_with_ids, matching_ids
from photosvc.search.reading.request import parse_request
from photosvc.web.answers.icons import or_icon, quiet
from photosvc.web.contract import answers, refuses
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require_link_token
from photosvc.web.searches.searching import searching


def add_routes(api: Blueprint) -> None:
    """Add covers to the API; folders are albums too."""
    for path, name in (("/albums/<uid>/t", "album_cover"), ("/folders/t/<uid>", "folder_cover")):
        api.add_url_rule(f"{path}/<token>/<size>", name, album_cover, methods=["GET"], strict_slashes=False)
    api.add_url_rule("/labels/<uid>/t/<token>/<size>", view_func=label_cover, methods=["GET"], strict_slashes=False)


@or_icon
@quiet
@require_link_token
@answers({"type": "string", "format": "binary"}, "The thumbnail.", media_type="image/*")
@refuses(403, 404, 412, 422, 503)
def album_cover(uid: str, token: str, size: str) -> Response:  # noqa: ARG001 - `require_link_token` reads it
    """A thumbnail of the latest photo of an album or folder; the token is a preview token, or a download token."""
    who = principal()
    with searching(who.owner_uid, "uid") as connection:
        asked = parse_request({"s": uid, "count": "1", "primary": "true", "order": "newest"})
        return _cover(matching_ids(connection, asked, sees_private=who.sees_private), size)


@or_icon
@quiet
@require_link_token
@answers({"type": "string", "format": "binary"}, "The thumbnail.", media_type="image/*")
@refuses(403, 404, 412, 422, 503)
def label_cover(uid: str, token: str, size: str) -> Response:  # noqa: ARG001
    """A thumbnail of the latest photo with a label; the token is a preview token, or a download token."""
    who = principal()
    with searching(who.owner_uid, "uid") as connection:
        labels = current_service().labels.read(connection, sees_private=who.sees_private)
        label = next((one.id for one in labels if one.uid == uid), None)
        labelled = select(photo_keywords.c.photo_id).where(photo_keywords.c.keyword_id == label)
        query = select(SearchRow.file_id).where(SearchRow.photo_id.in_(labelled), SearchRow.is_first)
        query = query.where(visible(sees_private=who.sees_private, by_index=False))
        query = query.order_by(SearchRow.taken_at.desc(), SearchRow.newest_key.desc()).limit(1)
        return _cover(connection.scalars(query).all() if label is not None else (), size)


def _cover(file_ids: Sequence[int], size: str) -> Response:
    with current_service().reading() as connection:
        found = files_with_ids(connection, file_ids, sees_private=principal().sees_private) if file_ids else []
    if not found:
        msg = "there is no photo in it"
        raise NotFoundError(msg, field="uid")
    return show_cover(found[0], size)
