"""The values that a person gives, written into a photo."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from struct import pack
from typing import Any, Final

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import is_position
from photosvc.core.message import Message
from photosvc.core.text import clean_line, clean_lines
from photosvc.core.times import is_zone, to_local, to_utc
from photosvc.core.vocabulary import MANUAL
from photosvc.index.catalog import Catalog
from photosvc.index.describe import as_in_files
from photosvc.index.sidecar_links import sidecars_of
from photosvc.library.journal import KEYWORDS
from photosvc.models import Camera, Lens, Photo
from photosvc.models.photo import PLAIN_VALUES


def apply(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    """Write a person's values into a photo, inside `changing`. Values equal to the present ones change nothing.

    Args:
        values: as `PhotoEditSchema` loads them; a value that is absent stays, None restores that of the files.

    Raises:
        InvalidValueError: values contradict each other, or name something that does not exist; it has the field.
    """
    if "caption" in values:  # the newer name; of both, the one that differs from the present value counts
        caption, description = values["caption"], values.get("description")
        is_present = is_shown_as(photo.description, caption) or caption is None
        values = {**values, "description": caption if description is None or not is_present else description}
    if restored := [name for name in _COLUMNS if name in values and values[name] is None]:
        _give_back(photo, restored, catalog)
        values = {name: value for name, value in values.items() if value is not None}
    for name in _PLAIN:
        if name in values and not is_shown_as(getattr(photo, name), values[name]):
            setattr(photo, name, values[name])
            if name in _SOURCES:
                setattr(photo, _SOURCES[name], MANUAL)
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


def is_shown_as(own: Any, given: Any, places: int = 2) -> bool:  # noqa: ANN401
    """Return whether records show the own value as the given one, so that sending it back is no edit.

    Times are shown in whole seconds, and numbers with `places` decimals, which some clients read in single precision;
    texts are cleaned on their way in.
    """
    if isinstance(own, float):
        return pack("f", round(own, places)) == pack("f", given)
    if isinstance(own, datetime):
        return given in {own, own.replace(microsecond=0)}
    if isinstance(own, str):
        return given in {own, clean_line(own), clean_lines(own)}
    return bool(own == given)


_DATE: Final = ("year", "month", "day")
_MOMENT: Final = ("taken_at_local", *_DATE)
_POSITION: Final = ("lat", "lng", "altitude", "cell_id", "place", "country")
#: Values that do not depend on others.
_PLAIN: Final = ("title", "description", "type", "favorite", *PLAIN_VALUES, "private", "stack")
#: Value of an edit -> the attributes of the photo that get the value of the files for null.
_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    **{name: (name,) for name in (*_PLAIN, KEYWORDS, "time_zone", "altitude", "country")},
    **{name: _DATE[number:] for number, name in enumerate(_DATE)},  # an unknown part hides the later ones
    **dict.fromkeys(("taken_at", "taken_at_local"), _MOMENT),
    **dict.fromkeys(("lat", "lng"), _POSITION),
    **dict.fromkeys(("camera_id", "camera_make", "camera_model"), ("camera", "camera_serial")),
    **dict.fromkeys(("lens_id", "lens_make", "lens_model"), ("lens",)),
}
#: Value of an edit -> the column of its source; `private` and `stack` have none.
_SOURCES: Final = {
    **{name: f"{name}_src" for name in _COLUMNS if name in _PLAIN[:-2] or name == KEYWORDS},
    **dict.fromkeys(("taken_at", "taken_at_local", "time_zone", *_DATE), "taken_src"),
    **dict.fromkeys(("lat", "lng", "altitude", "country"), "place_src"),
    **{name: "camera_src" for name in _COLUMNS if name.startswith(("camera_", "lens_"))},
}


def _give_back(photo: Photo, names: Collection[str], catalog: Catalog) -> None:
    """Restore values of the files; others of the same source stay those of a person.

    Args:
        names: of `_COLUMNS`.
    """
    sources = {_SOURCES[name] for name in names if name in _SOURCES}
    files = as_in_files(photo, sources, sidecars_of(catalog.session, [photo.id]), catalog)
    given_back = {column for name in names for column in _COLUMNS[name]}
    for column in given_back:
        setattr(photo, column, getattr(files, column))
    if "country" in names:  # that of the position, which may be a person's
        photo.country = photo.place.country
    if "taken_src" in sources:
        if photo.taken_at_local.date() != files.taken_at_local.date():  # a part of another date is no part of this one
            for name in given_back.intersection(_DATE):
                setattr(photo, name, getattr(photo.taken_at_local, name))
        _hide_parts(photo)
        photo.taken_at = to_utc(photo.taken_at_local.replace(tzinfo=None), photo.time_zone)
    for source in sources:
        columns = {column for name, column in _SOURCES.items() if column == source for column in _COLUMNS[name]}
        if all(_stored(getattr(photo, column)) == _stored(getattr(files, column)) for column in columns):
            setattr(photo, source, getattr(files, source))
            if source == "taken_src":
                photo.taken_at = files.taken_at


def _stored(value: Any) -> Any:  # noqa: ANN401
    """Return a value by which to compare it: a row by its id."""
    return getattr(value, "id", value)


def _hide_parts(photo: Photo) -> None:
    """Make the parts of a date unknown after the first unknown one."""
    parts = [photo.year, photo.month, photo.day]
    known = parts.index(-1) if -1 in parts else len(parts)
    photo.year, photo.month, photo.day = (*parts[:known], -1, -1, -1)[:3]


def _set_keywords(photo: Photo, words: Sequence[str], catalog: Catalog) -> None:
    keywords = catalog.keywords(words)
    if {keyword.folded for keyword in keywords} != {keyword.folded for keyword in photo.keywords}:
        photo.keywords, photo.keywords_src = keywords, MANUAL


def _set_time(photo: Photo, values: Mapping[str, Any]) -> None:
    """Write the times: if both are given, the wall time counts; a zone alone moves the UTC time, not the wall time."""
    names = ("taken_at", "taken_at_local", "time_zone", *_DATE)
    given = {name: values[name] for name in names if name in values}
    given = {name: value for name, value in given.items() if not is_shown_as(getattr(photo, name), value)}
    if not given:
        return
    zone = given.get("time_zone", photo.time_zone)
    if not is_zone(zone):
        raise InvalidValueError(
            Message("{name} is not the name of a time zone", name=repr(zone[:40])), field="TimeZone"
        )
    if "taken_at" in given and "taken_at_local" not in given:
        photo.taken_at = given["taken_at"]
        photo.taken_at_local = to_local(photo.taken_at, zone).replace(tzinfo=UTC)
    else:
        local = given.get("taken_at_local", photo.taken_at_local)
        photo.taken_at_local, photo.taken_at = local, to_utc(local.replace(tzinfo=None), zone)
    photo.time_zone, photo.taken_src = zone, MANUAL
    # A date that is known in part stays so, unless a whole one is given.
    whole = "taken_at" in given or "taken_at_local" in given
    for name in _DATE:
        known = getattr(photo.taken_at_local, name)
        if given.get(name, -1) not in {-1, known}:
            msg = f"{given[name]} is not that of TakenAtLocal; change TakenAtLocal, or send -1 for unknown"
            raise InvalidValueError(msg, field=name.capitalize())
        stays_unknown = name not in given and not whole and getattr(photo, name) == -1
        setattr(photo, name, -1 if values.get(name) == -1 or stays_unknown else known)
    _hide_parts(photo)


def _set_place(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    if not values.keys() & {"lat", "lng", "altitude", "country"}:
        return
    lat, lng = values.get("lat", photo.lat), values.get("lng", photo.lng)
    if not (is_shown_as(photo.lat, lat, 7) and is_shown_as(photo.lng, lng, 7)):
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
        current = getattr(photo, attribute)
        make, model = values.get(f"{attribute}_make", current.make), values.get(f"{attribute}_model", current.model)
        wanted = current
        if given is not None and given != current.id:
            wanted = catalog.with_id(kind, given)
            if wanted is None:
                raise InvalidValueError(f"there is no {attribute} {given}", field=field)
        elif not (is_shown_as(current.make, make) and is_shown_as(current.model, model)):
            wanted = find(make, model)
        if wanted.id != current.id:
            setattr(photo, attribute, wanted)
            photo.camera_src = MANUAL
