"""The quality of a photo: its rank among search results, review, and hidden photos.

The description of a photo computes it from all values (`quality_of`). An edit of flags, which changes none of these,
raises it to the least of edited photos (`quality_after_edit`). A photo of which no file can be shown is hidden.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import case, update
from sqlalchemy.orm import Session

from photosvc.core.vocabulary import ESTIMATE, PRIORITY
from photosvc.models import UNKNOWN_PLACE, Photo
from photosvc.models.statements import UNLOADED, among
from photosvc.search.rows.write import remove

#: The quality of photos that no search shows.
HIDDEN: Final = -1
#: Photos of a lower quality are in review.
REVIEW_BELOW: Final = 3
_NOT_PHOTOGRAPHIC: Final = frozenset({"screenshot", "screenshots", "info"})


def quality_of(photo: Photo, *, edited: bool) -> int:
    """Return the quality of a described photo that is shown; `edited` says that its file is an edited one.

    A favourite has 3. A date, a place, enough pixels for the time of the photo, and being a photograph give 1 each;
    estimated dates and places give none. Edited photos and those of another type than `image` are never in review.
    """
    guess = PRIORITY[ESTIMATE]
    score = 3 * bool(photo.favorite)
    score += PRIORITY.get(photo.taken_src, guess) > guess
    score += photo.cell_id not in {UNKNOWN_PLACE, None} and PRIORITY.get(photo.place_src, guess) > guess
    old = 0 < photo.year < 2008
    older = 0 < photo.year < 2012 and photo.resolution >= 1
    score += old or older or photo.resolution >= 2
    is_graphic = any(keyword.folded in _NOT_PHOTOGRAPHIC for keyword in photo.keywords)
    score += photo.type != "animated" and not is_graphic
    if photo.type != "image":
        return max(score, REVIEW_BELOW)
    return quality_after_edit(score) if edited or photo.edited_at is not None else score


def quality_after_edit(former: int) -> int:
    """Return the quality of a photo after an edit that changes nothing else it depends on."""
    return former if former == HIDDEN else max(former, REVIEW_BELOW)


def hide_photos(session: Session, photo_ids: Collection[int], now: datetime) -> None:
    """Hide photos without a file that can be shown, and remove them from the search."""
    updated_at = case((Photo.quality == HIDDEN, Photo.updated_at), else_=now)
    hidden = update(Photo).where(among(session, Photo.id, photo_ids))
    hidden = hidden.values(quality=HIDDEN, updated_at=updated_at, checked_at=now)
    session.execute(hidden, execution_options=UNLOADED)  # no object stands for these rows
    remove(session, photo_ids)
