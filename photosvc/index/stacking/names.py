"""What base names say about stacks: edited copies, videos of Live Photos, bursts, numbered copies."""

import re
import unicodedata
from typing import Final

from photosvc.index.sidecars.names import EDITED

_EDITED: Final = re.compile(
    rf"(?P<original>.+)(?:{'|'.join(map(re.escape, EDITED))})(?P<number>\(\d{{1,4}}\))?", re.IGNORECASE
)
_APPLE_EDITED: Final = re.compile(r"(?P<head>IMG_)E(?P<number>\d{4,5})", re.IGNORECASE | re.ASCII)
_LIVE_VIDEO: Final = re.compile(r"(?P<still>.+)_HEVC", re.IGNORECASE)
# `IMG_20150214_184515_BURST002`, `IMAG0020_BURST001_COVER`, `20151021_123456_Burst01`
_BURST: Final = re.compile(r"(?P<burst>.+?)[_-]?BURST(?P<frame>\d{1,5})(?:_COVER)?", re.IGNORECASE | re.ASCII)
# `00001IMG_00001_BURST20171111030039363_COVER`: the number is that of the frame, the time that of the burst.
_TIMED_BURST: Final = re.compile(r".*BURST(?P<burst>\d{12,20})(?:_COVER)?", re.IGNORECASE | re.ASCII)
_NUMBERED: Final = re.compile(
    r"(?P<first>.+?)(?: ?\(\d{1,3}\)| ?\([+-]\d{1,2}(?:\.\d{1,2})?\)| copy(?: \d{1,3})?| - Copy(?: \(\d{1,3}\))?)",
    re.IGNORECASE | re.ASCII,
)


def original_of(base: str) -> str:
    """The base name of the picture or video that this edited copy was made from; empty when it is no edited copy."""
    apple = _APPLE_EDITED.fullmatch(base)
    if apple:
        return apple["head"] + apple["number"]
    google = _EDITED.fullmatch(unicodedata.normalize("NFC", base))
    return google["original"] + (google["number"] or "") if google else ""


def still_of(base: str) -> str:
    """The base name of the still picture that a short video with this base name belongs to."""
    match = _LIVE_VIDEO.fullmatch(base)
    return match["still"] if match else base


def burst_of(base: str) -> str:
    """What the names of a burst in one folder share; empty when the name is not that of a burst."""
    match = _TIMED_BURST.fullmatch(base) or _BURST.fullmatch(base)
    return match["burst"] if match else ""


def is_cover(base: str) -> bool:
    """Whether the camera chose the picture with this base name to show its burst."""
    return base.upper().endswith("_COVER")


def series_of(base: str) -> str:
    """The base name without the number of a copy: `IMG` of `IMG (2)`, `IMG copy 3` and `IMG`."""
    match = _NUMBERED.fullmatch(base)
    return match["first"] if match else base
