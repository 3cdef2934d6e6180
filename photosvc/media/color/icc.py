"""Names of ICC colour profiles (ICC.1:2022, sections 7.2 and 7.3)."""

from typing import Final

from photosvc.media.metadata.text import clean

MAX_TAGS: Final = 100
_HEADER: Final = 128
_NAME: Final = 64


def profile_name(profile: bytes) -> str:
    """The description of a profile, as `Display P3`; empty when there is none or the bytes are no profile."""
    if profile[36:40] != b"acsp":
        return ""
    for number in range(min(_number(profile, _HEADER), MAX_TAGS)):
        entry = _HEADER + 4 + 12 * number
        if profile[entry : entry + 4] == b"desc":
            place = _number(profile, entry + 4)
            return _description(profile[place : place + min(_number(profile, entry + 8), 4096)])
    return ""


def _description(tag: bytes) -> str:
    if tag[:4] == b"desc":  # version 2: ASCII
        return clean(tag[12 : 12 + _number(tag, 8)], _NAME)
    if tag[:4] == b"mluc":  # version 4: UTF-16, the first language
        size, place = _number(tag, 20), _number(tag, 24)
        return clean(tag[place : place + size].decode("utf-16-be", "ignore"), _NAME)
    return ""


def _number(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + 4], "big")
