"""The quality score of a photo, 0 to 7; photos with a low score are in review."""

from dataclasses import dataclass

from photosvc.core.sources import ESTIMATE, PRIORITY

_NOT_PHOTOGRAPHIC = frozenset({"screenshot", "screenshots", "info"})
#: Photos with a lower score are in review.
_REVIEW_BELOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The values that the score depends on."""

    favorite: bool
    edited: bool
    type: str
    taken_src: str
    place_src: str
    has_place: bool
    year: int
    resolution: int
    """Megapixels."""
    keywords: frozenset[str]


def quality(photo: Scored) -> int:
    """The score of a photo.

    3 for a favourite; 1 each for a date from more than an estimate, a place likewise, enough pixels for its time, and
    being a photograph. Edited photos and those of another type than `image` are never in review.
    """
    guess = PRIORITY[ESTIMATE]
    score = 3 * photo.favorite
    score += PRIORITY.get(photo.taken_src, guess) > guess
    score += photo.has_place and PRIORITY.get(photo.place_src, guess) > guess
    old = 0 < photo.year < 2008
    older = 0 < photo.year < 2012 and photo.resolution >= 1
    score += old or older or photo.resolution >= 2
    score += photo.type != "animated" and not photo.keywords & _NOT_PHOTOGRAPHIC
    if photo.edited or photo.type != "image":
        score = max(score, _REVIEW_BELOW)
    return score
