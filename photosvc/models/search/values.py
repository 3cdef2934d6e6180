"""How values of photos and files become values of search columns."""

import math
import zlib
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from photosvc.core.geo import unit_vector
from photosvc.models.content.library import UNKNOWN_PLACE
from photosvc.models.content.photo import File, Photo
from photosvc.models.search.columns import FileSource, PhotoSource
from photosvc.query.fold import fold

#: Latitude and longitude of an unknown position: inside no box.
NOWHERE = 999.0

#: Longest sort key of a title in bytes: folding can make 18 characters of one, and cursors hold the whole key.
_TITLE_BYTES = 1000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST_DAY = date.max.toordinal()


def photo_source(photo: Photo, *, has_album: bool) -> PhotoSource:
    """The photo with its files in order and its position."""
    files = sorted(photo.files, key=_place)
    return PhotoSource(photo, files, has_album, _position(photo))


def microseconds(moment: datetime | None) -> int:
    """Microseconds since 1970; 0 for what never happened."""
    return (moment - _EPOCH) // _MICROSECOND if moment else 0


def title_key(title: str) -> str:
    """The sort key of a title."""
    return fold(title).encode()[:_TITLE_BYTES].decode(errors="ignore")


def shuffle_key(uid: str) -> int:
    """31 bits that are always the same for a UID."""
    return zlib.crc32(uid.encode()) & 0x7FFFFFFF


def is_hidden(quality: int) -> bool:
    """Whether a photo of this quality is hidden."""
    return quality < 0


def is_set(value: object) -> bool:
    """Whether there is a value at all."""
    return value is not None


def taken_day(source: PhotoSource) -> int:
    """The day number of the local day; 0 when a part of it is unknown."""
    year, month, day = source.photo.year, source.photo.month, source.photo.day
    return day_number(year, month, day) if min(year, month, day) > 0 else 0


def timeline_day(source: PhotoSource) -> int:
    """The day number of the local day, with day 0 when only that is unknown; 0 when the month is unknown."""
    photo = source.photo
    return day_number(photo.year, photo.month, max(photo.day, 0)) if min(photo.year, photo.month) > 0 else 0


def is_far_day(source: PhotoSource) -> bool:
    """Whether `taken_at` is outside of the local day and the days before and after it, all by UTC."""
    day = taken_day(source)
    utc = source.photo.taken_at.astimezone(UTC).toordinal()
    before, after = date.fromordinal(max(1, utc - 1)), date.fromordinal(min(_LAST_DAY, utc + 1))
    numbers = (day_number(one.year, one.month, one.day) for one in (before, after))
    return bool(day) and not next(numbers) <= day <= next(numbers)


def day_number(year: int, month: int, day: int) -> int:
    """The day as the number yyyymmdd, which sorts like the day."""
    return year * 10_000 + month * 100 + day


def is_stacked(source: PhotoSource) -> bool:
    """Whether the photo has two or more media files."""
    return sum(map(_is_present, source.files)) > 1


def faces(source: PhotoSource) -> int:
    """How many faces are marked on the file of the photo that shows most; those without a name count."""
    present = (file for file in source.files if not file.missing)
    return min(max((sum(marker.type == "face" for marker in file.markers) for file in present), default=0), 32_767)


def primary_diff(source: PhotoSource) -> int:
    """`diff` of the primary file; -1 without files."""
    return source.files[0].diff if source.files else -1


def largest_size(source: PhotoSource) -> int:
    """Bytes of the largest file."""
    return max((file.size for file in source.files), default=0)


def is_present(source: FileSource) -> bool:
    """Whether the file is neither missing nor a sidecar."""
    return _is_present(source.file)


def is_listed(source: FileSource) -> bool:
    """Whether a search shows the file without being asked for hidden, archived or broken ones."""
    return _is_listed(source.photo, source.file)


def is_first(source: FileSource) -> bool:
    """Whether the file is the first of its photo that is listed."""
    photo, place = source.photo, _place(source.file)
    return is_listed(source) and not any(_place(file) < place and _is_listed(photo, file) for file in photo.files)


def _is_listed(photo: Photo, file: File) -> bool:
    return _is_present(file) and not (file.error or is_set(photo.archived_at) or is_hidden(photo.quality))


def _place(file: File) -> tuple[bool, int]:
    """By this the files of a photo are sorted: the primary file comes first."""
    return (not file.primary, file.id)


def _is_present(file: File) -> bool:
    return not (file.missing or file.sidecar)


def _position(photo: Photo) -> tuple[float, float, float, float, float]:
    if photo.cell_id == UNKNOWN_PLACE or not (math.isfinite(photo.lat) and math.isfinite(photo.lng)):
        return NOWHERE, NOWHERE, 0.0, 0.0, 0.0
    return photo.lat, photo.lng, *unit_vector(photo.lat, photo.lng)


RANK_BITS = 16
_LAST_RANK = (1 << RANK_BITS) - 1


class FileKey(NamedTuple):
    """Orders files by photo id and, within a photo, from the primary file on.

    Both packed forms are 64-bit integers that hold the photo id in their upper 48 bits. Sort the ascending form
    (column `oldest_key`) upwards and the descending form (column `newest_key`) downwards: the photos then come in
    opposite orders, but the files of each photo in the same one. Files from rank 65,535 on share that rank.
    """

    photo_id: int
    rank: int
    """0 is the primary file."""

    def pack_ascending(self) -> int:
        """The value of `oldest_key`."""
        return self.photo_id << RANK_BITS | min(self.rank, _LAST_RANK)

    def pack_descending(self) -> int:
        """The value of `newest_key`."""
        return self.photo_id << RANK_BITS | _LAST_RANK - min(self.rank, _LAST_RANK)

    @staticmethod
    def unpack_photo_id(packed: int) -> int:
        """The photo id in either form."""
        return packed >> RANK_BITS
