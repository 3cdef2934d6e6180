"""The values of a photo that its files do not say by themselves: those that people set, and those of sidecars.

Derived values, such as a title made from the place, or an estimated place, are left out: each library derives its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from photosvc.core.geo import is_position
from photosvc.core.orientation import inverse
from photosvc.core.times import fixed_zone
from photosvc.core.vocabulary import ESTIMATE, MANUAL, META, UNKNOWN_PLACE, XMP
from photosvc.index.describe import StackedFile, areas_of, merged_metadata
from photosvc.index.file_columns import read_extraction
from photosvc.index.gazetteer import zone_at
from photosvc.index.sidecar_formats import SidecarKind
from photosvc.index.sidecar_values import StoredSidecar
from photosvc.media.formats import split_name
from photosvc.media.metadata import DAY, MONTH, YEAR, Metadata, Region, merge, whole_picture
from photosvc.media.xmp_regions import upright
from photosvc.models import UNKNOWN_ID, File, Photo

#: Sources of values that somebody wrote: a person here, a program into a sidecar, a camera into the file.
_STATED: Final = frozenset((MANUAL, XMP, META))
#: Values with a column of the same name in photos and a field of the same name in the metadata.
_PLAIN: Final = (
    "subject", "artist", "copyright", "license", "notes", "rating", "iso", "focal_length", "f_number", "exposure",
)  # fmt: skip
_UNSET: Final = Metadata()


def own_values(photo: Photo, others: Sequence[StoredSidecar] = ()) -> Metadata:
    """Return the values that the files of a photo and these sidecars say."""
    stacked = [StackedFile(file.name, read_extraction(file)) for file in photo.files if not file.missing]
    return merge((*(sidecar.metadata for sidecar in others), merged_metadata(stacked)))


def known_values(
    photo: Photo,
    file: File,
    own: Metadata,
    sidecars: Mapping[int, Sequence[StoredSidecar]],
    others: Sequence[StoredSidecar] = (),
) -> Metadata:
    """Return the values of a photo that are not in its files, for the sidecar of one of them.

    Args:
        own: the result of `own_values`.
        sidecars: those of the photo's files, by the id of the file.
        others: sidecars of other programs that stay beside the written one, and so need not be repeated.

    Returns:
        Regions are relative to the file as it is stored.
    """
    values: dict[str, Any] = {}
    for name, source in (("title", photo.title_src), ("description", photo.description_src)):
        if source in _STATED and getattr(photo, name) != getattr(own, name):
            values[name] = getattr(photo, name)
    values |= {name: getattr(photo, name) for name in _PLAIN if getattr(photo, name) != getattr(own, name)}
    of_photo = (sidecar for one in photo.files for sidecar in sidecars.get(one.id, ()))
    said = merge([_UNSET, *(sidecar.metadata for sidecar in of_photo if sidecar.kind is SidecarKind.XMP)])
    values |= _time(photo, own, said) | _place(photo, own) | _camera(photo, own) | _flags(photo, own, said)
    words = [keyword.word for keyword in photo.keywords]
    if {word.casefold() for word in words} != {word.casefold() for word in (*own.keywords, *own.labels)}:
        values["keywords"] = tuple(words)
    if photo.original_name and photo.original_name != split_name(own.original_name)[1]:
        values["original_name"] = f"{photo.original_name}.{split_name(file.name)[2]}".rstrip(".")
    return replace(_UNSET, **values, regions=_regions(file, others))


def entered_values(photo: Photo, file: File) -> set[str]:
    """Return the rows of `media.xmp_fields`, by their first fields, and `regions`, that people entered in the library.

    The library has them, whatever the sidecars of the file say.
    """
    rows = {
        **{name: getattr(photo, f"{name}_src") for name in (*_PLAIN, "scan", "panorama", "original_name", "keywords")},
        **dict.fromkeys(("taken_local", "zone"), photo.taken_src),
        **dict.fromkeys(("lat", "altitude", "city"), photo.place_src),
        **dict.fromkeys(("camera_make", "camera_serial", "lens_make", "lens_model"), photo.camera_src),
        **{name: getattr(photo, f"{name}_src") for name in ("title", "description", "favorite", "archived")},
        "private": MANUAL,  # sidecars only make new photos private
        "regions": "" if any(marker.src == XMP for marker in file.markers) else MANUAL,
    }
    return {name for name, source in rows.items() if source == MANUAL}


def _time(photo: Photo, own: Metadata, said: Metadata) -> dict[str, Any]:
    parts = YEAR if photo.month == -1 else MONTH if photo.day == -1 else DAY
    local, offset = photo.taken_at_local.replace(tzinfo=None), None
    if photo.time_zone:
        offset = round((photo.taken_at_local - photo.taken_at) / timedelta(minutes=1))
    is_own = (local, parts) == (own.taken_local, own.date_parts) or photo.taken_at == own.taken_utc
    is_own = is_own and (said.zone != photo.time_zone or own.zone == said.zone)
    if photo.taken_src not in _STATED or photo.year == -1 or (photo.taken_src != MANUAL and is_own):
        return {}
    by_position = zone_at(photo.lat, photo.lng) if photo.cell_id != UNKNOWN_PLACE else ""
    # A zone that follows from the written offset is not named, unless somebody chose it in place of another one.
    is_chosen = photo.taken_src == MANUAL or photo.time_zone == said.zone
    named = photo.time_zone not in ("", by_position, "" if is_chosen else fixed_zone(offset or 0))
    return {
        "taken_local": local, "utc_offset": offset, "date_parts": parts, "zone": photo.time_zone if named else "",
    }  # fmt: skip


def _place(photo: Photo, own: Metadata) -> dict[str, Any]:
    """Return the position; without one the country that a person chose, or the place that a sidecar names."""
    if photo.cell_id != UNKNOWN_PLACE and is_position(photo.lat, photo.lng):
        here = (photo.lat, photo.lng, photo.altitude)
        if photo.place_src not in _STATED or here == (own.lat, own.lng, own.altitude):
            return {}
        return {"lat": photo.lat, "lng": photo.lng, "altitude": photo.altitude}
    if photo.place_src == MANUAL and photo.country != UNKNOWN_PLACE:
        return {"country": photo.country}
    if photo.place_src == ESTIMATE and photo.place_named and not (own.city or own.country):
        place = photo.place
        return {"city": place.city, "state": place.state, "country": photo.country}
    return {}


def _camera(photo: Photo, own: Metadata) -> dict[str, Any]:
    if photo.camera_src not in _STATED:
        return {}
    groups = [{"camera_serial": photo.camera_serial}]
    if photo.camera.id != UNKNOWN_ID:
        groups.append({"camera_make": photo.camera.make, "camera_model": photo.camera.model})
    if photo.lens.id != UNKNOWN_ID:
        groups.append({"lens_make": photo.lens.make, "lens_model": photo.lens.model})
    differing = [group for group in groups if any(value != getattr(own, name) for name, value in group.items())]
    return {name: value for group in differing for name, value in group.items()}  # readers take a group as a whole


def _flags(photo: Photo, own: Metadata, said: Metadata) -> dict[str, bool]:
    return {
        "favorite": photo.favorite and not own.favorite,
        "archived": photo.archived_at is not None and not own.archived,
        "private": photo.private and not own.private,
        "scan": photo.scan and (photo.scan_src == MANUAL or said.scan) and not own.scan,
        "panorama": photo.panorama and (photo.panorama_src == MANUAL or said.panorama) and not own.panorama,
    }


def _regions(file: File, others: Sequence[StoredSidecar]) -> tuple[Region, ...]:
    """Return all areas of a file and its people, unless they are those of the file and other sidecars alone."""
    shown = [Region(marker.name, marker.type, marker.x, marker.y, marker.w, marker.h) for marker in file.markers]
    own = [upright(area, file.turn) for _, area in areas_of(file, others)]
    if set(shown) == set(own):
        return ()
    back = inverse(file.orientation)
    return tuple(whole_picture(area.name) if area.is_whole else upright(area, back) for area in shown)
