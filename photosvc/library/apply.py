"""The values that a person gives, written into a photo."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from struct import pack
from typing import Any, Final

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import is_position
from photosvc.core.timezones import is_zone, to_local, to_utc
from photosvc.core.vocabulary import AUTO, MANUAL
from photosvc.index.catalog import Catalog
from photosvc.models import Camera, Lens, Photo
from photosvc.models.photo import PLAIN_VALUES


def apply(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    """Write a person's values into a photo, inside `changing`. Values equal to the present ones change nothing.

    Args:
        values: as `PhotoEditSchema` loads them; a value that is absent stays, None gives it back to the files.

    Raises:
        InvalidValueError: values contradict each other, or name something that does not exist; it has the field.
    """
    if "caption" in values:  # the newer name; of both, the one that differs from the present value counts
        caption = values["caption"]
        is_present = caption == photo.description
        values = {**values, "description": values.get("description", caption) if is_present else caption}
    for name, write in _WRITERS.items():
        if name in values:
            write(photo, values[name])
    if "keywords" in values:
        _set_keywords(photo, values["keywords"], catalog)
    _set_time(photo, values)
    _set_place(photo, values, catalog)
    _set_camera(photo, values, catalog)


def approve(photo: Photo) -> None:
    """Take a photo out of review, inside `changing`."""
    photo.approved = True


def keep_keywords(photo: Photo) -> None:
    """Let no file change the keywords that a photo has now, inside `changing`."""
    photo.keywords_src = MANUAL


def _is_shown(own: Any, given: Any, places: int) -> bool:  # noqa: ANN401
    """Return whether a given value is the own one as records show it, for clients with single precision too."""
    if isinstance(own, float):
        return pack("f", round(own, places)) == pack("f", given)
    return bool(own == given)


def _set_keywords(photo: Photo, words: Sequence[str] | None, catalog: Catalog) -> None:
    if words is None:
        photo.keywords_src = AUTO
        return
    keywords = catalog.keywords(words)
    if {keyword.folded for keyword in keywords} != {keyword.folded for keyword in photo.keywords}:
        photo.keywords, photo.keywords_src = keywords, MANUAL


def _sourced(name: str) -> Callable[[Photo, Any], None]:
    """Return a function that writes a value which has a source column of the same name."""
    source = f"{name}_src"

    def write(photo: Photo, value: Any) -> None:  # noqa: ANN401
        if value is None:
            setattr(photo, source, AUTO)
        elif not _is_shown(getattr(photo, name), value, 2):
            setattr(photo, name, value)
            setattr(photo, source, MANUAL)

    return write


def _plainly(name: str) -> Callable[[Photo, Any], None]:
    def write(photo: Photo, value: Any) -> None:  # noqa: ANN401
        if value is not None:
            setattr(photo, name, value)

    return write


#: Values that do not depend on others.
_WRITERS: Final[dict[str, Callable[[Photo, Any], None]]] = {
    **{name: _sourced(name) for name in ("title", "description", "type", "favorite", *PLAIN_VALUES)},
    "private": _plainly("private"),
    "stack": _plainly("stack"),
}


def _set_time(photo: Photo, values: Mapping[str, Any]) -> None:
    """Write the times: if both are given, the wall time counts; a zone alone moves the UTC time, not the wall time."""
    names = ("taken_at", "taken_at_local", "time_zone", "year", "month", "day")
    given = {name: values[name] for name in names if name in values}
    given = {name: value for name, value in given.items() if value is None or value != getattr(photo, name)}
    if not given:
        return
    if all(value is None for value in given.values()):
        photo.taken_src = AUTO
        return
    zone = given.get("time_zone") or photo.time_zone
    if not is_zone(zone):
        raise InvalidValueError(f"{zone[:40]!r} is not the name of a time zone", field="TimeZone")
    if given.get("taken_at") is not None and given.get("taken_at_local") is None:
        photo.taken_at = given["taken_at"]
        photo.taken_at_local = to_local(photo.taken_at, zone).replace(tzinfo=UTC)
    else:
        local = given.get("taken_at_local") or photo.taken_at_local
        photo.taken_at_local, photo.taken_at = local, to_utc(local.replace(tzinfo=None), zone)
    photo.time_zone, photo.taken_src = zone, MANUAL
    # A date that is known in part stays so, unless a whole one is given.
    whole = given.get("taken_at") is not None or given.get("taken_at_local") is not None
    own = {name: -1 for name in names[3:] if values.get(name) == -1 or (not whole and getattr(photo, name) == -1)}
    date = [given.get(name, own.get(name)) for name in names[3:]]
    photo.year, photo.month, photo.day = _checked_date(date, photo.taken_at_local)


def _checked_date(date: Sequence[int | None], local: datetime) -> tuple[int, int, int]:
    """Return the year, month and day of the wall time, of which the last ones may be unknown (-1)."""
    known = (local.year, local.month, local.day)
    for name, part, own in zip(("Year", "Month", "Day"), date, known, strict=True):
        if part not in {None, -1, own}:
            msg = f"{part} is not that of TakenAtLocal; change TakenAtLocal, or send -1 for unknown"
            raise InvalidValueError(msg, field=name)
    first = next((number for number, part in enumerate(date) if part == -1), 3)
    year, month, day = (*known[:first], -1, -1, -1)[:3]
    return year, month, day


def _set_place(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    if not values.keys() & {"lat", "lng", "altitude", "country"}:
        return
    lat, lng = values.get("lat", photo.lat), values.get("lng", photo.lng)
    if lat is None or lng is None:
        photo.place_src = AUTO
        return
    if not (_is_shown(photo.lat, lat, 7) and _is_shown(photo.lng, lng, 7)):
        if not is_position(lat, lng):
            raise InvalidValueError("latitudes are from -90 to 90, longitudes from -180 to 180", field="Lat")
        cell = catalog.cell(lat, lng) if (lat, lng) != (0, 0) else catalog.nowhere()
        photo.lat, photo.lng, photo.cell_id, photo.place = lat, lng, cell.id, cell.place
        photo.country, photo.place_src = cell.place.country, MANUAL
        if "altitude" not in values:
            photo.altitude = 0
    altitude = values.get("altitude")
    if altitude is not None and altitude != photo.altitude:
        photo.altitude, photo.place_src = altitude, MANUAL
    country = values.get("country")
    if country is not None and country != photo.country and (photo.lat, photo.lng) == (0, 0):
        photo.country, photo.place_src = country, MANUAL


def _set_camera(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    """Write the camera and the lens by id, or by make and model, which may be new ones."""
    for field, kind, find, attribute in (
        ("CameraID", Camera, catalog.camera, "camera"),
        ("LensID", Lens, catalog.lens, "lens"),
    ):
        given = values.get(f"{attribute}_id")
        make, model = values.get(f"{attribute}_make"), values.get(f"{attribute}_model")
        current = getattr(photo, attribute)
        wanted = current
        if given is not None and given != current.id:
            wanted = catalog.with_id(kind, given)
            if wanted is None:
                raise InvalidValueError(f"there is no {attribute} {given}", field=field)
        elif make is not None or model is not None:
            wanted = find(current.make if make is None else make, current.model if model is None else model)
        if wanted.id != current.id:
            setattr(photo, attribute, wanted)
            photo.camera_src = MANUAL
