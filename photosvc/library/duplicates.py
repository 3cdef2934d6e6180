"""Groups of photos that look alike: copies in other sizes, formats and qualities."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from photosvc.models import DistinctPhoto, File, SearchRow
from photosvc.search.reading.compile import visible
from photosvc.search.reading.lookups import PARTS, number, shows

#: Bits in which copies differ at most. Of a million hashes by chance, two pairs differ in so few bits.
MOST_BITS: Final = 6
#: Of eight bytes of two hashes, at least two are equal when at most six bits differ.
_BYTE_PAIRS: Final = tuple(combinations(range(0, 64, 8), 2))
#: Different hashes with two equal bytes that one is compared with; more occur only in files made on purpose.
_MOST_COMPARED: Final = 2000
_READ_AT_ONCE: Final = 500
_NONE: Final = frozenset[int]()


@dataclass(frozen=True, slots=True)
class Copy:
    """A photo of a group."""

    photo_id: int
    uid: str
    name: str
    """Path of the file that shows it."""
    width: int
    height: int
    size: int
    """Bytes."""
    distance: int
    """Bits in which its hash differs from that of the first of the group."""


def find_duplicates(connection: Connection, distance: int = MOST_BITS) -> list[list[Copy]]:
    """Return groups of listed photos, the best of each first: by pixels, then bytes, then their place in the library.

    A photo is in the group of the best photo from which it differs in at most `distance` bits, unless a person said
    that these two are not the same. Memory: about 70 bytes for each photo of the library.

    Args:
        connection: for reading.
        distance: bits, 0 to 6.

    """
    looks, ids = _looks(connection)
    neighbours: dict[int, set[int]] = {}
    same: dict[int, list[int]] = {}
    for first, last in _runs(looks):
        if last - first > 1:
            same[looks[first]] = list(ids[first:last])
    distinct = array("Q", (looks[first] for first, _ in _runs(looks)))
    for one, other in _pairs(distinct, distance):
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    wanted = neighbours.keys() | same.keys()
    photos = {look: [photo] for look, photo in zip(looks, ids, strict=True) if look in wanted} | same
    return _grouped(connection, photos, neighbours)


def _looks(connection: Connection) -> tuple["array[int]", "array[int]"]:
    """Return the hashes of all listed photos, sorted, and the ids of the files that show them."""
    query = select(File.id, *PARTS).join(SearchRow, SearchRow.file_id == File.id)
    # For this statement alone: the connection may be used for others, which PostgreSQL cannot stream.
    found = connection.execute(
        query.where(shows(), visible(sees_private=True)), execution_options={"yield_per": 10_000}
    )
    looks, ids = array("Q"), array("q")
    for file_id, *parts in found:
        looks.append(number(parts))
        ids.append(file_id)
    order = sorted(range(len(looks)), key=lambda at: (looks[at], ids[at]))
    return array("Q", (looks[at] for at in order)), array("q", (ids[at] for at in order))


def _runs(values: "array[int]") -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of equal values."""
    first = 0
    for at in range(1, len(values) + 1):
        if at == len(values) or values[at] != values[first]:
            yield first, at
            first = at


def _pairs(looks: "array[int]", distance: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of hashes that differ in 1 to `distance` bits; a pair may come more than once."""
    for high, low in _BYTE_PAIRS:
        buckets: defaultdict[int, list[int]] = defaultdict(list)
        for look in looks:
            buckets[(look >> high & 0xFF) << 8 | look >> low & 0xFF].append(look)
        for bucket in buckets.values():
            for at, one in enumerate(bucket, 1):
                for other in bucket[at : at + _MOST_COMPARED]:
                    if (one ^ other).bit_count() <= distance:
                        yield one, other


def _grouped(connection: Connection, files: dict[int, list[int]], neighbours: dict[int, set[int]]) -> list[list[Copy]]:
    """Return the files as groups around the best of them, each from the best to the worst."""
    look_of = {file_id: look for look, ids in files.items() for file_id in ids}
    read, apart = _read(connection, list(look_of)), sets_of_photos(connection)
    free = {look: dict.fromkeys(ids) for look, ids in files.items()}
    groups = []
    ranked = sorted(read, key=lambda one: (-read[one].width * read[one].height, -read[one].size, one))
    rank = {file_id: at for at, file_id in enumerate(ranked)}
    for best in ranked:
        look = look_of[best]
        if best not in free[look]:
            continue
        members = [
            (file_id, (look ^ near).bit_count())
            for near in (look, *sorted(neighbours.get(look, ())))
            for file_id in free[near]
            if file_id != best and file_id in read and not _are_apart(apart, read[best], read[file_id])
        ]
        members.sort(key=lambda member: rank[member[0]])
        for file_id in (best, *(file_id for file_id, _ in members)):
            free[look_of[file_id]].pop(file_id)
        if members:
            groups.append([_copy(read[best], 0), *(_copy(read[file_id], bits) for file_id, bits in members)])
    return groups


def _read(connection: Connection, ids: list[int]) -> Mapping[int, Any]:
    """Return the values of these files that groups show."""
    query = select(File.id, SearchRow.photo_id, SearchRow.photo_uid, File.name, File.width, File.height, File.size)
    query = query.join(SearchRow, SearchRow.file_id == File.id)
    read: dict[int, Any] = {}
    for start in range(0, len(ids), _READ_AT_ONCE):
        for row in connection.execute(query.where(File.id.in_(ids[start : start + _READ_AT_ONCE]))):
            read[row.id] = row
    return read


def sets_of_photos(connection: Connection) -> Mapping[int, AbstractSet[int]]:
    """Return the sets of photos that people said are not the same, by the ids of their photos."""
    found: dict[int, set[int]] = {}
    for photo_id, number_of_set in connection.execute(select(DistinctPhoto.photo_id, DistinctPhoto.number)):
        found.setdefault(photo_id, set()).add(number_of_set)
    return found


def _are_apart(apart: Mapping[int, AbstractSet[int]], one: Row[Any], other: Row[Any]) -> bool:
    return not apart.get(one.photo_id, _NONE).isdisjoint(apart.get(other.photo_id, _NONE))


def _copy(row: Row[Any], distance: int) -> Copy:
    return Copy(row.photo_id, row.photo_uid, row.name, row.width, row.height, row.size, distance)
