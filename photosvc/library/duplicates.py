"""Groups of photos that look alike: copies in other sizes, formats and qualities, turned, cropped or straightened."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from photosvc.media.looks import Versions, turned
from photosvc.models import DistinctPhoto, File, SearchRow
from photosvc.search.reading.compile import visible
from photosvc.search.reading.lookups import PARTS, number, shows

#: Bits in which copies differ at most. Of a million hashes by chance, two pairs differ in so few bits.
MOST_BITS: Final = 6
#: Bits in which a cropped or straightened version of a picture and a copy differ at most, and a turned one.
MOST_VERSION_BITS, MOST_TURNED_BITS = 4, 2
#: First bit and length of one or two parts of a hash that are compared as a whole. Of hashes that differ in at most two
#: bits, one of three parts is equal; of those that differ in at most four, two of six.
_ONE_OF_THREE: Final = ((0, 21, 0, 0), (21, 21, 0, 0), (42, 22, 0, 0))
_SIXTHS: Final = ((0, 11), (11, 11), (22, 11), (33, 11), (44, 10), (54, 10))
_TWO_OF_SIX: Final = tuple((*one, *other) for one, other in combinations(_SIXTHS, 2))
#: Of eight bytes of two hashes, at least two are equal when at most six bits differ.
_BYTE_PAIRS: Final = tuple(combinations(range(0, 64, 8), 2))
#: Different hashes with two equal bytes that one is compared with; more occur only in files made on purpose.
_MOST_COMPARED: Final = 2000
_READ_AT_ONCE: Final = 500
_NONE: Final = frozenset[int]()
_Neighbours = dict[int, dict[int, int]]
"""Hash -> hash of a picture that looks alike -> distance."""
_NO_NEIGHBOURS: Final = dict[int, int]()


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
    """Bits in which its hash, or that of a version, differs from that of the first of the group."""


def find_duplicates(connection: Connection, distance: int = MOST_BITS) -> list[list[Copy]]:
    """Return groups of listed photos, the best of each first: by pixels, then bytes, then their place in the library.

    A photo is in the group of the best photo from which it differs in at most `distance` bits, unless a person said
    that these two are not the same. Photos of which one looks like a turned, cropped or straightened version of the
    other differ in as many bits as that version does, at most 4. Memory: about 300 bytes for each photo of the library.

    Args:
        distance: bits, 0 to 6.
    """
    looks, ids, versions = _looks(connection)
    neighbours: _Neighbours = {}
    same: dict[int, list[int]] = {}
    for first, last in _runs(looks):
        if last - first > 1:
            same[looks[first]] = list(ids[first:last])
    distinct = array("Q", (looks[first] for first, _ in _runs(looks)))
    for one, other in _pairs(distinct, distance):
        _note(neighbours, one, other, (one ^ other).bit_count())
    for first, second, bits in versions.pairs(distance):
        _note(neighbours, looks[first], looks[second], bits)
    wanted = neighbours.keys() | same.keys()
    photos = {look: [photo] for look, photo in zip(looks, ids, strict=True) if look in wanted} | same
    return _grouped(connection, photos, neighbours)


def _note(neighbours: _Neighbours, one: int, other: int, bits: int) -> None:
    for first, second in ((one, other), (other, one)) if one != other else ():
        found = neighbours.setdefault(first, {})
        found[second] = min(bits, found.get(second, bits))


class _Versions:
    """The hashes of versions of pictures, by the places of these pictures in the order of their hashes."""

    def __init__(self, looks: "array[int]", texts: Sequence[str]) -> None:
        self._looks = looks
        self._turnable, self._turnable_of = array("Q"), array("q")
        self._changed, self._changed_of = array("Q"), array("q")
        for place, text in enumerate(texts):
            if versions := Versions.load(text):
                self._turnable.append(versions.turnable)
                self._turnable_of.append(place)
                self._changed.extend(versions.changed)
                self._changed_of.extend([place] * len(versions.changed))

    def pairs(self, distance: int) -> Iterator[tuple[int, int, int]]:
        """Yield the places of two pictures of which one looks like a version of the other, with their distance."""
        for at, place, bits in _near(self._looks, self._changed, min(distance, MOST_VERSION_BITS)):
            yield self._changed_of[at], place, bits
        for part in range(7):
            probes = array("Q", (turned(one)[part] for one in self._turnable))
            for at, place, bits in _near(self._turnable, probes, min(distance, MOST_TURNED_BITS)):
                yield self._turnable_of[at], self._turnable_of[place], bits


def _near(looks: "array[int]", probes: "array[int]", distance: int) -> Iterator[tuple[int, int, int]]:
    """Yield the places of a probe and of a hash that differs from it in at most `distance` bits, 0 to 4."""
    for low, bits, low_too, bits_too in _ONE_OF_THREE if distance <= 2 else _TWO_OF_SIX:
        mask, mask_too = (1 << bits) - 1, (1 << bits_too) - 1
        heads, following = array("i", [-1]) * (1 << bits + bits_too), array("i", [-1]) * len(looks)
        for place, look in enumerate(looks):
            key = (look >> low & mask) << bits_too | look >> low_too & mask_too
            following[place], heads[key] = heads[key], place
        for at, probe in enumerate(probes):
            place, left = heads[(probe >> low & mask) << bits_too | probe >> low_too & mask_too], _MOST_COMPARED
            while place >= 0 and left:
                found = (looks[place] ^ probe).bit_count()
                if found <= distance:
                    yield at, place, found
                place, left = following[place], left - 1


def _looks(connection: Connection) -> tuple["array[int]", "array[int]", _Versions]:
    """Return the hashes of all listed photos, sorted, the ids of the files that show them, and their versions."""
    query = select(File.id, File.look_versions, *PARTS).join(SearchRow, SearchRow.file_id == File.id)
    # For this statement alone: the connection may be used for others, which PostgreSQL cannot stream.
    found = connection.execute(
        query.where(shows(), visible(sees_private=True)), execution_options={"yield_per": 10_000}
    )
    looks, ids, texts = array("Q"), array("q"), []
    for file_id, text, *parts in found:
        looks.append(number(parts))
        ids.append(file_id)
        texts.append(text)
    order = sorted(range(len(looks)), key=lambda at: (looks[at], ids[at]))
    in_order = array("Q", (looks[at] for at in order))
    return in_order, array("q", (ids[at] for at in order)), _Versions(in_order, [texts[at] for at in order])


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


def _grouped(connection: Connection, files: dict[int, list[int]], neighbours: _Neighbours) -> list[list[Copy]]:
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
            (file_id, bits)
            for near, bits in ((look, 0), *sorted(neighbours.get(look, _NO_NEIGHBOURS).items()))
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
