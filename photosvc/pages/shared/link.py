"""The pages of a public link: the pictures of its album, one picture with its neighbours, and the password.

They have no navigation, and work without an account and without scripts. If the link takes files, its visitors add
pictures by a form. The visit is kept in a cookie of the link, which browsers send to these pages alone; thumbnails and
originals are opened by tokens in their addresses.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final, ParamSpec

from flask import Response, g, request, url_for
from sqlalchemy import select
from werkzeug.exceptions import RequestEntityTooLarge

from photosvc.auth import tokens
from photosvc.auth.errors import BusyError, InvalidTokenError, LoginError, ThrottledError
from photosvc.auth.login import Login
from photosvc.auth.policy import decide, may
from photosvc.auth.principal import Principal
from photosvc.auth.service_key import fingerprint
from photosvc.core import ids
from photosvc.core.errors import PhotosvcError
from photosvc.library.admission import ADDED, Admitted
from photosvc.library.links import count_visit
from photosvc.library.storage_errors import TooLargeError
from photosvc.models import VISIT, Link, User
from photosvc.pages.errors import show_form, title_of
from photosvc.pages.forms import page_number, read_form, whole_number
from photosvc.pages.language import _
from photosvc.pages.layout import pages, public_page, see_other, show
from photosvc.pages.shared.pictures import (
    NoPictureError,
    Way,
    download_of,
    download_of_some,
    only_album,
    picture_of,
    pictures_of,
    sequence_of,
)
from photosvc.pages.wording import day
from photosvc.web.contract import uses
from photosvc.web.cookie import is_secure
from photosvc.web.responses import json_answer
from photosvc.web.searching import searching
from photosvc.web.service import Service, current_service
from photosvc.web.uploads import contribute
from photosvc.web.visits import begin_visit, find_shared

Args = ParamSpec("Args")
_MOST: Final = 100_000
#: Browsers must not send the address to other servers, and search engines must not list it. With `no-referrer` browsers
#: would send `Origin: null` with the password form, as they do with forms of other sites.
_HEADERS: Final = (("Referrer-Policy", "strict-origin"), ("X-Robots-Tag", "noindex, nofollow, noarchive"))


def _for_visitors(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Open a page to everybody, with the headers of link pages and an error page that links nowhere."""

    @public_page
    @wraps(view)
    def shown(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        try:
            answer = view(*args, **kwargs)
        except PhotosvcError as error:
            answer = show_form("shared-error", error, title=title_of(error.status))
        for name, value in _HEADERS:
            answer.headers[name] = value
        return answer

    return shown


@pages.get("/s/<link_token>", endpoint="shared")
@pages.get("/s/<link_token>/<slug>", endpoint="shared_named")
@_for_visitors
@uses("photos.search", "photos.preview")
def show_shared(link_token: str, slug: str = "") -> Response:  # noqa: ARG001 - the slug only tells people what it is
    """Show the pictures of a public link, a page at a time, or the form that begins a visit.

    Programs that preview the address use up no visit. A link with a password or a limit of visits is opened by its
    form; a visit of another link counts once its browser sends the cookie.
    """
    service = current_service()
    who = _visitor(service, link_token)
    if who is not None:
        added = whole_number(request.args.get("added", ""), low=0, high=_MOST, default=0)
        return _show(service, link_token, who, added=added)
    link = find_shared(service, link_token)
    if request.method == "HEAD":  # not a visit
        return Response()
    if link.password_hash or link.max_views:
        return show_form("shared-password", asks=bool(link.password_hash))
    login = begin_visit(service, link_token, "", counts=False)
    g.photosvc_principal = login.principal
    return _with_visit(service, link_token, login, _show(service, link_token, login.principal))


@pages.post("/s/<link_token>", endpoint="open_shared")
@pages.post("/s/<link_token>/<slug>", endpoint="open_shared_named")
@_for_visitors
def open_shared(link_token: str, slug: str = "") -> Response:
    """Begin a visit, with the password of the link if it has one, and lead to its pictures."""
    service, password = current_service(), read_form().get("password", "")
    page = ".shared_named" if slug else ".shared"
    answer = see_other(url_for(page, link_token=link_token, slug=slug or None))
    if not password and _visitor(service, link_token) is not None:  # the button was pressed twice
        return answer
    asks = bool(find_shared(service, link_token).password_hash)
    try:
        login = begin_visit(service, link_token, password)
    except (LoginError, ThrottledError, BusyError) as error:
        return show_form("shared-password", error, asks=asks)
    return _with_visit(service, link_token, login, answer)


@pages.get("/s/<link_token>/picture/<uid>", endpoint="shared_picture")
@_for_visitors
@uses("photos.search", "photos.preview")
def show_picture(link_token: str, uid: str) -> Response:
    """Show one picture of a public link, or lead to the link if the browser has no visit."""
    service = current_service()
    who = _visitor(service, link_token)
    if who is None or who.shared is None:
        return _lead_to_link(service, link_token)
    return show("shared-picture", **picture_of(service, who, uid, _way(link_token)))


@pages.get("/s/<link_token>/photos/sequence", endpoint="shared_sequence")
@_for_visitors
@uses("photos.search", "photos.preview")
def list_pictures(link_token: str) -> Response:
    """List pictures of a public link for the grid; 401 without a visit, which opening the link begins."""
    service = current_service()
    who = _visitor(service, link_token)
    if who is None or who.shared is None:
        find_shared(service, link_token)
        return Response(status=401)
    return json_answer(sequence_of(service, who))


@pages.get("/s/<link_token>/original/<content_hash>", endpoint="shared_original")
@_for_visitors
@uses("photos.download")
def download_one(link_token: str, content_hash: str) -> Response:
    """Lead to an original, with a fresh token that opens it."""
    service = current_service()
    who = _visitor(service, link_token)
    if who is None:
        return _lead_to_link(service, link_token)
    target = download_of(service, who, "photosvc.downloads.download_file", content_hash=content_hash)
    return see_other(target) if target else _lead_to_link(service, link_token)


@pages.get("/s/<link_token>/pictures/add", endpoint="may_add_by_link")
@_for_visitors
def may_add(link_token: str) -> Response:
    """Lead to the link; tell a proxy, which sends `X-Large-Body`, whether the visitor may send files."""
    service = current_service()
    who = _visitor(service, link_token)
    if "X-Large-Body" in request.headers:
        return Response(status=204 if who is not None and may(who, "shared.add") else 403)
    return _lead_to_link(service, link_token)


@pages.post("/s/<link_token>/pictures/add", endpoint="add_by_link")
@_for_visitors
@uses("shared.add")
def add_pictures(link_token: str) -> Response:
    """Add the pictures of the form to the album of a public link, if the link takes files."""
    service = current_service()
    who = _visitor(service, link_token)
    if who is None or who.shared is None:
        return _lead_to_link(service, link_token)
    try:
        decide(who, "shared.add")
        outcomes = contribute(who.shared.albums[0])
    except InvalidTokenError:  # the visit has ended meanwhile
        return _lead_to_link(service, link_token)
    except PhotosvcError as error:
        return _show(service, link_token, who, error=error)
    except RequestEntityTooLarge:
        msg = _("The files are larger in total than one form, or this link, may take at present.")
        return _show(service, link_token, who, error=TooLargeError(msg))
    refused = [outcome for outcome in outcomes if outcome.status != ADDED]
    added = len(outcomes) - len(refused)
    if refused:
        return _show(service, link_token, who, added=added, refused=refused)
    return see_other(url_for(".shared", link_token=link_token, added=added))


@pages.get("/s/<link_token>/pictures.zip", endpoint="shared_zip")
@_for_visitors
@uses("photos.download")
def download_all(link_token: str) -> Response:
    """Lead to the archive of the album, with a fresh token that opens it."""
    service = current_service()
    who = _visitor(service, link_token)
    target = ""
    if who is not None and who.shared is not None:
        target = download_of(service, who, "photosvc.downloads.download_album", album_uid=who.shared.albums[0])
    return see_other(target) if target else _lead_to_link(service, link_token)


@pages.post("/s/<link_token>/pictures.zip", endpoint="shared_zip_of_some")
@_for_visitors
@uses("photos.download")
def download_some(link_token: str) -> Response:
    """Lead to the archive of the pictures that the form names."""
    service = current_service()
    who = _visitor(service, link_token)
    target = download_of_some(service, who) if who is not None and who.shared is not None else ""
    return see_other(target) if target else _lead_to_link(service, link_token)


def _lead_to_link(service: Service, link_token: str) -> Response:
    """Lead to the page of a link, or raise an error if the link does not exist."""
    find_shared(service, link_token)
    return see_other(url_for(".shared", link_token=link_token))


def _way(link_token: str) -> Way:
    return Way(
        page=lambda page="": url_for(".shared", link_token=link_token, page=page or None),
        picture=lambda uid: url_for(".shared_picture", link_token=link_token, uid=uid),
        zip=url_for(".shared_zip", link_token=link_token),
        original=lambda content_hash: url_for(".shared_original", link_token=link_token, content_hash=content_hash),
    )


def _show(
    service: Service,
    link_token: str,
    who: Principal,
    *,
    added: int = 0,
    refused: Sequence[Admitted] = (),
    error: PhotosvcError | None = None,
) -> Response:
    shared = who.shared
    if shared is None:
        raise NoPictureError
    number = page_number()
    with searching(who.owner_uid) as connection:
        album = only_album(service, connection, who)
        values = pictures_of(service, connection, who, album, _way(link_token), number)
        row = connection.execute(
            select(User.display_name, Link.expires_at, Link.password_hash)
            .select_from(Link)
            .outerjoin(User, User.id == Link.user_id)
            .where(Link.uid == shared.link_uid)
        ).first()
    if row is None:  # the link has ended just now
        raise NoPictureError
    owner, until, password_hash = row
    # Messengers keep copies of the card. A link with a password has none: its password would not protect them.
    card = not password_hash and number == 1
    cover = values["cover"] if card else ""
    takes = may(who, "shared.add") and not album.filter and not service.settings.readonly
    return show_form(
        "shared",
        error,
        **values,
        card=card,
        card_picture=service.address_of(request, cover) if cover and service.settings.base_url else "",
        owner=owner or "",
        until="" if until is None else day(until),
        adding=url_for(".add_by_link", link_token=link_token) if takes else "",
        added=added,
        refused=refused,
    )


def _visitor(service: Service, link_token: str) -> Principal | None:
    """Return the visitor of the session in the link's cookie; None without a valid session."""
    secret = request.cookies.get(_cookie_name(service, link_token), "")
    if not ids.is_access_token(secret):
        return None
    try:
        with service.reading() as connection:
            who = tokens.verify(connection, secret, service.now())
    except InvalidTokenError:
        return None
    if who.kind != VISIT:  # somebody put a token of another kind into the cookie
        return None
    g.photosvc_principal = who
    if who.last_used_at is None:
        service.write_if_free(lambda session: count_visit(session, who, service.now()))
    return who


def _with_visit(service: Service, link_token: str, login: Login, answer: Response) -> Response:
    """Give the browser the cookie of a visit with this answer."""
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
