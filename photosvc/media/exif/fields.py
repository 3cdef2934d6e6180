"""Exif values converted to the units of `Metadata`."""

import re
from datetime import datetime
from typing import Final

from photosvc.media.exif.tiff import Directory
from photosvc.media.metadata.dates import parse_date, parse_offset
from photosvc.media.metadata.text import DESCRIPTION, LINE, clean

# Tags of a date, its sub-seconds and its offset, in order of preference: taken, digitized, file changed.
_DATES: Final = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012), (0x0132, 0x9290, 0x9010))
_UNKNOWN_ISO: Final = 65535  # other tags hold the values that do not fit 16 bits
_MAX_ISO: Final = 10_000_000
# What cameras write into ImageDescription without being asked: their own name, or that of the file.
_BOILERPLATE: Final = re.compile(
    r"(?:(?:olympus|sony|epson|minolta|konica|kodak|samsung|ricoh|panasonic) )?"
    r"(?:dsc|dsc picture|digital camera|digital still camera|dig ital camera|exif_jpeg_picture)"
    r"|(?:[a-z]:)?[\\/]?dcim[\\/].*"
    r"|[\w-]{1,24}\.(?:jpe?g|tiff?|dng|gpr)"
    r"|(?:dsc|img|dcp|hpim|im|p)[_-]?\d{4,8}",
    re.IGNORECASE | re.ASCII,
)


def taken(image: Directory, exif: Directory) -> tuple[datetime | None, int | None]:
    """Naive wall time with its sub-seconds, and the camera's offset in minutes east of UTC; None where unknown."""
    for date, subseconds, offset in _DATES:
        source = image if date == 0x0132 else exif
        moment, written = parse_date(clean(source.data(date)), subseconds=clean(exif.data(subseconds), 9))
        if moment is not None:
            east = parse_offset(clean(exif.data(offset)))
            return moment, written if east is None else east
    return None, None


def iso(exif: Directory) -> int:
    """Sensitivity, 0 when unknown."""
    value = exif.integer(0x8827)
    if value in (0, _UNKNOWN_ISO):
        value = exif.integer(0x8832) or exif.integer(0x8831) or exif.integer(0x8833)
    return value if 0 < value <= _MAX_ISO else 0


def focal_length(exif: Directory) -> int:
    """Millimetres: the 35 mm equivalent if known, else the real focal length; 0 when unknown."""
    value = exif.number(0xA405) or exif.number(0x920A) or 0.0
    return round(value) if 0 < value < 100_000 else 0


def f_number(exif: Directory) -> float:
    """Aperture, from FNumber or else from the APEX value (Exif annex C: N = 2^(Av/2)); 0.0 when unknown."""
    value = exif.number(0x829D) or 0.0
    apex = exif.number(0x9202)
    if not value and apex is not None and 0 < apex < 20:
        value = 2.0 ** (apex / 2)
    return round(value, 2) if 0 < value < 1000 else 0.0


def exposure(fraction: tuple[int, int] | None) -> str:
    """Shutter time in seconds, in the usual notation: `1/160`, `2.5`, `0.4`; empty when unknown."""
    if fraction is None or fraction[0] <= 0 or fraction[1] <= 0:
        return ""
    seconds = fraction[0] / fraction[1]
    if not 1e-7 < seconds < 1e6:
        return ""
    denominator = round(1 / seconds)
    # Below a quarter of a second, rounding to a whole denominator is as exact as shutters are.
    if seconds < 0.25 or (seconds < 1 and abs(1 / seconds - denominator) < 0.02):
        return f"1/{denominator}"
    return f"{round(seconds, 1):.1f}".removesuffix(".0")


def rating(image: Directory) -> int:
    """Stars 0 to 5, 0 when unknown."""
    value = image.integer(0x4746)
    return value if 0 <= value <= 5 else 0


def is_boilerplate(description: str) -> bool:
    """Whether a camera wrote the description rather than a person."""
    return _BOILERPLATE.fullmatch(description) is not None


def unique_id(written: bytes) -> str:
    """ImageUniqueID; empty when it consists of zeros."""
    value = clean(written)
    return value if value.strip("0 -") else ""


def utf16(written: bytes, limit: int = LINE) -> str:
    """The text of a tag that Windows Explorer writes (UTF-16, little endian)."""
    return clean(written[: limit * 4].decode("utf-16-le", "ignore"), limit)


def user_comment(written: bytes) -> str:
    """UserComment: eight bytes of character code, then the text."""
    code, body = written[:8], written[8 : 8 + DESCRIPTION * 4]
    if code == b"UNICODE\0":
        # Nothing states the byte order; the zero bytes of ASCII text show it.
        order = "utf-16-be" if body[:1] == b"\0" else "utf-16-le"
        return clean(body.decode(order, "ignore"), DESCRIPTION)
    if code in (b"ASCII\0\0\0", b"\0\0\0\0\0\0\0\0"):
        value = clean(body, DESCRIPTION)
        return value if value.isprintable() else ""
    return ""
