"""Library > Trash: the photos that the account deleted, as a grid, to restore or to delete for good."""

from flask import Response, url_for

from photosvc.auth.link_tokens import preview_token
from photosvc.auth.policy import may
from photosvc.library.journal import Author
from photosvc.library.trash.own import deleted_photos
from photosvc.pages.grid import grid_data
from photosvc.pages.layout import page, pages, show_cacheable
from photosvc.pages.photos import IN_ORDER
from photosvc.pages.search_state import SearchState
from photosvc.search.reading.library import version_of
from photosvc.web.protector import principal
from photosvc.web.service import current_service


@pages.get("/trash", endpoint="own_trash")
@page("trash.view")
def show_trash() -> Response:
    """Show the photos that the account deleted, the last deletion first; its scripts read them."""
    service, who = current_service(), principal()
    settings = service.settings
    with service.reading() as connection:
        total = len(deleted_photos(connection, Author.of(who).uid))
        version = version_of(connection, sees_private=who.sees_private)
    rights = {"restore": "trash.restore", "purge": "trash.delete"}
    token = preview_token(settings, who)
    data = {
        **grid_data(who, SearchState("", "", "")),
        "may": " ".join(name for name, action in rights.items() if may(who, action) and not settings.readonly),
        "thumbs": url_for(
            "photosvc.thumbnails.trashed_thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=1
        ),
        "photo": url_for(".own_trash") + "#photo=UID",
        "sequence": "/trash/photos",
        "trash": "1",
        "version": version,
    }
    first = {"version": version, "total": total, "ratio": [], "color": "", "type": "", "photos": []}
    return show_cacheable(
        "trash",
        data=data,
        first=first if total else None,
        total=total,
        days=0 if settings.readonly else settings.trash_days,
        scripts=IN_ORDER,
    )
