"""A photo as its files and their names make it, computed by pure functions: equal files give equal photos.

Names of files and folders also give dates, in the forms that cameras, phones and messengers write.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from photosvc.core.times import system_clock
from photosvc.index.extract import Extraction
from photosvc.index.places import UNKNOWN, country_name
from photosvc.index.stack_rules import LIVE_NS, is_cover, is_moving_part, is_preview, original_of, split_name
from photosvc.media.metadata import Metadata, merge

#: A date, or a date and time to the second or millisecond; the separators within each are the same.
DATE_TIME: Final = re.compile(
    r"(?<!\d)((?:19|20)\d\d)([-_.:/]?)([01]\d)\2([0-3]\d)"
    r"(?:[-_.T /]{1,3}(?:at[ _])?([0-2]\d)([-_.:h]?)([0-5]\d)\6([0-5]\d)(?:[.,]?\d{3})?)?(?!\d)"
)
# Milliseconds since 1970, of 2001 and later: the whole name, or after the word that an app puts before them.
_EPOCH: Final = re.compile(r"(?:FB_IMG_|mmexport|IMG_|VID_)?(1\d{12})")
_CAMERA_NAME = re.compile(
    r"""^_?(?:img|dsc|dscn|dscf|mvi|pict|vid|pxl|gopr|mov|cimg|sam|imgp|hpim|epsn|mvc|pol|dcp|pano)?[a-z_]?
    [-_\ ]?[\w-]*\d{3,}""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]{3,}")
#: Characters of city and country together that still leave room for more in a title.
_MAX_PLACE = 45
_LIVE_TYPES = ("jpg", "heic", "avif")
#: Formats of the primary file by preference: those that every viewer reads come first.
_PRIMARY_FORMATS = ("jpg", "png", "webp", "gif", "avif", "tiff", "bmp", "heic")
#: Files by trust in their metadata: those of the camera come before those made from them.
_METADATA_ORDER = {"raw": 0, "image": 1, "animated": 2, "video": 3}


def date_in(name: str) -> datetime | None:
    """Return the date, or date and time, in a file name, folder or path, naive; None without one.

    A name of milliseconds since 1970 gives UTC.
    """
    for match in DATE_TIME.finditer(name):
        year, _, month, day, hour, _, minute, second = match.groups()
        try:
            return datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001 - wall time
        except ValueError:
            continue
    counted = _EPOCH.fullmatch(name.partition(".")[0])
    moment = datetime.fromtimestamp(int(counted[1]) // 1000, UTC) if counted else None
    return moment.replace(tzinfo=None) if moment is not None and moment <= system_clock() else None


@dataclass(frozen=True, slots=True)
class StackedFile:
    """One file of the photo."""

    name: str
    extraction: Extraction


def without_previews(files: Sequence[StackedFile]) -> Sequence[StackedFile]:
    """Return the files of a photo that are pictures and videos of their own.

    The preview that a camera writes beside a video only completes its metadata. Beside a raw that cannot be shown, the
    preview shows the photo.
    """
    others = [file for file in files if not is_preview(file.name)]
    shown = any(file.extraction.media_type == "video" or file.extraction.problem is None for file in others)
    return others if shown else files


def primary_index(files: Sequence[StackedFile]) -> int:
    """Return the index of the file that shows the photo.

    Decodable files come first, then stills, common formats, the cover of a burst, and the widest picture.
    """

    def rank(index: int) -> tuple[bool, bool, int, bool, int, int]:
        one = files[index].extraction
        order = _PRIMARY_FORMATS.index(one.file_type) if one.file_type in _PRIMARY_FORMATS else len(_PRIMARY_FORMATS)
        cover = is_cover(split_name(files[index].name)[1])
        return (one.problem is not None, one.media_type == "video", order, not cover, -one.width, index)

    return min(range(len(files)), key=rank)


def photo_type(files: Sequence[StackedFile]) -> str:
    """Return the first type that fits the files: `raw`, `live`, `image`, `video` or `animated`.

    A longer video without the identifier of a Live Photo leaves a picture a picture.
    """
    kinds = {file.extraction.media_type for file in files}
    if "raw" in kinds:
        return "raw"
    if _is_live(files):
        return "live"
    if "image" in kinds:
        return "image"
    return "video" if "video" in kinds else "animated"


def _is_live(files: Sequence[StackedFile]) -> bool:
    videos = [file for file in files if file.extraction.media_type == "video"]
    pictures = [file.extraction for file in files if file.extraction.media_type != "video"]
    stills = [picture for picture in pictures if picture.file_type in _LIVE_TYPES]
    identifiers = {still.metadata.content_id for still in stills} - {""}
    return any(still.motion for still in stills) or (
        bool(stills)
        and any(
            is_moving_part(video.name)
            or 0 < video.extraction.duration_ns <= LIVE_NS
            or video.extraction.metadata.content_id in identifiers
            for video in videos
        )
    )


def merged_metadata(files: Sequence[StackedFile]) -> Metadata:
    """Return the metadata of the camera's own file, completed from others: edited copies and previews come last."""

    def rank(file: StackedFile) -> tuple[bool, bool, int, bool, str]:
        one = file.extraction
        edited = bool(original_of(split_name(file.name)[1]))
        return is_preview(file.name), edited, _METADATA_ORDER.get(one.media_type, 9), one.file_type == "jpg", file.name

    return merge([file.extraction.metadata for file in sorted(files, key=rank)])


def title_in(base: str) -> str:
    """Return the words of a base name as a title; empty when the name was made by a camera."""
    if _CAMERA_NAME.match(base) or not _WORD.search(base):
        return ""
    words = re.sub(r"[-_.+\s]+", " ", DATE_TIME.sub(" ", base)).split()
    return " ".join(word if any(map(str.isupper, word)) else word.capitalize() for word in words)[:200]


def make_title(*, people: list[str], city: str, country: str, base_name: str, year: int) -> str:
    """Return a title from people, else place, else the words of the file name, else `Unknown`; then the year."""
    year_text = str(year) if year > 0 else ""
    city = "" if city == UNKNOWN else city
    country = country_name(country)
    country = "" if country == UNKNOWN else country
    if 0 < len(people) <= 3:
        parts = [_enumerate(people), city or country, year_text]
    elif city:
        short = country != city and len(city) + len(country) < _MAX_PLACE
        parts = [city, country if short else "", year_text]
    elif country:
        parts = [country, year_text]
    else:
        parts = [title_in(base_name) or UNKNOWN, year_text]
    return " / ".join(filter(None, parts))[:200]


def _enumerate(people: list[str]) -> str:
    return people[0] if len(people) == 1 else ", ".join(people[:-1]) + " & " + people[-1]
