"""Pictures that look like others, by the Hamming distance of their perceptual hashes (`media.pixels.look`)."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from photosvc.models import File, SearchRow
from photosvc.search.reading.conditions.visible import visible

#: Bits that may differ from the photo a search names: resized, recompressed and slightly cropped copies.
SIMILAR: Final = 10
#: The most similar photos that a search gives.
_MOST_SIMILAR: Final = 1000
_PART_BITS: Final = 16
PARTS: Final = (File.look_1, File.look_2, File.look_3, File.look_4)


def similar_photos(connection: Connection, uid: str, *, sees_private: bool) -> list[int] | None:
    """Ids of the photos that look like this one, itself included, the most similar first; None without such a photo.

    A photo without contrast is similar to none.
    """
    shown = select(SearchRow.photo_id).where(SearchRow.photo_uid == uid, visible(sees_private=sees_private))
    photo_id = connection.scalar(shown.limit(1))
    if photo_id is None:
        return None
    looks = connection.execute(select(*PARTS).where(File.photo_id == photo_id, shows())).all()
    distances: dict[int, int] = {}
    for parts in looks:
        look = number(parts)
        query = select(File.photo_id, *PARTS).where(shows(), _near(tuple(parts), SIMILAR // len(PARTS)))
        for other, *others in connection.execute(query):
            distance = (look ^ number(others)).bit_count()
            if distance <= min(SIMILAR, distances.get(other, SIMILAR)):
                distances[other] = distance
    return sorted(distances, key=lambda other: (distances[other], other))[:_MOST_SIMILAR]


def shows() -> ColumnElement[bool]:
    """Files that show their photo and have a hash."""
    return and_(File.primary, File.missing.is_(False), File.look_1 >= 0)


def _near(parts: Sequence[int], bits: int) -> ColumnElement[bool]:
    """Whether one of the parts differs in at most so many bits."""
    masks = [
        sum(1 << position for position in flipped)
        for count in range(bits + 1)
        for flipped in combinations(range(_PART_BITS), count)
    ]
    return or_(*(column.in_([part ^ mask for mask in masks]) for column, part in zip(PARTS, parts, strict=True)))


def number(parts: Iterable[Any]) -> int:
    """The 64 bits of a hash from its parts."""
    whole = 0
    for part in parts:
        whole = whole << _PART_BITS | part
    return whole
