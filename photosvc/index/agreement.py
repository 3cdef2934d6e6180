"""The agreement of two files: whether their capture times, cameras, documents and looks may be those of one picture.

The rules of identity and those of stacks both ask here. An answer of None means that the files do not tell.
"""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Final

from photosvc.media.metadata import DAY, MONTH, YEAR, Metadata
from photosvc.media.perceptual_hash import PerceptualHash, turned

#: Identifiers of XMP (`xmp.did:…`, `uuid:…`) and UUIDs; other texts of a camera may be the same for every picture.
_UNIQUE: Final = re.compile(r".+:.+|[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}", re.IGNORECASE | re.ASCII)
#: Bits of the perceptual hashes in which pictures that look alike differ at most: resized, recompressed, retouched and
#: slightly cropped ones, and turned ones from the hash with its bits moved.
ALIKE_BITS: Final = 10
#: The same for files of one name, as a raw and its JPEG, or a drawing in two formats. Hashes of pictures that have
#: nothing in common differ in 32 bits on average.
NAMED_BITS: Final = 18
#: Some programs write whole seconds alone.
_SECOND: Final = timedelta(seconds=1)
#: A video begins before or after its picture, and may have the time of its end.
_VIDEO_ERROR: Final = timedelta(seconds=10)
_MAX_ERROR: Final = timedelta(minutes=5)
#: Zones differ by quarters of an hour. None is further from UTC.
_ZONE_STEP: Final = timedelta(minutes=15)
_FURTHEST: Final = timedelta(hours=14)
#: A date without a time begins a day earlier or later in other zones.
_DAY: Final = timedelta(days=1)
#: The length of time that a date covers, by its known parts.
_LENGTHS: Final = {DAY: _DAY, MONTH: timedelta(days=31), YEAR: timedelta(days=366)}
#: Seconds that a burst lasts at most.
_BURST: Final = timedelta(seconds=60)
_WORDS: Final = re.compile(r"[^\W_]+")


def is_unique(document: str) -> bool:
    """Return whether the identifier of a document has a form that no camera writes into all of its pictures."""
    return _UNIQUE.fullmatch(document) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a file that identify its picture."""

    video: bool = False
    duration_ns: int = 0
    first: datetime | None = None
    """The capture time, naive, or the earliest possible one; None if it is unknown."""
    last: datetime = datetime.min  # noqa: DTZ901 - naive as all of them
    """The latest possible capture time."""
    in_utc: bool = False
    """True if `first` and `last` are in UTC; else they are local times."""
    utc: datetime | None = None
    """The capture time in UTC, if the camera wrote its zone."""
    make: frozenset[str] = frozenset()
    """The words of the maker of the camera; so are those of the model."""
    model: frozenset[str] = frozenset()
    model_letters: str = ""
    document_id: str = ""
    """Empty unless it is unique."""
    look: int | None = None
    """The perceptual hash; None without one."""
    colors: str = ""
    """The colours of a picture that was decoded and has no hash, because it has no contrast."""

    @classmethod
    def of(cls, file: Any, metadata: Metadata) -> "Facts":  # noqa: ANN401 - an extraction, a file or a row of one
        """Return the facts of a file with this metadata."""
        look = PerceptualHash(file.look_1, file.look_2, file.look_3, file.look_4).whole
        local, offset, utc = metadata.taken_local, metadata.utc_offset, metadata.taken_utc
        first = local or (utc and utc.replace(tzinfo=None))
        # Midnight in local time stands for a date without a time.
        exact = local is None or (metadata.date_parts == DAY and local.time() != time())
        model = _WORDS.findall(metadata.camera_model.casefold())
        return cls(
            video=file.media_type == "video",
            duration_ns=file.duration_ns,
            first=first,
            last=datetime.min if first is None else first if exact else first + _LENGTHS[metadata.date_parts],  # noqa: DTZ901 - naive
            in_utc=local is None,
            utc=local - timedelta(minutes=offset) if local is not None and offset is not None else None,
            make=frozenset(_WORDS.findall(metadata.camera_make.casefold())),
            model=frozenset(model),
            model_letters="".join(model),
            document_id=metadata.document_id if is_unique(metadata.document_id) else "",
            look=look,
            colors=file.colors + file.luminance if look is None else "",
        )


def _apart(one: Facts, other: Facts) -> timedelta | None:
    """Return the shortest time between both; None if a capture time is unknown."""
    if one.first is None or other.first is None:
        return None
    return max(one.first, other.first) - min(one.last, other.last)


def same_moment(one: Facts, other: Facts) -> bool | None:
    """Return whether both were taken at the same time: pictures within a second, videos within some seconds.

    A video may have its time in UTC alone. A date without a time only excludes other dates.
    """
    apart = _apart(one, other)
    if apart is None:
        return None
    if one.first != one.last or other.first != other.last:
        return False if apart > _DAY else None
    if one.video or other.video:
        longest = timedelta(seconds=max(one.duration_ns, other.duration_ns) / 1e9)
        error = min(_VIDEO_ERROR + longest, _MAX_ERROR)
        if one.in_utc == other.in_utc:
            return apart <= error
        return apart <= _FURTHEST + error and (apart + error) % _ZONE_STEP <= 2 * error
    if one.in_utc != other.in_utc:  # the time of a satellite may be that of an earlier moment
        return None if apart <= _FURTHEST + _MAX_ERROR else False
    return apart <= _SECOND or (one.utc is not None and other.utc is not None and abs(one.utc - other.utc) <= _SECOND)


def offset_between(local: datetime, utc: datetime, lasting: timedelta) -> int | None:
    """Return the minutes east of UTC at which a wall time is that of a UTC time; None if no zone makes them so.

    Args:
        local: naive, with a time of the day; of a video, its beginning.
        utc: the same moment; of a video, its beginning or its end.
        lasting: the duration of the video.
    """
    apart = local - utc.replace(tzinfo=None)
    for gap in (apart, apart + lasting):
        offset = (gap + _ZONE_STEP / 2) // _ZONE_STEP * _ZONE_STEP
        if abs(gap - offset) <= _VIDEO_ERROR and abs(offset) <= _FURTHEST:
            return offset // timedelta(minutes=1)
    return None


def same_camera(one: Facts, other: Facts) -> bool | None:
    """Return whether both are of the same camera, which may write its model in more or fewer words.

    A phone may have another name in its videos.
    """
    if one.model and other.model:
        if one.model <= other.model or one.model >= other.model or one.model_letters == other.model_letters:
            return True
        if not (one.video or other.video):
            return False
    return False if one.make and other.make and one.make.isdisjoint(other.make) else None


def contradict(one: Facts, other: Facts) -> bool:
    """Return whether times or cameras say that these are two pictures."""
    return same_moment(one, other) is False or same_camera(one, other) is False


def alike(one: Facts, other: Facts, *, bits: int = ALIKE_BITS) -> bool | None:
    """Return whether both look alike; None for a picture and a video, or if one was not decoded or has no contrast.

    Args:
        bits: in which their perceptual hashes may differ.
    """
    if one.video != other.video:
        return None
    if one.look is not None and other.look is not None:
        return (one.look ^ other.look).bit_count() <= bits
    return one.colors == other.colors if one.colors and other.colors else None


def may_be_one(one: Facts, other: Facts, *, edited: bool = False) -> bool:
    """Return whether files that belong together by their names may be one photo.

    Args:
        edited: the name of one says that it is an edited copy of the other, which may look otherwise.
    """
    if contradict(one, other):
        return False
    return edited or same_moment(one, other) is True or alike(one, other, bits=NAMED_BITS) is not False


def may_be_burst(one: Facts, other: Facts) -> bool:
    """Return whether times and cameras allow that these pictures, whose names say so, are of one burst."""
    apart = _apart(one, other)
    return same_camera(one, other) is not False and (apart is None or apart <= _BURST)


def is_edit(former: Facts, new: Facts) -> bool:
    """Return whether the new content under a name is the former picture, edited.

    If the former content could not be decoded, any content that does not contradict it counts as its edit.
    """
    if same_moment(former, new) is True and same_camera(former, new) is not False:
        return True
    if former.document_id and former.document_id == new.document_id:
        return True
    if alike(former, new) is True or _is_turned(former, new):
        return True
    return former.look is None and not former.colors and not contradict(former, new)


def _is_turned(one: Facts, other: Facts) -> bool:
    """Return whether one is the other picture turned or mirrored, as viewers save it."""
    if one.look is None or other.look is None or one.video != other.video:
        return False
    look = one.look
    return any((look ^ way).bit_count() <= ALIKE_BITS for way in turned(other.look))
