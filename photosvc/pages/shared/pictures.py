"""The pictures of a shared album, and single pictures with their neighbours, for visitors of links and accounts.

The principal is confined to the album; thumbnails and originals are opened by tokens in their addresses.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from flask import request, url_for
from sqlalchemy import Connection, select

from photosvc.auth import link_tokens
from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.core.ids import PHOTO, row_id_of
from photosvc.core.vocabulary import AUTO
from photosvc.models import Photo
from photosvc.pages.forms import chosen, read_form, whole_number
from photosvc.pages.grid import alt_text, media_data, records_of, shared_positions, taken_label, tile_of
from photosvc.pages.photos import IN_ORDER, OF_LIBRARY
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.pages.wording import size_text
from photosvc.records.public_photos import public_head
from photosvc.search.reading.albums import AlbumRecord, KnownAlbums
from photosvc.search.reading.files import SeenFile, files_of_photo, turns_of
from photosvc.search.reading.guests import ORDERS, confine, seen
from photosvc.search.reading.pages import neighbours, result_heads, uids_of
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.search.reading.selection import MOST_SELECTED, Selection, album_bytes
from photosvc.search.reading.timeline import MOST_SHOWN, position_of
from photosvc.web.searching import searching
from photosvc.web.service import Service
from photosvc.web.zips import select_for_zip

#: The most pictures on a page.
_COUNT: Final = 120
_USUAL: Final = "oldest"
_SIZE: Final = "fit_1920"
_CARD_SIZE: Final = "fit_1280"
#: Widths of covers in pixels.
_COVERS: Final = (720, 1280, 1920, 2560)
_MIB: Final = 1 << 20
#: Bytes from which on the size of an archive is told.
_TOLD: Final = 100 * 10**6
#: The most bytes of a form with UIDs.
_MOST_FORM: Final = 1 << 19
_LAST_POSITION: Final = 2**31 - 1


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
    """The address of the archive of the album, or of pictures that a form names."""
    original: Callable[[str], str]
    """Returns the address of the original with this hash."""


def pictures_of(
    service: Service,
    connection: Connection,
    who: Principal,
    album: AlbumRecord,
    way: Way,
    number: int,
    own: Collection[str] = (),
) -> dict[str, Any]:
    """Return the values of the template for a page of an album; `cover` is the hash of its cover.

    Scripts show the album as one grid, which begins with the pictures of the first page. `own` are the UIDs of pictures
    that the account may take out.
    """
    start = (number - 1) * _COUNT
    records, turns = _records(connection, _asked(service, album, who, start))
    cover = album.thumb or (records[0]["Hash"] if records else "")
    thumbnails = ThumbnailAddresses(who, {**turns, **turns_of(connection, {cover})}, waits=True)
    downloads = who.shared is not None and who.shared.downloads
    offers_zip = downloads and album.photo_count > 0
    size = album_bytes(connection, album.uid, sees_private=False, today=service.today()) if offers_zip else 0
    data = {
        "api": way.page(),
        "photos": way.page(),
        "photo": way.picture("UID"),
        "original": way.original("HASH"),
        "zip": way.zip,
        "may": " ".join(["download"] * downloads + ["takeout"] * bool(own)),
        "visitor": "1",
        **media_data(who),
    }
    return {
        "album": album,
        "tiles": [tile_of(record, thumbnails) for record in records],
        "first": shared_positions(records, turns, own, start=0, total=album.photo_count)
        if number == 1 and records
        else None,
        "data": data,
        "scripts": [name for name in IN_ORDER if name not in OF_LIBRARY],
        "picture": way.picture,
        "zip": way.zip if 0 < size <= service.settings.zip_size * _MIB else "",
        "size": size_text(size) if size >= _TOLD else "",
        "number": number,
        "last": max(1, -(-album.photo_count // _COUNT)),
        "link": way.page,
        "cover": thumbnails.address(cover, _CARD_SIZE) if cover else "",
        "covers": ", ".join(f"{thumbnails.address(cover, f'fit_{width}')} {width}w" for width in _COVERS)
        if cover
        else "",
    }


def picture_of(service: Service, who: Principal, uid: str, way: Way) -> dict[str, Any]:
    """Return the values of the template for one picture of the only album that the principal sees.

    Raises:
        NoPictureError: the album does not have it.
    """
    key = link_tokens.alias_key(service.settings, who)
    with searching(who.owner_uid, "uid") as connection:
        album = only_album(service, connection, who)
        own_uid = _own_uid(connection, uid, key)
        files = seen(connection, files_of_photo(connection, own_uid, sees_private=False), who, service.today())
        if not files or who.shared is None:
            raise NoPictureError
        (head,) = result_heads(connection, [files[0].file_id])
        record = orjson.loads((public_head(head, key) if key else head) + "}")
        _drop_made_titles(connection, [record])
        beside = neighbours(connection, _asked(service, album, who), files[0].photo_id, sees_private=False)
    token = link_tokens.preview_token(service.settings, who)
    turns = {file.hash: file.turn for file in files if file.turn != 1}
    return {
        "album": album,
        "record": record,
        "alt": alt_text(record),
        "taken": taken_label(record),
        "src": ThumbnailAddresses(who, turns, waits=True).address(record["Hash"], _SIZE),
        "video": _video(files, record, token),
        "original": way.original(record["Hash"]) if who.shared.downloads else "",
        "uid": uid,
        "back": way.page(),
        "before": way.picture(beside.before) if beside and beside.before else "",
        "behind": way.picture(beside.behind) if beside and beside.behind else "",
    }


def sequence_of(service: Service, who: Principal, own: Collection[str] = ()) -> dict[str, Any]:
    """Return the pictures at the positions `from` of the request, `n` of them, or from the picture `locate` on.

    Args:
        own: the UIDs of pictures that the account may take out.

    Raises:
        NoPictureError: the album does not have the picture `locate`.
    """
    located = request.args.get("locate", "")
    start = whole_number(request.args.get("from", ""), low=0, high=_LAST_POSITION, default=0)
    count = whole_number(request.args.get("n", ""), low=1, high=MOST_SHOWN, default=_COUNT)
    with searching(who.owner_uid, "uid") as connection:
        album = only_album(service, connection, who)
        if located:
            uid = _own_uid(connection, located, link_tokens.alias_key(service.settings, who))
            try:
                start = position_of(connection, _asked(service, album, who), uid, sees_private=False)
            except NotFoundError:
                raise NoPictureError from None
        records, turns = _records(connection, _asked(service, album, who, start, count))
    return shared_positions(records, turns, own, start=start, total=album.photo_count)


def _own_uid(connection: Connection, uid: str, key: bytes) -> str:
    """Return the UID of a picture in the library; links without metadata have ids of their own. Empty if unknown."""
    if not key:
        return uid
    row_id = row_id_of(PHOTO, uid, key)
    return "" if row_id is None else uids_of(connection, [row_id]).get(row_id, "")


def _records(connection: Connection, asked: SearchRequest) -> tuple[list[dict[str, Any]], dict[str, int]]:
    records, turns = records_of(connection, asked, sees_private=False)
    _drop_made_titles(connection, records)
    return records, turns


def _drop_made_titles(connection: Connection, records: Sequence[dict[str, Any]]) -> None:
    """Leave titles out that nobody wrote: the index makes them from names of files, folders and people."""
    uids = [record["UID"] for record in records]
    made = select(Photo.uid).where(Photo.uid.in_(uids), Photo.title_src == AUTO)
    without = set(connection.scalars(made))
    for record in records:
        if record["UID"] in without:
            record["Title"] = ""


def only_album(service: Service, connection: Connection, who: Principal) -> AlbumRecord:
    """Return the album that the principal is confined to, or raise `NoPictureError` if it is gone or private."""
    uid = who.shared.albums[0] if who.shared is not None else ""
    album = service.only(KnownAlbums).find(connection, uid, sees_private=False, today=service.today())
    if album is None:
        raise NoPictureError
    return album


def _asked(service: Service, album: AlbumRecord, who: Principal, start: int = 0, count: int = _COUNT) -> SearchRequest:
    order = album.order if album.order in ORDERS else _USUAL
    pairs = {"order": order, "seed": "1", "primary": "true", "count": str(count), "offset": str(start)}
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


def download_of_some(service: Service, who: Principal) -> str:
    """Return the address of the archive of the pictures that the form names; empty if there is none.

    The principal of the request must be `who`, who is confined to an album.

    Raises:
        NotFoundError: none of the pictures is shared.
    """
    read_form(most=_MOST_FORM)
    photos = chosen("photo", MOST_SELECTED)
    if not photos or who.shared is None or not who.shared.downloads:
        return ""
    _, name, _ = select_for_zip(Selection(photos=photos), {"photos": photos})
    return download_of(service, who, "photosvc.downloads.download_selection", name=name)
