"""The search rows of a photo: sort keys and filter columns of its files."""

import math
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from photosvc.core.geo import unit_vector
from photosvc.models import NOWHERE, UNKNOWN_PLACE, File, FileKey, Photo
from photosvc.query.fold import fold

#: Bytes of a title that count in its order: a letter may unfold to eighteen, and cursors hold it whole.
_TITLE = 1000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NOWHERE = {"lat": NOWHERE, "lng": NOWHERE, "x": 0.0, "y": 0.0, "z": 0.0}


def search_rows(photo: Photo, *, has_album: bool) -> Iterator[tuple[File, dict[str, Any]]]:
    """Every file of the photo, the primary one first, with the columns of its `SearchRow`."""
    files = sorted(photo.files, key=lambda file: (not file.primary, file.id))
    shared = _photo_columns(photo, files, has_album=has_album)
    for rank, file in enumerate(files):
        yield file, shared | _file_columns(file, FileKey(photo.id, rank), shared)


def microseconds(moment: datetime) -> int:
    """Since 1970, as search rows count time."""
    return (moment - _EPOCH) // _MICROSECOND


def _photo_columns(photo: Photo, files: Sequence[File], *, has_album: bool) -> dict[str, Any]:
    return {
        "photo_id": photo.id,
        "photo_uid": photo.uid,
        "photo_type": photo.type,
        "path": photo.path,
        "name": photo.name,
        "path_key": fold(photo.path),
        "name_key": fold(photo.name),
        "original_key": fold(photo.original_name),
        "title_key": fold(photo.title).encode()[:_TITLE].decode(errors="ignore"),
        "document_key": fold(photo.document_id),
        "stack": photo.stack,
        "stacked": sum(not (file.sidecar or file.missing) for file in files) > 1,
        "has_album": has_album,
        "favorite": photo.favorite,
        "private": photo.private,
        "scan": photo.scan,
        "panorama": photo.panorama,
        "hidden": photo.quality < 0,
        "archived": photo.archived_at is not None,
        "quality": photo.quality,
        "resolution": photo.resolution,
        "iso": photo.iso,
        "focal_length": photo.focal_length,
        "f_number": photo.f_number,
        "camera_id": photo.camera_id,
        "lens_id": photo.lens_id,
        **_position(photo),
        "altitude": photo.altitude,
        "cell_id": photo.cell_id,
        "country": photo.country,
        "state_key": fold(photo.place.state),
        "city_key": fold(photo.place.city),
        "year": photo.year,
        "month": photo.month,
        "day": photo.day,
        "taken_day": _day(photo),
        "taken_at": microseconds(photo.taken_at),
        "created_at": microseconds(photo.created_at),
        "updated_at": microseconds(photo.updated_at),
        "edited_at": microseconds(photo.edited_at) if photo.edited_at else 0,
        "duration": photo.duration_ns,
        "shuffle": zlib.crc32(photo.uid.encode()) & 0x7FFFFFFF,
        "color": photo.color,
        "photo_diff": files[0].diff if files else -1,
        "photo_size": max((file.size for file in files), default=0),
    }


def _file_columns(file: File, key: FileKey, shared: dict[str, Any]) -> dict[str, Any]:
    present = not (file.missing or file.sidecar)
    return {
        "file_id": file.id,
        "newest_key": key.pack_descending(),
        "oldest_key": key.pack_ascending(),
        "listed": present and not (file.error or shared["archived"] or shared["hidden"]),
        "present": present,
        "is_primary": file.primary,
        "file_uid": file.uid,
        "file_key": fold(file.name),
        "hash": file.hash,
        "codec": fold(file.codec),
        "size": file.size,
        "portrait": file.portrait,
        "aspect_ratio": file.aspect_ratio,
        "chroma": file.chroma,
        "diff": file.diff,
        "has_error": bool(file.error),
        "instance_key": fold(file.instance_id),
    }


def _position(photo: Photo) -> dict[str, float]:
    if photo.cell_id == UNKNOWN_PLACE or not (math.isfinite(photo.lat) and math.isfinite(photo.lng)):
        return _NOWHERE
    x, y, z = unit_vector(photo.lat, photo.lng)
    return {"lat": photo.lat, "lng": photo.lng, "x": x, "y": y, "z": z}


def _day(photo: Photo) -> int:
    return photo.year * 10_000 + photo.month * 100 + photo.day if min(photo.year, photo.month, photo.day) > 0 else 0
