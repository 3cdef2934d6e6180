"""Photoshop files with a merged picture of any mode and depth, made here byte by byte."""

import struct
from collections.abc import Sequence

from tests.unit.media.containers import photoshop_resource

#: Pixels a row and rows.
SIZE = (6, 4)


def photoshop(
    colours: int,
    depth: int,
    channels: Sequence[Sequence[float]],
    *,
    packing: int = 0,
    version: int = 1,
    layers: int = 0,
    palette: bytes = b"",
    resources: bytes = b"",
) -> bytes:
    """A picture of four quarters, each with one value in each of the channels.

    Args:
        colours: the number of the colour mode.
        depth: bits of a value.
        channels: the four values of each, between 0 and 1.
        packing: 0 for none, 1 for PackBits.
        version: 1 for PSD, 2 for PSB.
        layers: their number; negative when the first further channel is transparency.
        palette: of an indexed picture.
        resources: blocks of them.

    """
    width, height = SIZE
    wide = "Q" if version == 2 else "I"
    info = struct.pack(">h", layers) if layers else b""
    section = struct.pack(f">{wide}", len(info)) + info if info else b""
    head = b"8BPS" + struct.pack(">H6xHIIHH", version, len(channels), height, width, depth, colours)
    head += struct.pack(">I", len(palette)) + palette + struct.pack(">I", len(resources)) + resources
    head += struct.pack(f">{wide}", len(section)) + section
    rows = [_row(values[2 * (y >= height // 2) :][:2], depth) for values in channels for y in range(height)]
    if packing == 1:
        packed = [_packed(row) for row in rows]
        lengths = b"".join(struct.pack(">I" if version == 2 else ">H", len(row)) for row in packed)
        return head + struct.pack(">H", 1) + lengths + b"".join(packed)
    return head + struct.pack(">H", packing) + b"".join(rows)


def _row(pair: Sequence[float], depth: int) -> bytes:
    width = SIZE[0]
    values = [pair[x >= width // 2] for x in range(width)]
    if depth == 1:
        return bytes([sum(int(value) << (7 - x) for x, value in enumerate(values))])
    if depth == 32:
        return struct.pack(f">{width}f", *values)
    top = 255 if depth == 8 else 65535
    return struct.pack(f">{width}{'B' if depth == 8 else 'H'}", *(round(value * top) for value in values))


def _packed(row: bytes) -> bytes:
    """PackBits: the first byte as a run where it repeats, the rest as it is."""
    run = len(row) - len(row.lstrip(row[:1]))
    rest = row[run:]
    literal = bytes([len(rest) - 1]) + rest if rest else b""
    return (bytes([257 - run]) if run > 1 else b"\0") + row[:1] + literal


def alpha_names(*numbers: int) -> bytes:
    """The resource with the identifiers of further channels; 0 is transparency."""
    return photoshop_resource(0x041D, struct.pack(f">{len(numbers)}I", *numbers))
