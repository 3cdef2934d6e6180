"""User data in packets of H.264, left out of copies: cameras write positions, their names and their settings there.

User data are supplemental enhancement information of two types (ITU-T H.264 annex D). That of other types, such as the
points at which players may begin, stays.
"""

import re
from collections.abc import Iterator
from typing import Final

#: The type of a unit with supplemental enhancement information, in the lower bits of its first byte.
_SEI, _TYPE_BITS = 6, 31
#: Types of messages: user data registered by ITU-T T.35, and those with an identifier of their own.
_USER_DATA: Final = frozenset((4, 5))
_START: Final = b"\x00\x00\x01"
_SEI_START: Final = re.compile(rb"\x00\x00\x01[\x06\x26\x46\x66]")
#: Two zeros before a byte that would make a start code of them; a 3 is put between (section 7.4.1).
_LIKE_START: Final = re.compile(rb"\x00\x00(?=[\x00-\x03])")
_ZEROS, _KEPT_APART = b"\x00\x00", b"\x00\x00\x03"
#: A byte of a type or size after which another follows.
_MORE: Final = 255
#: The bits behind the last message.
_END: Final = b"\x80"


def length_bytes(extradata: bytes | None) -> int:
    """Return the number of bytes with the length of each unit of a stream; 0 if its units begin with start codes."""
    is_avc = extradata is not None and len(extradata) > 4 and extradata[0] == 1  # ISO/IEC 14496-15 section 5.3.3
    return (extradata[4] & 3) + 1 if extradata is not None and is_avc else 0


def without_user_data(packet: bytes, prefix: int) -> bytes:
    """Return a packet without user data, itself if it has none; empty if it has nothing else.

    Args:
        packet: of an H.264 stream.
        prefix: the `length_bytes` of the stream.
    """
    if not prefix and _SEI_START.search(packet) is None:
        return packet
    kept = []
    is_changed = False
    for start, begin, end in _units_behind_lengths(packet, prefix) if prefix else _units_behind_codes(packet):
        unit = packet[begin:end]
        if unit and unit[0] & _TYPE_BITS == _SEI and (rest := _without_messages(unit)) != unit:
            is_changed = True
            if rest:
                kept.append((len(rest).to_bytes(prefix, "big") if prefix else packet[start:begin]) + rest)
        else:
            kept.append(packet[start:end])
    return b"".join(kept) if is_changed else packet


def _units_behind_lengths(packet: bytes, prefix: int) -> Iterator[tuple[int, int, int]]:
    """Yield the start of each unit with its length, the start without it, and the end; the last may be cut off."""
    start = 0
    while start < len(packet):
        begin = start + prefix
        end = min(len(packet), begin + int.from_bytes(packet[start:begin], "big"))
        yield start, begin, end
        start = end


def _units_behind_codes(packet: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the start of each unit with its start code, the start without it, and the end."""
    start, found = 0, packet.find(_START)
    while found >= 0:
        begin = found + len(_START)
        found = packet.find(_START, begin)
        end = found if found >= 0 else len(packet)
        yield start, begin, end
        start = end


def _without_messages(unit: bytes) -> bytes:
    """Return a unit of supplemental enhancement information without user data; empty if there is nothing else."""
    content = unit[1:].replace(_KEPT_APART, _ZEROS).rstrip(b"\x00")
    kept = []
    is_changed = False
    start = 0
    while len(content) - start > len(_END):
        kind, behind = _number(content, start)
        size, behind = _number(content, behind)
        end = behind + size
        if kind in _USER_DATA or end > len(content):
            is_changed = True
        else:
            kept.append(content[start:end])
        start = end
    if not is_changed:
        return unit
    return unit[:1] + _LIKE_START.sub(_KEPT_APART, b"".join(kept) + _END) if kept else b""


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Return the number at this place, the sum of its bytes, and the place behind it."""
    number = 0
    while at < len(content):
        number += content[at]
        at += 1
        if content[at - 1] != _MORE:
            break
    return number, at
