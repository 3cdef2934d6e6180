"""TIFF directories, the structure of Exif, read within limits (TIFF 6.0 section 2, Exif 2.32 section 4.6).

The reader is our own because the input is hostile and this is the hot path of indexing: every count, offset and total
is capped before a byte is read, and a MakerNote is not unpacked number by number.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from photosvc.media.slices import read_at

#: Bytes for text and opaque data, numbers, or (numerator, denominator) pairs.
Value = bytes | tuple[int | float, ...] | tuple[tuple[int, int], ...]
MAX_ENTRIES: Final = 512
MAX_VALUE: Final = 1 << 16
MAX_PACKET: Final = 1 << 24
MAX_TOTAL: Final = 1 << 25
_PACKETS: Final = frozenset((0x02BC, 0x83BB, 0x8649))  # XMP, IPTC and Photoshop blocks may be longer
# Field type → struct letter, bytes of a value, numbers of a value; `s` is opaque.
_TYPES: Final = {
    **dict.fromkeys((1, 2, 6, 7), ("s", 1, 1)),
    3: ("H", 2, 1),
    4: ("I", 4, 1),
    5: ("I", 8, 2),
    8: ("h", 2, 1),
    9: ("i", 4, 1),
    10: ("i", 8, 2),
    11: ("f", 4, 1),
    12: ("d", 8, 1),
    13: ("I", 4, 1),
    16: ("Q", 8, 1),
    17: ("q", 8, 1),
    18: ("Q", 8, 1),
}
# RW2 (0x55) and ORF (the last two) are TIFF except for this number.
_VERSIONS: Final = frozenset((0x2A, 0x55, 0x4F52, 0x5352))
_BIG: Final = 0x2B


@dataclass(frozen=True, slots=True)
class Directory:
    """One image file directory: tag number → value, and the offset of the value."""

    values: Mapping[int, Value] = field(default_factory=dict)
    offsets: Mapping[int, int] = field(default_factory=dict)
    following: int = 0
    """Offset of the next directory, 0 for none."""

    def completed(self, main: "Directory") -> "Directory":
        """Return both directories as one: TIFF/EP and some programs write Exif tags into the main one."""
        return Directory({**main.values, **self.values}, {**main.offsets, **self.offsets}, self.following)

    def data(self, tag: int) -> bytes:
        """Return text or opaque bytes; empty when the tag is absent or holds numbers."""
        value = self.values.get(tag)
        return value if isinstance(value, bytes) else b""

    def numbers(self, tag: int) -> tuple[float | None, ...]:
        """Return finite numbers, with None for a fraction with a zero denominator and for a NaN or infinite float."""
        value = self.values.get(tag, ())
        if isinstance(value, bytes):
            return ()
        return tuple(_finite(item) for item in value)

    def number(self, tag: int) -> float | None:
        """Return the first number; None when there is none."""
        return next(iter(self.numbers(tag)), None)

    def integer(self, tag: int) -> int:
        """Return the first number truncated to an integer; 0 when there is none."""
        return int(self.number(tag) or 0)

    def fraction(self, tag: int) -> tuple[int, int] | None:
        """Return numerator and denominator of the first fraction; None when there is none."""
        value = self.values.get(tag)
        first = value[0] if value else None
        return first if isinstance(first, tuple) else None


@dataclass(slots=True)
class TiffReader:
    """The directories of one TIFF structure within a seekable file."""

    source: BinaryIO
    base: int
    """Offset of the structure in the file; its own offsets count from there."""
    order: str
    """`<` little or `>` big endian."""
    big: bool = False
    """True for a BigTIFF, with counts and offsets of eight bytes."""
    _left: int = MAX_TOTAL
    _seen: set[int] = field(default_factory=set)

    def directory(self, offset: int) -> Directory:
        """Read the directory at `offset`; empty when it was read before, lies outside the file or is malformed."""
        if offset <= 0 or offset in self._seen:  # directories may form a loop
            return Directory()
        self._seen.add(offset)
        counter, layout, wide = ("Q", "HHQQ", 8) if self.big else ("H", "HHII", 4)
        first = offset + struct.calcsize("=" + counter)
        head = self.read(offset, first - offset)
        count = struct.unpack(self.order + counter, head)[0] if len(head) == first - offset else 0
        if not 0 < count <= MAX_ENTRIES:
            return Directory()
        entry = 4 + 2 * wide
        table = self.read(first, entry * count + wide)
        values: dict[int, Value] = {}
        offsets: dict[int, int] = {}
        for start in range(0, min(entry * count, len(table) - entry + 1), entry):
            tag, kind, length, place = struct.unpack_from(self.order + layout, table, start)
            size = length * _TYPES[kind][1] if kind in _TYPES else 0
            if size <= 0:
                continue
            inline = start + 4 + wide
            offsets[tag] = first + inline if size <= wide else place
            raw = table[inline : inline + size] if size <= wide else self._value(tag, kind, place, size)
            if raw:
                values[tag] = raw if tag in _PACKETS else self._unpacked(kind, raw)
        tail = table[entry * count :]
        return Directory(values, offsets, struct.unpack(self.order + layout[-1], tail)[0] if len(tail) == wide else 0)

    def read(self, offset: int, size: int) -> bytes:
        """Read bytes of the structure; fewer at the end of the file or of `MAX_TOTAL`."""
        size = min(size, self._left)
        data = read_at(self.source, self.base + offset, size)
        self._left -= len(data)
        return data

    def _value(self, tag: int, kind: int, offset: int, size: int) -> bytes:
        limit = MAX_PACKET if tag in _PACKETS else MAX_VALUE
        if _TYPES[kind][0] == "s" or tag in _PACKETS:
            return self.read(offset, min(size, limit))
        return self.read(offset, size) if size <= limit else b""

    def _unpacked(self, kind: int, raw: bytes) -> Value:
        letter, size, parts = _TYPES[kind]
        if letter == "s":
            return raw
        whole = len(raw) // size * parts
        flat = struct.unpack_from(f"{self.order}{whole}{letter}", raw)
        return tuple(zip(flat[::2], flat[1::2], strict=True)) if parts == 2 else flat


def open_tiff(source: BinaryIO, base: int = 0) -> tuple[TiffReader, Directory] | None:
    """Return a reader and the first directory of the TIFF structure at `base`; None when there is none."""
    source.seek(base)
    head = source.read(16)
    order = {b"II": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 8:
        return None
    version, first = struct.unpack_from(order + "HI", head, 2)
    if version == _BIG and len(head) == 16:
        reader = TiffReader(source, base, order, big=True)
        return reader, reader.directory(struct.unpack_from(order + "Q", head, 8)[0])
    if version not in _VERSIONS:
        return None
    reader = TiffReader(source, base, order)
    return reader, reader.directory(first)


def _finite(item: float | tuple[int, int]) -> float | None:
    if isinstance(item, tuple):
        return item[0] / item[1] if item[1] else None
    return item if math.isfinite(item) else None
