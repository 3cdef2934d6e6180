"""Edits: the values of a photo that people change; they are written, given back to the files, and undone.

`FIELDS` lists the values. Snapshots of them are JSON, as the journal stores them. All functions that change a photo are
called inside `unit_of_work.changing`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from struct import pack
from typing import Any, Final, TypeAlias

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.geo import is_position
from photosvc.core.message import Message
from photosvc.core.text import clean_line, clean_lines
from photosvc.core.times import ZERO_TIME, is_zone, to_local, to_utc
from photosvc.core.vocabulary import MANUAL
from photosvc.index.describe import as_in_files
from photosvc.index.file_columns import added_areas, choose_orientation, chosen_names, set_added_areas, set_chosen_names
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import sidecars_of
from photosvc.media.metadata import Region
from photosvc.models import Camera, Lens, Photo, Place
from photosvc.models.photo import PLAIN_VALUES
from photosvc.query.fold import fold
from photosvc.records import limits


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a photo that people change, or that follows from one."""

    column: str
    source: str = ""
    """The column that names who set the value; empty for values that only people set."""
    wire: str = ""
    """Its name on the wire, if that is not the column in camel case."""
    relation: str = ""
    """The attribute with the related row, if the column has the id of one; a new row has no id until it is stored."""
    is_plain: bool = False
    """True if it depends on no other value, so that an edit only writes it."""


KEYWORDS: Final = "keywords"
#: UID of the file that a person chose to show the photo; empty when the files decide.
PRIMARY: Final = "primary"
#: The names of the files that are there.
FILES: Final = "files"
#: The Exif orientations that a person chose, by the UIDs of the files.
ORIENTATIONS: Final = "orientations"
#: The names that a person gave to marked areas, by the UIDs of the files.
NAMES: Final = "names"
#: The areas that a person added, by the UIDs of the files.
AREAS: Final = "areas"
#: Where the files that a person stacked came from, by the UIDs of the files: `File.stacked_from`.
STACKED: Final = "stacked"
#: All values in the columns of photos.
FIELDS: Final = (
    Field("title", "title_src", is_plain=True),
    Field("description", "description_src", is_plain=True),
    *(Field(name, "taken_src") for name in ("taken_at", "taken_at_local", "time_zone", "year", "month", "day")),
    *(Field(name, "place_src") for name in ("lat", "lng", "altitude")),
    Field("cell_id", "place_src", wire="CellID"),
    Field("place_id", "place_src", wire="PlaceID", relation="place"),
    Field("country", "place_src"),
    Field("camera_id", "camera_src", wire="CameraID", relation="camera"),
    Field("lens_id", "camera_src", wire="LensID", relation="lens"),
    Field("camera_serial", "camera_src"),
    Field("type", "type_src", is_plain=True),
    Field("favorite", "favorite_src", is_plain=True),
    Field("archived_at", "archived_src", wire="DeletedAt"),
    *(Field(name, f"{name}_src", is_plain=True) for name in PLAIN_VALUES),
    Field("private", is_plain=True),
    Field("approved"),
    Field("stack", is_plain=True),
    Field("rejected_labels", is_plain=True),
)
_KINDS: Final[Mapping[str, type[Camera | Lens | Place]]] = {"camera": Camera, "lens": Lens, "place": Place}
_RELATED: Final = {field.column: field.relation for field in FIELDS if field.relation}
_WIRE: Final = {field.column: field.wire for field in FIELDS if field.wire} | {"archived_src": "DeletedSrc"}
_PLAIN: Final = tuple(field for field in FIELDS if field.is_plain)
_TIMES: Final = frozenset(("taken_at", "taken_at_local", "archived_at"))
#: Source column -> the values that it is the source of.
_SOURCED: Final[dict[str, tuple[str, ...]]] = {
    source: tuple(field.column for field in FIELDS if field.source == source)
    for source in dict.fromkeys(field.source for field in FIELDS if field.source)
} | {"keywords_src": (KEYWORDS,)}
#: Values that only people set.
_DECIDED: Final = (*(field.column for field in FIELDS if not field.source), PRIMARY, ORIENTATIONS, NAMES, AREAS)
#: The columns of a photo that a snapshot copies.
_COPIED: Final = (*(field.column for field in FIELDS if not field.relation), *_SOURCED)
_copied: Final = attrgetter(*_COPIED)
_DATE: Final = ("year", "month", "day")
_POSITION: Final = ("lat", "lng", "altitude", "cell_id", "place", "country")
#: Value of an edit -> the attributes of the photo that null gives back to the files, if not the one of its name.
_GIVEN_BACK: Final[dict[str, tuple[str, ...]]] = {
    **{name: _DATE[number:] for number, name in enumerate(_DATE)},  # an unknown part hides the later ones
    **dict.fromkeys(("taken_at", "taken_at_local"), ("taken_at_local", *_DATE)),
    **dict.fromkeys(("lat", "lng"), _POSITION),
    **dict.fromkeys(("camera_id", "camera_make", "camera_model"), ("camera", "camera_serial")),
    **dict.fromkeys(("lens_id", "lens_make", "lens_model"), ("lens",)),
}
#: Value of an edit that null gives back -> its source column.
_SOURCES: Final = {
    **{
        field.column: field.source
        for field in FIELDS
        if field.is_plain or field.column in {"time_zone", "altitude", "country"}
    },
    KEYWORDS: "keywords_src",
    **dict.fromkeys(("taken_at", "taken_at_local", *_DATE), "taken_src"),
    **dict.fromkeys(("lat", "lng"), "place_src"),
    **{name: "camera_src" for name in _GIVEN_BACK if name.startswith(("camera_", "lens_"))},
}
#: The values that differ, as they were and as they are.
Difference: TypeAlias = tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Each:
    """Changes that depend on the values of each photo."""

    add_keywords: Sequence[str] = ()
    remove_keywords: Sequence[str] = ()
    shift: int = 0
    """Seconds by which known times move."""

    def values(self, photo: Photo, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values for this photo: `values`, which all photos get, and values that depend on the photo.

        Raises:
            InvalidValueError: the photo would have too many keywords, or a time that no calendar has.
        """
        result = dict(values)
        if self.add_keywords or self.remove_keywords:
            result["keywords"] = self._keywords(photo, values.get("keywords"))
        if self.shift and (local := values.get("taken_at_local") or photo.taken_at_local) != ZERO_TIME:
            try:
                result["taken_at_local"] = local + timedelta(seconds=self.shift)
            except OverflowError:
                msg = f"the time of {photo.uid} would be outside of the calendar"
                raise InvalidValueError(msg, field="shift") from None
        return result

    def _keywords(self, photo: Photo, given: Sequence[str] | None) -> list[str]:
        words = [keyword.word for keyword in photo.keywords] if given is None else given
        removed = {fold(word) for word in self.remove_keywords}
        by_fold = {fold(word): word for word in (*self.add_keywords, *words)}
        by_fold = {folded: word for folded, word in by_fold.items() if folded not in removed}
        if len(by_fold) > limits.KEYWORDS:
            raise InvalidValueError(
                f"{photo.uid} would have more than {limits.KEYWORDS} keywords", field="add_keywords"
            )
        return list(by_fold.values())


def apply(photo: Photo, values: Mapping[str, Any], shared_rows: SharedRows) -> None:
    """Write a person's values into a photo. Values equal to the present ones change nothing.

    Args:
        values: as `PhotoEditSchema` loads them; an absent value stays, None restores the value of the files.

    Raises:
        InvalidValueError: values contradict each other, or name an unknown camera, lens or zone.
    """
    if "caption" in values:  # the newer name; if both are sent, the one that differs from the present value counts
        caption, description = values["caption"], values.get("description")
        is_present = is_shown_as(photo.description, caption) or caption is None
        values = {**values, "description": caption if description is None or not is_present else description}
    if restored := [name for name in _SOURCES if name in values and values[name] is None]:
        _give_back(photo, restored, shared_rows)
        values = {name: value for name, value in values.items() if value is not None}
    for field in _PLAIN:
        name = field.column
        if name in values and not is_shown_as(getattr(photo, name), values[name]):
            setattr(photo, name, values[name])
            if field.source:
                setattr(photo, field.source, MANUAL)
    if "keywords" in values:
        _set_keywords(photo, values["keywords"], shared_rows)
    _set_time(photo, values)
    _set_place(photo, values, shared_rows)
    _set_camera(photo, values, shared_rows)


def approve(photo: Photo) -> None:
    """Take a photo out of review."""
    photo.approved = True


def keep_keywords(photo: Photo) -> None:
    """Make the present keywords those of a person, so that files no longer change them."""
    photo.keywords_src = MANUAL


def is_shown_as(own: Any, given: Any, places: int = 2) -> bool:  # noqa: ANN401
    """Return whether records show the own value as the given one, so that a client that sends it back edits nothing.

    Records show times in whole seconds, and numbers with `places` decimals, which some clients read in single
    precision. Texts are cleaned when they arrive.
    """
    if isinstance(own, float):
        return pack("f", round(own, places)) == pack("f", given)
    if isinstance(own, datetime):
        return given in {own, own.replace(microsecond=0)}
    if isinstance(own, str):
        return given in {own, clean_line(own), clean_lines(own)}
    return bool(own == given)


def _give_back(photo: Photo, names: Collection[str], shared_rows: SharedRows) -> None:
    """Restore values of the files; other values of the same source stay those of a person.

    Args:
        names: of `_SOURCES`.
    """
    sources = {_SOURCES[name] for name in names} - {""}
    files = as_in_files(photo, sources, sidecars_of(shared_rows.session, [photo.id]), shared_rows)
    given_back = {column for name in names for column in _given_back_with(name)}
    for column in given_back:
        setattr(photo, column, getattr(files, column))
    if "country" in names:  # the country of the position, which a person may have set
        photo.country = photo.place.country
    if "taken_src" in sources:
        if photo.taken_at_local.date() != files.taken_at_local.date():  # parts of the files' date would contradict
            for name in given_back.intersection(_DATE):
                setattr(photo, name, getattr(photo.taken_at_local, name))
        _hide_parts(photo)
        photo.taken_at = to_utc(photo.taken_at_local.replace(tzinfo=None), photo.time_zone)
    for source in sources:
        columns = {column for name, own in _SOURCES.items() if own == source for column in _given_back_with(name)}
        if all(_stored(getattr(photo, column)) == _stored(getattr(files, column)) for column in columns):
            setattr(photo, source, getattr(files, source))
            if source == "taken_src":
                photo.taken_at = files.taken_at


def _given_back_with(name: str) -> tuple[str, ...]:
    """Return the attributes of the photo that null for a value of an edit gives back to the files."""
    return _GIVEN_BACK.get(name, (name,))


def _stored(value: Any) -> Any:  # noqa: ANN401
    """Return the id of a row, or a plain value, for comparison."""
    return getattr(value, "id", value)


def _hide_parts(photo: Photo) -> None:
    """Make the parts of a date unknown after the first unknown one."""
    parts = [photo.year, photo.month, photo.day]
    known = parts.index(-1) if -1 in parts else len(parts)
    photo.year, photo.month, photo.day = (*parts[:known], -1, -1, -1)[:3]


def _set_keywords(photo: Photo, words: Sequence[str], shared_rows: SharedRows) -> None:
    keywords = shared_rows.keywords(words)
    if {keyword.folded for keyword in keywords} != {keyword.folded for keyword in photo.keywords}:
        photo.keywords, photo.keywords_src = keywords, MANUAL


def _set_time(photo: Photo, values: Mapping[str, Any]) -> None:
    """Write the times. If both are given, the wall time counts; a zone alone moves the UTC time."""
    names = ("taken_at", "taken_at_local", "time_zone", *_DATE)
    changed = {name: values[name] for name in names if name in values}
    changed = {name: value for name, value in changed.items() if not is_shown_as(getattr(photo, name), value)}
    if not changed:
        return
    zone = changed.get("time_zone", photo.time_zone)
    if not is_zone(zone):
        raise InvalidValueError(
            Message("{name} is not the name of a time zone", name=repr(zone[:40])), field="TimeZone"
        )
    if "taken_at" in changed and "taken_at_local" not in changed:
        photo.taken_at = changed["taken_at"]
        photo.taken_at_local = to_local(photo.taken_at, zone).replace(tzinfo=UTC)
    else:
        local = changed.get("taken_at_local", photo.taken_at_local)
        photo.taken_at_local, photo.taken_at = local, to_utc(local.replace(tzinfo=None), zone)
    photo.time_zone, photo.taken_src = zone, MANUAL
    # A partly known date stays partly known, unless a whole one is given.
    has_date = "taken_at" in changed or "taken_at_local" in changed
    for name in _DATE:
        known = getattr(photo.taken_at_local, name)
        if changed.get(name, -1) not in {-1, known}:
            msg = f"{changed[name]} is not that of TakenAtLocal; change TakenAtLocal, or send -1 for unknown"
            raise InvalidValueError(msg, field=name.capitalize())
        stays_unknown = name not in changed and not has_date and getattr(photo, name) == -1
        setattr(photo, name, -1 if values.get(name) == -1 or stays_unknown else known)
    _hide_parts(photo)


def _set_place(photo: Photo, values: Mapping[str, Any], shared_rows: SharedRows) -> None:
    if not values.keys() & {"lat", "lng", "altitude", "country"}:
        return
    lat, lng = values.get("lat", photo.lat), values.get("lng", photo.lng)
    if not (is_shown_as(photo.lat, lat, 7) and is_shown_as(photo.lng, lng, 7)):
        if not is_position(lat, lng):
            raise InvalidValueError("latitudes are from -90 to 90, longitudes from -180 to 180", field="Lat")
        cell = shared_rows.cell(lat, lng) if (lat, lng) != (0, 0) else shared_rows.nowhere()
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


def _set_camera(photo: Photo, values: Mapping[str, Any], shared_rows: SharedRows) -> None:
    """Write the camera and the lens by id, or by make and model; an unknown model is added."""
    for field, kind, find, attribute in (
        ("CameraID", Camera, shared_rows.camera, "camera"),
        ("LensID", Lens, shared_rows.lens, "lens"),
    ):
        wanted_id = values.get(f"{attribute}_id")
        current = getattr(photo, attribute)
        make, model = values.get(f"{attribute}_make", current.make), values.get(f"{attribute}_model", current.model)
        chosen = current
        if wanted_id is not None and wanted_id != current.id:
            chosen = shared_rows.with_id(kind, wanted_id)
            if chosen is None:
                raise InvalidValueError(f"there is no {attribute} {wanted_id}", field=field)
        elif not (is_shown_as(current.make, make) and is_shown_as(current.model, model)):
            chosen = find(make, model)
        if chosen.id != current.id:
            setattr(photo, attribute, chosen)
            photo.camera_src = MANUAL


def undo(shared_rows: SharedRows, photo: Photo, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Restore the values from before a change. Values that only followed, such as a title from the place, follow again.

    Raises:
        ConflictError: the values changed since, or such a change cannot be undone; it names the fields.
    """
    names, present = list(decided(before, after)), snapshot(photo)
    if changed := [wire_name(name) for name in names if present[name] != after[name]]:
        raise ConflictError(f"changed since then: {', '.join(changed)}", field=changed[0])
    if not names:
        raise ConflictError("this change cannot be undone")
    restore_values(photo, {name: before[name] for name in names}, shared_rows)


def snapshot(photo: Photo) -> dict[str, Any]:
    """Return all values that people change, in the form of JSON."""
    values = dict(zip(_COPIED, _copied(photo), strict=True))
    values |= {column: getattr(photo, relation).id for column, relation in _RELATED.items()}
    for name in _TIMES:
        values[name] = values[name].isoformat() if values[name] is not None else None
    chosen = next((file.uid for file in photo.files if file.primary_src == MANUAL), "")
    turned = {file.uid: file.orientation for file in photo.files if file.orientation_src == MANUAL}
    names = {file.uid: chosen_names(file) for file in photo.files if file.chosen_names}
    areas = {file.uid: list(map(asdict, added_areas(file))) for file in photo.files if file.added_areas}
    keywords = sorted(keyword.word for keyword in photo.keywords)
    files = sorted(file.name for file in photo.files if not file.missing)
    stacked = {file.uid: file.stacked_from for file in photo.files if file.stacked_from}
    values |= {KEYWORDS: keywords, PRIMARY: chosen, ORIENTATIONS: turned, NAMES: names, AREAS: areas, FILES: files}
    values[STACKED] = stacked
    return values


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return the values that differ, with their sources."""
    if before == after:
        return {}, {}
    names = {name for name in before if before[name] != after[name]}
    names |= {source for source, sourced in _SOURCED.items() if not names.isdisjoint(sourced)}
    listed = [name for name in before if name in names]
    return {name: before[name] for name in listed}, {name: after[name] for name in listed}


def decided(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the values in a difference that a person set, or gave back to the files.

    The other values follow from these, such as a title from the place. If a file left the photo, there are none.
    """
    if FILES in after:
        return
    for source, names in _SOURCED.items():
        if source in after and MANUAL in (before[source], after[source]):
            yield from (name for name in (*names, source) if name in after)
    yield from (name for name in _DECIDED if name in after)


def restore_values(photo: Photo, values: Mapping[str, Any], shared_rows: SharedRows) -> None:
    """Write values of a snapshot into a photo."""
    for name, stored_value in values.items():
        if name in _RELATED:
            relation = _RELATED[name]
            setattr(photo, relation, shared_rows.with_id(_KINDS[relation], stored_value))
        elif name == KEYWORDS:
            photo.keywords = shared_rows.keywords(stored_value)
        elif name == PRIMARY:
            for file in photo.files:
                file.primary_src = MANUAL if file.uid == stored_value else ""
        elif name == NAMES:
            for file in photo.files:
                set_chosen_names(file, stored_value.get(file.uid, ()))
        elif name == AREAS:
            for file in photo.files:
                set_added_areas(file, [Region(**area) for area in stored_value.get(file.uid, ())])
        elif name == ORIENTATIONS:
            for file in photo.files:
                choose_orientation(file, stored_value.get(file.uid))
        else:
            timed = name in _TIMES and stored_value is not None
            setattr(photo, name, datetime.fromisoformat(stored_value) if timed else stored_value)


def wire_name(name: str) -> str:
    """Return the name of a value on the wire."""
    return _WIRE.get(name) or "".join(part.capitalize() for part in name.split("_"))
