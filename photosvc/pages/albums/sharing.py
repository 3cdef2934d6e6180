"""The page on which an album is shared: its public links with their visits, and the accounts that see it."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response, request, url_for

from photosvc.core.accounts import CONTRIBUTOR, SHARE_ROLES
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.library.albums import album_of_people
from photosvc.library.links import (
    add_link,
    address_of,
    change_link,
    end_link,
    find_link,
    list_links,
    new_password_hash,
    path_of,
)
from photosvc.library.shares import change_share, end_share, find_share, list_shares, share_album
from photosvc.models import AlbumShare, Link
from photosvc.pages import wording
from photosvc.pages.albums.listing import read_own_album
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form, read_number
from photosvc.pages.language import N_, _, grouped
from photosvc.pages.layout import form_page, page, pages, see_other
from photosvc.records.albums import LinkEditSchema
from photosvc.records.limits import LINK_VISITS
from photosvc.web.auditing import operating
from photosvc.web.contract import load_values
from photosvc.web.protector import principal
from photosvc.web.service import current_service

_DAY: Final = 86_400
_schema: Final = LinkEditSchema()
#: The lifetimes that the form offers, in seconds.
_LIFETIMES: Final = (
    (7 * _DAY, N_("In 7 days")),
    (30 * _DAY, N_("In 30 days")),
    (365 * _DAY, N_("In a year")),
    (0, N_("Never")),
)
_SHOWS: Final = (
    ("pictures", N_("The pictures"), N_("Without places, cameras, people, titles and names of files.")),
    ("metadata", N_("Pictures and their details"), N_("Places, cameras, people, titles and names of files too.")),
    ("downloads", N_("Details and downloads"), N_("Visitors may also download the originals.")),
)
_USUAL: Final = {"lifetime": str(30 * _DAY), "shows": "pictures"}
_DONE: Final = {
    "changed": N_("Link saved."),
    "ended": N_("The link has ended. It opens nothing any more."),
    "shared": N_("The album is shared with the account."),
    "role": N_("Saved."),
    "removed": N_("The album is not shared with the account any more."),
}


@pages.post("/albums/<uid>/links", endpoint="make_link")
@page("links.make")
def make_link(uid: str) -> Response:
    """Make a public link, and show its address, once."""
    form = read_form()
    try:
        values = _values(form)
        password_hash = new_password_hash(values)
        with operating() as operation:
            album = album_of_people(operation.session, uid, sees_private=principal().sees_private)
            made = add_link(operation, album, values, password_hash, current_service().settings)
            path = path_of(made)
    except (InvalidValueError, ConflictError) as error:
        return _show(uid, error=error, values=form)
    return _show(uid, made=_new(path))


@pages.post("/albums/<uid>/links/<link>/change", endpoint="change_link")
@page("links.make")
def change_album_link(uid: str, link: str) -> Response:
    """Give a public link another end, counted from now, or another password, or let it take pictures or not."""
    form = read_form()
    fields: dict[str, Any] = {}
    try:
        if form.get("lifetime"):
            fields["Expires"] = read_number(form, "lifetime")
        if form.get("password") or form.get("without") == "yes":
            fields["Password"] = "" if form.get("without") == "yes" else form["password"]
        if form.get("uploads"):
            fields["CanUpload"] = form["uploads"] == "yes"
        values = load_values(_schema, fields)
        password_hash = new_password_hash(values)
        with operating() as operation:
            album_of_people(operation.session, uid, sees_private=principal().sees_private)
            change_link(operation, find_link(operation.session, link, uid), values, password_hash)
    except (InvalidValueError, ConflictError) as error:
        return _show(uid, error=error)
    return see_other(url_for(".album_links", uid=uid, done="changed"))


@pages.post("/albums/<uid>/links/<link>/end", endpoint="end_link")
@page("links.make")
def end_album_link(uid: str, link: str) -> Response:
    """End a public link."""
    with operating() as operation:
        album_of_people(operation.session, uid, sees_private=principal().sees_private)
        end_link(operation, find_link(operation.session, link, uid))
    return see_other(url_for(".album_links", uid=uid, done="ended"))


@pages.post("/albums/<uid>/accounts", endpoint="share_album")
@page("links.make")
def share_with_account(uid: str) -> Response:
    """Share an album with an account."""
    form = read_form()
    contributes = form.get("role") == CONTRIBUTOR
    try:
        with operating() as operation:
            album = album_of_people(operation.session, uid, sees_private=principal().sees_private)
            share_album(operation, album, form.get("account", "").strip(), contributes=contributes)
    except (NotFoundError, InvalidValueError, ConflictError) as error:
        return _show(uid, error=error, account=form.get("account", ""))
    return see_other(url_for(".album_links", uid=uid, done="shared"))


@pages.post("/albums/<uid>/accounts/<account>/change", endpoint="change_share")
@page("links.make")
def change_account(uid: str, account: str) -> Response:
    """Change the role of an account in a shared album."""
    contributes = read_form().get("role") == CONTRIBUTOR
    try:
        with operating() as operation:
            album = album_of_people(operation.session, uid, sees_private=principal().sees_private)
            change_share(operation, album, find_share(operation.session, uid, account), contributes=contributes)
    except ConflictError as error:
        return _show(uid, error=error)
    return see_other(url_for(".album_links", uid=uid, done="role"))


@pages.post("/albums/<uid>/accounts/<account>/remove", endpoint="end_share")
@page("links.make")
def remove_account(uid: str, account: str) -> Response:
    """Share an album with an account no longer."""
    with operating() as operation:
        album_of_people(operation.session, uid, sees_private=principal().sees_private)
        end_share(operation, find_share(operation.session, uid, account))
    return see_other(url_for(".album_links", uid=uid, done="removed"))


def _values(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the form for a new link, as the API loads them."""
    shows = form.get("shows", "")
    fields = {
        "Expires": read_number(dict(form), "lifetime"),
        "MaxViews": _limit(form),
        "Password": form.get("password", ""),
        "Comment": form.get("comment", ""),
        "ShowMetadata": shows in {"metadata", "downloads"},
        "CanDownload": shows == "downloads",
        "CanUpload": form.get("uploads") == "yes",
    }
    return load_values(_schema, fields)


def _limit(form: Mapping[str, str]) -> int:
    limit = read_number(dict(form), "visits", empty=0)
    if not 0 <= limit <= LINK_VISITS:
        msg = _("visits: a number up to %(most)s, or nothing", most=grouped(LINK_VISITS))
        raise InvalidValueError(msg, field="visits")
    return limit


def _new(path: str) -> dict[str, str]:
    """Return address and QR code of a new link, which are shown once."""
    import segno

    # Without a public address it is a path: the host that a request names is not trusted.
    address = current_service().address_of(request, path)
    is_path = address.startswith("/")
    qr = "" if is_path else segno.make(address, error="m", micro=False).svg_inline(scale=3, border=2)
    return {"address": address, "qr": qr}


@form_page("/albums/<uid>/links", "album_links", page("links.list"))
def _show(
    uid: str,
    *,
    made: dict[str, str] | None = None,
    error: PhotosvcError | None = None,
    values: Mapping[str, str] = _USUAL,
    account: str = "",
) -> Response:
    """Show the public links of an album, with the form for a new one."""
    service = current_service()
    album = read_own_album(uid)
    with service.reading(orm=True) as session:
        links: list[Link] = list(list_links(session, uid))
        shares: list[AlbumShare] = list(list_shares(session, uid))
        session.expunge_all()
    service.follow_key(seldom=True)
    paths = {link.uid: address_of(service.settings, link) for link in links}
    return show_form(
        "links",
        error,
        done_texts=_DONE,
        shown=album,
        links=links,
        addresses={uid: service.address_of(request, path) for uid, path in paths.items() if path},
        shares=shares,
        account=account,
        roles=SHARE_ROLES,
        made=made,
        values=values,
        lifetimes=_LIFETIMES,
        shows=_SHOWS,
        now=service.now(),
        wording=wording,
    )
