"""The pictures of a shared album, and single pictures with their neighbours, for visitors of links and accounts.

The principal is confined to the album; thumbnails and originals are opened by tokens in their addresses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from flask import url_for
from sqlalchemy import Connection

from photosvc.auth import link_tokens
from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, row_id_of
from photosvc.pages.grid import alt_text, records_of, taken_label, tile_of
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.pages.wording import size_text
from photosvc.records.public_photos import public_head
from photosvc.search.reading.albums import AlbumRecord, KnownAlbums
from photosvc.search.reading.files import SeenFile, files_of_photo
from photosvc.search.reading.guests import ORDERS, confine, seen
from photosvc.search.reading.pages import neighbours, result_heads, uids_of
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.search.reading.selection import album_bytes
from photosvc.web.searching import searching
from photosvc.web.service import Service

#: The most pictures on a page.
_COUNT: Final = 120
_USUAL: Final = "oldest"
_SIZE: Final = "fit_1920"
_CARD_SIZE: Final = "fit_1280"
_MIB: Final = 1 << 20


class NoPictureError(NotFoundError):
    """The picture does not exist, or is not shared."""


@dataclass(frozen=True, slots=True)
class Way:
    """The addresses of the pages of one shared album."""

    page: Callable[..., str]
    """Returns the address of the page with the number `page`; without it, of the first one."""
    picture: Callable[[str], str]
    """Returns the address of the page of the picture with this UID."""
    zip: str
    """The address of the archive of the album."""


def pictures_of(
    service: Service, connection: Connection, who: Principal, album: AlbumRecord, way: Way, number: int
) -> dict[str, Any]:
    """Return the values of the template for a page of an album; `cover` is the address of its first picture."""
    records, turns = records_of(connection, _asked(service, album, who, number), sees_private=False)
    thumbnails = ThumbnailAddresses(who, turns, waits=True)
    offers_zip = who.shared is not None and who.shared.downloads and album.photo_count > 0
    size = album_bytes(connection, album.uid, sees_private=False, today=service.today()) if offers_zip else 0
    return {
        "album": album,
        "tiles": [tile_of(record, thumbnails) for record in records],
        "picture": way.picture,
        "zip": way.zip if 0 < size <= service.settings.zip_size * _MIB else "",
        "size": size_text(size),
        "number": number,
        "last": max(1, -(-album.photo_count // _COUNT)),
        "link": way.page,
        "cover": thumbnails.address(records[0]["Hash"], _CARD_SIZE) if records else "",
    }


def picture_of(service: Service, who: Principal, uid: str, way: Way) -> dict[str, Any]:
    """Return the values of the template for one picture of the only album that the principal sees.

    Raises:
        NoPictureError: the album does not have it.
    """
    key = link_tokens.alias_key(service.settings, who)
    with searching(who.owner_uid, "uid") as connection:
        album = only_album(service, connection, who)
        if key:  # the page of a link without metadata has ids of its own
            row_id = row_id_of(PHOTO, uid, key)
            uid = "" if row_id is None else uids_of(connection, [row_id]).get(row_id, "")
        files = seen(connection, files_of_photo(connection, uid, sees_private=False), who, service.today())
        if not files or who.shared is None:
            raise NoPictureError
        (head,) = result_heads(connection, [files[0].file_id])
        beside = neighbours(connection, _asked(service, album, who), files[0].photo_id, sees_private=False)
    record = orjson.loads((public_head(head, key) if key else head) + "}")
    token = link_tokens.preview_token(service.settings, who)
    turns = {file.hash: file.turn for file in files if file.turn != 1}
    return {
        "album": album,
        "record": record,
        "alt": alt_text(record),
        "taken": taken_label(record),
        "src": ThumbnailAddresses(who, turns, waits=True).address(record["Hash"], _SIZE),
        "video": _video(files, record, token),
        "original": download_of(service, who, "photosvc.downloads.download_file", content_hash=record["Hash"]),
        "back": way.page(),
        "before": way.picture(beside.before) if beside and beside.before else "",
        "behind": way.picture(beside.behind) if beside and beside.behind else "",
    }


def only_album(service: Service, connection: Connection, who: Principal) -> AlbumRecord:
    """Return the album that the principal is confined to, or raise `NoPictureError` if it is gone or private."""
    uid = who.shared.albums[0] if who.shared is not None else ""
    album = service.only(KnownAlbums).find(connection, uid, sees_private=False, today=service.today())
    if album is None:
        raise NoPictureError
    return album


def _asked(service: Service, album: AlbumRecord, who: Principal, number: int = 1) -> SearchRequest:
    order = album.order if album.order in ORDERS else _USUAL
    pairs = {"order": order, "seed": "1", "primary": "true", "count": str(_COUNT), "offset": str((number - 1) * _COUNT)}
    key = link_tokens.alias_key(service.settings, who)
    return confine(parse_request({"s": album.uid, **pairs}, service.today()), who, key)


def _video(files: Sequence[SeenFile], record: dict[str, Any], token: str) -> str:
    if not any(file.media_type == "video" or file.motion for file in files):
        return ""
    return url_for("photosvc.videos.video", content_hash=record["Hash"], token=token, video_format="avc")


def download_of(service: Service, who: Principal, endpoint: str, **values: Any) -> str:  # noqa: ANN401 - of its path
    """Return the address of a download; empty if the principal may download none."""
    if who.shared is None or not who.shared.downloads:
        return ""
    return url_for(endpoint, t=link_tokens.download_token(service.settings, who, service.now()), **values)
