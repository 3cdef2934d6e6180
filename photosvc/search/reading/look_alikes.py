"""Photos that look alike, by the Hamming distance of their perceptual hashes (`media.looks`)."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from photosvc.models import File, SearchRow
from photosvc.search.limits import each_of
from photosvc.search.reading.columns import identified
from photosvc.search.reading.compile import visible

#: Bits that may differ from the photo a search names, as in resized, recompressed and slightly cropped copies.
SIMILAR: Final = 10
#: The most similar photos that a search gives.
_MOST_SIMILAR: Final = 1000
#: Similar photos that are kept while others are compared.
_MOST_KEPT: Final = 20 * _MOST_SIMILAR
_PART_BITS: Final = 16
#: Rows that are read at once.
_CHUNK: Final = 1000
PARTS: Final = (File.look_1, File.look_2, File.look_3, File.look_4)
#: Masks of the bits in which the nearest part of a similar hash may differ.
_MASKS: Final = [
    sum(1 << position for position in flipped)
    for count in range(SIMILAR // len(PARTS) + 1)
    for flipped in combinations(range(_PART_BITS), count)
]


def similar_photos(connection: Connection, uid: str, *, sees_private: bool) -> list[int] | None:
    """Return the ids of the photos that look like this one, the most similar first; None without such a photo.

    The photo itself is included. A photo without contrast is similar to none.
    """
    shown = select(SearchRow.photo_id).where(identified("photo_uid", [uid]), visible(sees_private=sees_private))
    photo_id = connection.scalar(shown.limit(1))
    if photo_id is None:
        return None
    distances: dict[int, int] = {}
    for parts in connection.execute(select(*PARTS).where(File.photo_id == photo_id, shows())).all():
        look = number(parts)
        query = select(File.photo_id, *PARTS).where(shows(), _near(parts))
        rows = connection.execute(query, execution_options={"yield_per": _CHUNK})
        for other, *others in each_of(connection, rows):
            distance = (look ^ number(others)).bit_count()
            if distance <= min(SIMILAR, distances.get(other, SIMILAR)):
                distances[other] = distance
                if len(distances) > _MOST_KEPT:  # of a million copies, too
                    distances = {near: distances[near] for near in _nearest(distances)}
    return _nearest(distances)


def _nearest(distances: dict[int, int]) -> list[int]:
    """Return the ids of the most similar photos."""
    return sorted(distances, key=lambda other: (distances[other], other))[:_MOST_SIMILAR]


def shows() -> ColumnElement[bool]:
    """Return the condition for files that show their photo and have a hash."""
    return and_(File.primary, File.missing.is_(False), File.look_1 >= 0)


def _near(parts: Iterable[int]) -> ColumnElement[bool]:
    """Return a condition that all hashes fulfil that differ from this one in at most `SIMILAR` bits."""
    return or_(*(column.in_(sorted(part ^ mask for mask in _MASKS)) for column, part in zip(PARTS, parts, strict=True)))


def number(parts: Iterable[Any]) -> int:
    """Return the 64 bits of a hash from its parts."""
    whole = 0
    for part in parts:
        whole = whole << _PART_BITS | part
    return whole
