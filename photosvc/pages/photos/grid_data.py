"""What the scripts of the photos need to know: addresses, rights, and the search that the page shows."""

from collections.abc import Collection
from typing import Final

from flask import url_for

from photosvc.auth.credentials import link_tokens
from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.pages.photos.asked import Asked
from photosvc.web.actions import is_mounted
from photosvc.web.current import current_service

#: What a user may do, by the names that the scripts have for it.
_RIGHTS: Final = {
    "update": ("photos.update",),
    "albums": ("albums.update", "albums.create"),
    "download": ("photos.download",),
    "upload": ("files.upload",),
    "delete": ("photos.delete",),
    "untrash": ("trash.restore",),
}
_TIMELINE: Final = "/photos/timeline"


def grid_data(who: Principal, search: Asked, *, of_album: Collection[str] = ()) -> dict[str, str]:
    """The values of data attributes by their names; none where the API is not mounted, which the scripts call.

    Args:
        who: who is signed in.
        search: what the page shows.
        of_album: further rights, of those who may change albums.

    """
    if not is_mounted("photos.timeline"):
        return {}
    settings = current_service().settings
    token = link_tokens.preview_token(settings, who)
    in_archive = "archived:true" in search.query.lower().split()
    rights = [
        name for name, actions in _RIGHTS.items() if all(is_mounted(action) and may(who, action) for action in actions)
    ]
    if is_mounted("albums.update") and may(who, "albums.update"):
        rights += of_album
    # Photos are deleted from the archive alone, where somebody put them before.
    if not in_archive or (settings.delete_originals and settings.readonly):
        rights = [name for name in rights if name != "delete"]
    return {
        "api": url_for("photosvc.timeline").removesuffix(_TIMELINE),
        "thumbs": url_for("photosvc.thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=1),
        "videos": url_for("photosvc.video", content_hash="HASH", token=token, video_format="avc"),
        "photo": url_for(".photo", uid="UID") + search.where,
        "photos": url_for(".photos"),
        "places": url_for(".places"),
        "albumpage": url_for(".album", uid="UID"),
        "query": search.query,
        "album": search.album,
        "order": search.order or search.usual,
        "may": " ".join(rights),
        "archive": "1" if in_archive else "",
        "deletes": "trash" if settings.delete_originals else "",
        "user": who.user_uid or "",
    }
