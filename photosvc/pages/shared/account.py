"""The pages of albums that are shared with the signed-in account: their list, each album, and leaving one.

Every account sees them as a guest does. Contributors add pictures by a form and remove their own.
"""

from collections.abc import Sequence
from typing import Final

from flask import Response, g, request, url_for

from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.library.admission import ADDED, Admitted
from photosvc.library.shares import find_shared, leave_album, own_photos, shared_albums, take_out, user_id_of
from photosvc.pages.errors import show_form
from photosvc.pages.forms import page_number, read_form, whole_number
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.shared.pictures import (
    Way,
    download_of,
    download_of_some,
    only_album,
    picture_of,
    pictures_of,
    sequence_of,
)
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.search.reading.albums import KnownAlbums
from photosvc.search.reading.guests import narrowed
from photosvc.web.auditing import operating
from photosvc.web.contract import uses
from photosvc.web.protector import principal
from photosvc.web.responses import json_answer
from photosvc.web.searching import searching
from photosvc.web.service import current_service
from photosvc.web.uploads import contribute

_COVER: Final = "tile_500"
_MOST: Final = 100_000


@pages.get("/shared", endpoint="shared_albums")
@page("shared.list")
@uses("photos.preview")
def show_shared_albums() -> Response:
    """List the albums that are shared with the account."""
    service, who = current_service(), principal()
    with searching(who.owner_uid) as connection:
        every = shared_albums(connection, service.only(KnownAlbums), user_id_of(who), service.today())
        cards = [album for _, album in every]
    thumbnails = ThumbnailAddresses(who, {}, waits=True)
    covers = {card.uid: thumbnails.address(card.thumb, _COVER) for card in cards if card.thumb}
    return show("shared-albums", cards=cards, covers=covers, left=request.args.get("left") == "1")


@pages.get("/shared/<uid>", endpoint="shared_album")
@page("shared.list")
@uses("photos.preview")
def show_shared_album(uid: str) -> Response:
    """Show the pictures of an album that is shared with the account, a page at a time."""
    added = whole_number(request.args.get("added", ""), low=0, high=_MOST, default=0)
    return _show(uid, added=added, gone=request.args.get("gone") == "1")


@pages.get("/shared/<uid>/picture/<photo>", endpoint="shared_album_picture")
@page("shared.list")
@uses("photos.preview")
def show_shared_picture(uid: str, photo: str) -> Response:
    """Show one picture of an album that is shared with the account."""
    service, who = current_service(), principal()
    with service.reading() as connection:
        share = find_shared(connection, user_id_of(who), uid)
        own = share.contributes and photo in own_photos(connection, user_id_of(who), uid)
    values = picture_of(service, narrowed(who, uid), photo, _way(uid))
    return show("shared-picture", own=own, **values)


@pages.get("/shared/<uid>/photos/sequence", endpoint="shared_album_sequence")
@page("shared.list")
@uses("photos.preview")
def list_pictures(uid: str) -> Response:
    """List pictures of an album that is shared with the account, for the grid."""
    service, who = current_service(), principal()
    with service.reading() as connection:
        share = find_shared(connection, user_id_of(who), uid)
        own = own_photos(connection, user_id_of(who), uid) if share.contributes else ()
    return json_answer(sequence_of(service, narrowed(who, uid), own))


def _confined(uid: str) -> Principal:
    """Return the account's rights within an album that is shared with it.

    Raises:
        NotFoundError: there is none.
    """
    who = principal()
    with current_service().reading() as connection:
        find_shared(connection, user_id_of(who), uid)
    return narrowed(who, uid)


@pages.get("/shared/<uid>/original/<content_hash>", endpoint="shared_album_original")
@page("shared.list")
@uses("photos.download")
def download_one(uid: str, content_hash: str) -> Response:
    """Lead to an original of an album that is shared with the account, with a fresh token that opens it."""
    service, confined = current_service(), _confined(uid)
    return see_other(download_of(service, confined, "photosvc.downloads.download_file", content_hash=content_hash))


@pages.get("/shared/<uid>/pictures.zip", endpoint="shared_album_zip")
@page("shared.list")
@uses("photos.download")
def download_shared_album(uid: str) -> Response:
    """Lead to the archive of an album that is shared with the account, with a fresh token that opens it."""
    target = download_of(current_service(), _confined(uid), "photosvc.downloads.download_album", album_uid=uid)
    return see_other(target or url_for(".shared_album", uid=uid))


@pages.post("/shared/<uid>/pictures.zip", endpoint="shared_album_zip_of_some")
@page("shared.list")
@uses("photos.download")
def download_some(uid: str) -> Response:
    """Lead to the archive of the pictures of the album that the form names."""
    g.photosvc_principal = confined = _confined(uid)  # the archive has pictures of this album alone
    return see_other(download_of_some(current_service(), confined) or url_for(".shared_album", uid=uid))


@pages.post("/shared/<uid>/leave", endpoint="leave_shared_album")
@page("shared.leave")
def leave(uid: str) -> Response:
    """Leave an album that is shared with the account."""
    with operating() as operation:
        leave_album(operation, user_id_of(principal()), uid)
    return see_other(url_for(".shared_albums", left="1"))


@pages.post("/shared/<uid>/pictures", endpoint="add_shared_pictures")
@page("shared.add")
def add_pictures(uid: str) -> Response:
    """Add the pictures of the form to an album that is shared with the account."""
    try:
        outcomes = contribute(uid)
    except NotFoundError:
        raise
    except PhotosvcError as error:
        return _show(uid, error=error)
    refused = [outcome for outcome in outcomes if outcome.status != ADDED]
    if refused:
        return _show(uid, added=len(outcomes) - len(refused), refused=refused)
    return see_other(url_for(".shared_album", uid=uid, added=len(outcomes)))


@pages.post("/shared/<uid>/picture/<photo>/take-out", endpoint="take_out_shared_picture")
@page("shared.remove")
def take_out_picture(uid: str, photo: str) -> Response:
    """Take a picture that the account uploaded out of a shared album."""
    read_form()
    service, user_id = current_service(), user_id_of(principal())
    with service.writing(library=True) as session:
        take_out(session, user_id, uid, [photo], service.now())
    return see_other(url_for(".shared_album", uid=uid, gone="1"))


def _show(
    uid: str,
    *,
    added: int = 0,
    gone: bool = False,
    refused: Sequence[Admitted] = (),
    error: PhotosvcError | None = None,
) -> Response:
    service, who = current_service(), principal()
    confined = narrowed(who, uid)
    with searching(who.owner_uid, "uid") as connection:
        share = find_shared(connection, user_id_of(who), uid)
        album = only_album(service, connection, confined)
        own = own_photos(connection, user_id_of(who), uid) if share.contributes else ()
        values = pictures_of(service, connection, confined, album, _way(uid), page_number(), own)
    return show_form(
        "shared-album",
        error,
        **values,
        share=share,
        adds=share.contributes and not service.settings.readonly,
        added=added,
        gone=gone,
        refused=refused,
        owner=share.shared_by,
        until="",
        card=False,
    )


def _way(uid: str) -> Way:
    return Way(
        page=lambda page="": url_for(".shared_album", uid=uid, page=page or None),
        picture=lambda photo: url_for(".shared_album_picture", uid=uid, photo=photo),
        zip=url_for(".shared_album_zip", uid=uid),
        original=lambda content_hash: url_for(".shared_album_original", uid=uid, content_hash=content_hash),
    )
