"""The pages of a public link: the pictures of its album, one picture with its neighbours, and the password.

They have no navigation and no scripts, and work without an account. The visit is kept in a cookie of the link, which
browsers send to these pages alone; thumbnails and originals are opened by tokens in their addresses.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, ParamSpec

import orjson
from flask import Response, g, request, url_for
from sqlalchemy import Connection, select

from photosvc.auth import link_tokens, tokens
from photosvc.auth.errors import BusyError, InvalidTokenError, LoginError, ThrottledError
from photosvc.auth.keys import fingerprint
from photosvc.auth.principal import Principal, Shared
from photosvc.core import ids
from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.models import Link, User
from photosvc.pages.blueprint import pages
from photosvc.pages.errors import show_form
from photosvc.pages.forms import page_number, read_form
from photosvc.pages.layout import public_page, see_other, show
from photosvc.pages.photo import size_text
from photosvc.pages.tiles import Thumbnails, alt_text, days_of, taken_label
from photosvc.pages.wording import day
from photosvc.search.reading.albums import AlbumRecord
from photosvc.search.reading.bare import bare_head
from photosvc.search.reading.files import SeenFile, files_of_photo, turns_of
from photosvc.search.reading.pages import find, neighbours, result_heads
from photosvc.search.reading.request import SearchRequest, parse_request
from photosvc.search.reading.selection import album_bytes
from photosvc.search.reading.shared import ORDERS, confine, seen
from photosvc.web.actions import is_mounted, uses
from photosvc.web.addresses import address_of
from photosvc.web.current import Service, current_service
from photosvc.web.protector import is_secure
from photosvc.web.searching import searching
from photosvc.web.visits import begin_visit, find_shared

Args = ParamSpec("Args")
#: The most pictures on a page.
_COUNT: Final = 120
_NOT_FOUND: Final = 404
_USUAL: Final = "oldest"
_SIZE: Final = "fit_1920"
_CARD_SIZE: Final = "fit_1280"
_MIB: Final = 1 << 20
#: Browsers must tell no server the address, and search engines must not list it. Not `no-referrer`: browsers would send
#: `Origin: null` with the form of the password, as with those of other sites.
_HEADERS: Final = (("Referrer-Policy", "strict-origin"), ("X-Robots-Tag", "noindex, nofollow, noarchive"))


def _for_visitors(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Open a page without an account, with the headers of these pages, and errors without a way into the library."""

    @public_page
    @wraps(view)
    def shown(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        try:
            answer = view(*args, **kwargs)
        except PhotosvcError as error:
            answer = show_form("shared-error", error, title="Not found" if error.status == _NOT_FOUND else "Not now")
        for name, value in _HEADERS:
            answer.headers[name] = value
        return answer

    return shown


@pages.get("/s/<link_token>", endpoint="shared")
@pages.get("/s/<link_token>/<slug>", endpoint="shared_named")
@_for_visitors
@uses("photos.search", "photos.preview")
def show_shared(link_token: str, slug: str = "") -> Response:  # noqa: ARG001 - the slug only tells people what it is
    """Show the pictures of a public link, a page at a time; begin a visit if the browser has none."""
    service = current_service()
    who = _visitor(service, link_token)
    if who is not None:
        return _show(service, link_token, who)
    found = find_shared(service, link_token)
    if request.method == "HEAD":  # not a visit
        return Response()
    if found.password_hash:
        return show_form("shared-password", slug=found.slug)
    return _begin(service, link_token, "")


@pages.post("/s/<link_token>", endpoint="open_shared")
@pages.post("/s/<link_token>/<slug>", endpoint="open_shared_named")
@_for_visitors
def open_shared(link_token: str, slug: str = "") -> Response:
    """Begin a visit with the password of the link, and show its pictures."""
    password = read_form().get("password", "")
    try:
        return _begin(current_service(), link_token, password)
    except (LoginError, ThrottledError, BusyError) as error:
        return show_form("shared-password", error, slug=slug)


@pages.get("/s/<link_token>/picture/<uid>", endpoint="shared_picture")
@_for_visitors
@uses("photos.search", "photos.preview")
def show_picture(link_token: str, uid: str) -> Response:
    """Show one picture of a public link, or lead to the link if the browser has no visit."""
    service = current_service()
    who = _visitor(service, link_token)
    if who is None or who.shared is None:
        return _lead_to_link(service, link_token)
    with searching(who.owner_uid, "uid") as connection:
        album = _album(service, connection, who.shared)
        asked = _asked(album, who)
        files = seen(connection, files_of_photo(connection, uid, sees_private=False), who)
        if not files:
            raise _NoPictureError
        (head,) = result_heads(connection, [files[0].file_id])
        beside = neighbours(connection, asked, files[0].photo_id, sees_private=False)
    record = orjson.loads((head if who.shared.metadata else bare_head(head)) + "}")
    token = link_tokens.preview_token(service.settings, who)
    turns = {file.hash: file.turn for file in files if file.turn != 1}
    return show(
        "shared-picture",
        album=album,
        record=record,
        alt=alt_text(record),
        taken=taken_label(record),
        src=Thumbnails(who, turns, waits=True).address(record["Hash"], _SIZE),
        video=_video(files, record, token),
        original=_download(service, who, "photosvc.downloads.download_file", content_hash=record["Hash"]),
        back=url_for(".shared", link_token=link_token),
        before=_picture_at(link_token, beside and beside.before),
        behind=_picture_at(link_token, beside and beside.behind),
    )


@pages.get("/s/<link_token>/pictures.zip", endpoint="shared_zip")
@_for_visitors
@uses("photos.download")
def download_all(link_token: str) -> Response:
    """Lead to the archive of the album, with a fresh token that opens it."""
    service = current_service()
    who = _visitor(service, link_token)
    target = ""
    if who is not None and who.shared is not None:
        target = _download(service, who, "photosvc.downloads.download_album", album_uid=who.shared.album_uid)
    return see_other(target) if target else _lead_to_link(service, link_token)


def _lead_to_link(service: Service, link_token: str) -> Response:
    """Lead to the page of an existing link, with a token in the address that was read as one."""
    find_shared(service, link_token)
    return see_other(url_for(".shared", link_token=link_token))


class _NoPictureError(NotFoundError):
    """The picture does not exist, or the link does not show it."""


def _show(service: Service, link_token: str, who: Principal) -> Response:
    shared = who.shared
    if shared is None:
        raise _NoPictureError
    number = page_number()
    with searching(who.owner_uid) as connection:
        album = _album(service, connection, shared)
        page = find(connection, _asked(album, who, number), sees_private=False)
        records = [record for found in page.results() for record in found]
        turns = turns_of(connection, {record["Hash"] for record in records})
        offers_zip = shared.downloads and is_mounted("photos.download") and album.photo_count > 0
        size = album_bytes(connection, album.uid, sees_private=False) if offers_zip else 0
        owner, until, password_hash = connection.execute(
            select(User.display_name, Link.expires_at, Link.password_hash)
            .select_from(Link)
            .outerjoin(User, User.id == Link.user_id)
            .where(Link.uid == shared.link_uid)
        ).one()
    thumbnails = Thumbnails(who, turns, waits=True)
    # A card shows what everybody with the link sees; a password would not protect the copies that messengers keep.
    card = not password_hash and number == 1
    cover = thumbnails.address(records[0]["Hash"], _CARD_SIZE) if card and records else ""
    return show(
        "shared",
        album=album,
        card=card,
        cover=address_of(service, request, cover) if cover and service.settings.base_url else "",
        owner=owner or "",
        until="" if until is None else day(until),
        days=days_of(records, thumbnails, by_day=False),
        picture=lambda uid: _picture_at(link_token, uid),
        zip=url_for(".shared_zip", link_token=link_token) if 0 < size <= service.settings.zip_size * _MIB else "",
        size=size_text(size),
        number=number,
        last=max(1, -(-album.photo_count // _COUNT)),
        link=lambda page: url_for(".shared", link_token=link_token, page=page if page > 1 else None),
    )


def _album(service: Service, connection: Connection, shared: Shared) -> AlbumRecord:
    album = service.albums.find(connection, shared.album_uid, sees_private=False)
    if album is None:
        raise _NoPictureError
    return album


def _asked(album: AlbumRecord, who: Principal, number: int = 1) -> SearchRequest:
    order = album.order if album.order in ORDERS else _USUAL
    pairs = {"order": order, "seed": "1", "primary": "true", "count": str(_COUNT), "offset": str((number - 1) * _COUNT)}
    return confine(parse_request({"s": album.uid, **pairs}), who)


def _picture_at(link_token: str, uid: str | None) -> str:
    return url_for(".shared_picture", link_token=link_token, uid=uid) if uid else ""


def _video(files: Sequence[SeenFile], record: dict[str, Any], token: str) -> str:
    if not any(file.media_type == "video" or file.motion for file in files) or not is_mounted("photos.preview"):
        return ""
    return url_for("photosvc.videos.video", content_hash=record["Hash"], token=token, video_format="avc")


def _download(service: Service, who: Principal, endpoint: str, **values: Any) -> str:  # noqa: ANN401 - of its path
    """Return the address of a download; empty if the link allows none."""
    if who.shared is None or not who.shared.downloads or not is_mounted("photos.download"):
        return ""
    return url_for(endpoint, t=link_tokens.download_token(service.settings, who, service.now()), **values)


def _visitor(service: Service, link_token: str) -> Principal | None:
    """Return the visitor whose session is in the cookie of the link; None if there is none, or it has ended."""
    secret = request.cookies.get(_cookie_name(service, link_token), "")
    if not ids.is_access_token(secret):
        return None
    try:
        with service.reading() as connection:
            who = tokens.verify(connection, secret, service.now())
    except InvalidTokenError:
        return None
    if who.shared is None:
        return None
    g.photosvc_principal = who
    return who


def _begin(service: Service, link_token: str, password: str) -> Response:
    """Begin a visit, and lead to the page with its cookie; browsers that keep no cookies are shown it at once."""
    login = begin_visit(service, link_token, password)
    g.photosvc_principal = login.principal
    answer = _show(service, link_token, login.principal)
    answer.set_cookie(
        _cookie_name(service, link_token),
        login.secret,
        max_age=login.principal.expires_in(service.now()),
        path=url_for(".shared", link_token=link_token),
        secure=is_secure(request, service),
        httponly=True,
        samesite="Lax",  # people come by links in messages
    )
    return answer


def _cookie_name(service: Service, link_token: str) -> str:
    name = f"photosvc-{fingerprint(service.settings.secret_key) & 0xFFFFFF:06x}-{ids.digest(link_token)[:12]}"
    return f"__Secure-{name}" if is_secure(request, service) else name
