"""The address of a photo, which leads to the viewer over the grid of a search."""

from contextlib import suppress

from flask import Response, request

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, show_kept
from photosvc.pages.tiles import DEFAULT_ORDER, Asked, read_asked
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.files import files_of_photo
from photosvc.search.reading.pages import neighbours
from photosvc.search.reading.request import parse_request
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching


@pages.get("/photos/<uid>", endpoint="photo")
@page("photos.view")
def show_photo(uid: str) -> Response:
    """Lead to a photo in the search that `q`, `s` and `order` name; to it alone if they do not find it."""
    who = principal()
    with current_service().reading() as connection:
        seen = files_of_photo(connection, uid, sees_private=who.sees_private) if is_uid(uid, PHOTO) else ()
    if not seen:
        raise NotFoundError(N_("This photo does not exist, or you have no permission to see it."))
    alone = (Asked(f"uid:{uid}{more}", DEFAULT_ORDER, "") for more in (" archived:true", " hidden:true"))
    searches = (read_asked(request.args), *alone)
    found = (search for search in searches if _finds(search, seen[0].photo_id))
    return show_kept("photo", uid=uid, grid=next(found, Asked(f"uid:{uid}", DEFAULT_ORDER, "")).link())


def _finds(search: Asked, photo_id: int) -> bool:
    """Return whether a search finds a photo; False if the search is not valid or takes too long."""
    who = principal()
    with suppress(InvalidValueError, NotFoundError, SearchEndedError):
        asked = parse_request(search.pairs(), current_service().today())
        with searching(who.owner_uid) as connection:
            return neighbours(connection, asked, photo_id, sees_private=who.sees_private) is not None
    return False
