"""Names in one folder that belong together: the files of one picture and their sidecars.

Imports and uploads give files other names. Names with a common beginning, and the suffixes of edited copies and bursts,
keep files together that an index run would have stacked by their former names.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from photosvc.index.sidecar_names import EDITED_SUFFIXES, companions, cut_original, is_read, key
from photosvc.media.formats import by_extension, split_name
from photosvc.models.statements import in_portions

#: Most files of one group; further files are another group.
_MOST_TOGETHER: Final = 64
_EDITED: Final = EDITED_SUFFIXES[0]
_NUMBER: Final = re.compile(r"\(\d{1,4}\)$", re.ASCII)
_GOOGLE_EDITED: Final = re.compile(
    rf"(?P<original>.+)(?:{'|'.join(map(re.escape, EDITED_SUFFIXES))})(?P<number>\(\d{{1,4}}\))?", re.IGNORECASE
)
_APPLE_EDITED: Final = re.compile(r"(?P<head>IMG_)E(?P<number>\d{4,5})", re.IGNORECASE | re.ASCII)
_LIVE_VIDEO: Final = re.compile(r"(?P<still>.+)_HEVC", re.IGNORECASE)
#: Pixel phones name the picture `PXL_20240101_120000000.MP.jpg`; exports add its video as `PXL_20240101_120000000.MP`.
MOVING: Final = ".mp"
#: Cameras write the preview of `MVI_0001.AVI`, with its metadata, into `MVI_0001.THM`, and a small copy of a video for
#: phones into a file with the extension `LRV` (GoPro, Insta360) or `LRF` (DJI).
_PREVIEWS: Final = frozenset(("thm", "lrv", "lrf"))
#: GoPro: `GL010123.LRV` is the small copy of `GX010123.MP4` or `GH010123.MP4`, by the codec.
_GOPRO: Final = re.compile(r"G[HLX](?P<number>\d{6})", re.IGNORECASE | re.ASCII)
#: Insta360: `LRV_20240503_141233_11_001.insv` is the small copy of the file of each lens, `VID_20240503_141233_00_001`.
_INSTA360: Final = re.compile(
    r"(?P<mode>(?:PRO_)?)(?P<kind>LRV|VID)_(?P<time>\d{8}_\d{6})_\d\d_(?P<number>\d{3})", re.IGNORECASE | re.ASCII
)
#: Names of a file that programs keep when two machines have changed it: Syncthing, ownCloud, Synology Drive, Resilio,
#: Dropbox, Nextcloud and Seafile in several languages, and OneDrive with the names that Windows and macOS give.
_CONFLICT: Final = re.compile(
    r"""(?P<original>.+?)(?:
        \.sync-conflict-\d{8}-\d{6}(?:-[0-9A-Z]{7})?
      | _conflict-\d{8}-\d{6}
      | _[^_]{1,60}_[A-Z]{3}-\d\d-\d{4,6}-\d{4}_(?:Case)?Conflict
      | \.conflict
      | [ ]?\([^()]{0,100}\b(?:SF)?(?:conflict(?:ed)?|konflikt|conflit|conflicto|conflitto)\b[^()]{0,100}\)
      | -(?:(?:DESKTOP|LAPTOP|WIN)-[0-9A-Z]{7,11}|[\w'’-]{1,40}-MacBook(?:-Pro|-Air)?)(?:-\d{1,2})?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# `IMG_20150214_184515_BURST002`, `IMAG0020_BURST001_COVER`, `20151021_123456_Burst01`
_BURST: Final = re.compile(r"(?P<burst>.+?)[_-]?BURST(?P<frame>\d{1,5})(?:_COVER)?", re.IGNORECASE | re.ASCII)
# `00001IMG_00001_BURST20171111030039363_COVER`: the number is that of the frame, the time that of the burst.
_TIMED_BURST: Final = re.compile(r".*BURST(?P<burst>\d{12,20})(?:_COVER)?", re.IGNORECASE | re.ASCII)
_NUMBERED: Final = re.compile(
    r"(?P<first>.+?)(?: ?\(\d{1,3}\)| ?\([+-]\d{1,2}(?:\.\d{1,2})?\)| copy(?: \d{1,3})?| - Copy(?: \(\d{1,3}\))?)",
    re.IGNORECASE | re.ASCII,
)


def original_of(base: str) -> str:
    """Return the base name of the picture or video that a copy, edited or in conflict, is of; empty for other files."""
    if conflict := _CONFLICT.fullmatch(base):
        return original_of(conflict["original"]) or conflict["original"]
    if apple := _APPLE_EDITED.fullmatch(base):
        return apple["head"] + apple["number"]
    composed = unicodedata.normalize("NFC", base)
    google = _GOOGLE_EDITED.fullmatch(composed)
    return google["original"] + (google["number"] or "") if google else cut_original(composed)


def still_of(base: str) -> str:
    """Return the base name of the still picture that a short video with this base name belongs to."""
    match = _LIVE_VIDEO.fullmatch(base)
    return match["still"] if match else base


def is_moving_part(name: str) -> bool:
    """Return whether the name says that the file is the moving part of a picture, however long it is."""
    return split_name(name)[2] == MOVING[1:]


def is_preview(name: str) -> bool:
    """Return whether the name says that the file is the preview that a camera wrote beside a video or raw."""
    _, base, extension = split_name(name)
    insta360 = _INSTA360.fullmatch(base)
    return extension in _PREVIEWS or (insta360 is not None and insta360["kind"].upper() == "LRV")


def is_in_conflict(base: str) -> bool:
    """Return whether a sync program named this copy, because two machines have changed the file."""
    return _CONFLICT.fullmatch(base) is not None


def without_conflict(name: str) -> str:
    """Return the name of a file before a sync program renamed it because of a conflict; any other name as it is."""
    while conflict := _CONFLICT.fullmatch(split_name(name)[1]):
        folder, base, _ = split_name(name)
        start = len(folder) + 1 if folder else 0
        name = name[:start] + conflict["original"] + name[start + len(base) :]
    return name


def common_base(base: str) -> str:
    """Return the base name of a video, or one that the video and its small copy have in common."""
    if gopro := _GOPRO.fullmatch(base):
        return f"G{gopro['number']}"
    insta360 = _INSTA360.fullmatch(base)
    return f"{insta360['mode']}VID_{insta360['time']}_{insta360['number']}" if insta360 else base


def names_of_original(base: str, *, preview: bool) -> Iterator[str]:
    """Yield the base names that the original of a copy in conflict, or of a preview, may have; none of another file."""
    if conflict := _CONFLICT.fullmatch(base):
        yield from names_of_original(conflict["original"], preview=preview)
        yield conflict["original"]
    elif preview and (gopro := _GOPRO.fullmatch(base)):
        yield from (f"G{codec}{gopro['number']}" for codec in "XH")
    elif preview and (insta360 := _INSTA360.fullmatch(base)):
        head, number = f"{insta360['mode']}VID_{insta360['time']}", insta360["number"]
        yield from (f"{head}_{lens}_{number}" for lens in ("00", "10"))


def burst_of(base: str) -> str:
    """Return the common part of the names of a burst in one folder; empty when the name is not that of a burst."""
    match = _TIMED_BURST.fullmatch(base) or _BURST.fullmatch(base)
    return match["burst"] if match else ""


def is_cover(base: str) -> bool:
    """Return whether the camera chose the picture with this base name to show its burst."""
    return base.upper().endswith("_COVER")


def series_of(base: str) -> str:
    """Return the base name without the number of a copy: `IMG` of `IMG (2)`, `IMG copy 3` and `IMG`."""
    match = _NUMBERED.fullmatch(base)
    return match["first"] if match else base


def is_edited(name: str) -> bool:
    """Return whether a file is an edited copy by its name."""
    return bool(original_of(split_name(name)[1]))


def group_key(name: str) -> str:
    """Return the key that pictures and videos of one folder share if they belong together by their names."""
    _, base, extension = split_name(name)
    known = by_extension(f"x.{extension}")
    base = still_of(base) if known is not None and known.media_type == "video" else base
    original = common_base(original_of(base) or base)
    return key(burst_of(original) or original).removesuffix(MOVING)


def suffix_of(name: str) -> str:
    """Return the end of a base name that tells the file from others of its group; empty for most files."""
    _, base, _ = split_name(name)
    original = original_of(base)
    burst = burst_of(original or base)
    frame = (original or base).removeprefix(burst) if burst else ""
    if not original:
        return frame
    whole = key(_NUMBER.sub("", base))
    return frame + next((suffix for suffix in EDITED_SUFFIXES if whole.endswith(key(suffix))), _EDITED)


def owner_of(owners: Sequence[str]) -> str:
    """Return the picture that names a sidecar of several: the original before its edited copies."""
    return min(owners, key=lambda name: (is_edited(name), name))


def grouped_names(names: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Return the groups of the names in one folder, each with its sidecars, and the sidecars without a picture."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if not is_read(name):
            groups.setdefault(group_key(name), []).append(name)
    owners = companions(names)
    alone: list[str] = []
    for name in filter(is_read, names):
        own = owners.get(name)
        (groups[group_key(owner_of(own))] if own else alone).append(name)
    return [list(some) for group in groups.values() for some in in_portions(group, _MOST_TOGETHER)], alone
