"""The values of a photo that its form asks for: how each is shown, read, and compared with what others saved."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import digest
from photosvc.pages.language import N_, _

#: Characters of a digest in a version: enough that two values differ in it.
_DIGITS: Final = 12
_UNKNOWN: Final = frozenset({"Unknown", "zz"})
#: The beginning of the names of fields for marked areas, before their UID.
_PERSON: Final = "Person-"
#: The most marked areas that a form asks for.
_MOST_PEOPLE: Final = 50
#: Decimals of a position that a form shows: a metre.
_EXACT: Final = 5
STARS: Final = (
    ("5", "★★★★★"), ("4", "★★★★"), ("3", "★★★"), ("2", "★★"), ("1", "★"), ("0", N_("Not rated")),
    ("-1", N_("Rejected")),
)  # fmt: skip
TYPES: Final = (
    ("image", N_("Picture")), ("raw", N_("RAW")), ("live", N_("Live photo")), ("video", N_("Video")),
    ("animated", N_("Animated picture")),
)  # fmt: skip
YES_NO: Final = (("true", N_("Yes")), ("false", N_("No")))
Record = Mapping[str, Any]


class Field(NamedTuple):
    """A field of the form."""

    name: str
    """The name of the value in the API; `Position` stands for `Lat` and `Lng`."""
    label: str
    most: int = 0
    """The most characters of a text; 0 for other kinds of values."""
    kind: str = "text"
    """`text`, `long` for texts of several lines, `number`, `time`, `position` or `choice`."""
    example: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    in_details: bool = False
    """True if the API has it in the object `Details`."""
    language: bool = False
    """True for words of a person, whose language is not that of the page."""


class Group(NamedTuple):
    """Fields under a heading; the first group has none, and stands open."""

    title: str
    fields: tuple[Field, ...]


def _details(name: str, *, most: int = 255, kind: str = "text", example: str = "") -> Field:
    return Field(name, name, most, kind, example, in_details=True, language=True)


GROUPS: Final = (
    Group("", (
        Field("Title", N_("Title"), 200, language=True),
        Field("Description", N_("Description"), 4096, "long", language=True),
        Field("Rating", N_("Rating"), kind="choice", choices=STARS),
        Field("TakenAtLocal", N_("Date and time"), kind="time"),
        _details("Keywords", most=65_536, kind="long", example=N_("lake, boat")),
    )),
    Group(N_("Place and time zone"), (
        Field("Position", N_("Position"), 64, "position", "47.56903, 9.37510"),
        Field("Altitude", N_("Altitude in metres"), 16, "number", "395"),
        Field("Country", N_("Country (if there is no position)"), 2, example="ch"),
        Field("TimeZone", N_("Time zone"), 64, example="Europe/Zurich"),
    )),
    Group(N_("Rights and notes"), (
        *(_details(name) for name in ("Subject", "Artist", "Copyright", "License")),
        _details("Notes", most=4096, kind="long"),
    )),
    Group(N_("Camera and kind"), (
        Field("CameraMake", N_("Camera make"), 255),
        Field("CameraModel", N_("Camera model"), 255),
        Field("LensMake", N_("Lens make"), 255),
        Field("LensModel", N_("Lens model"), 255),
        Field("Iso", N_("ISO"), 16, "number", "400"),
        Field("FocalLength", N_("Focal length in mm"), 16, "number", "50"),
        Field("FNumber", N_("Aperture (f/)"), 16, "number", "2.8"),
        Field("Exposure", N_("Exposure in seconds"), 32, example="1/250"),
        Field("Type", N_("Type"), kind="choice", choices=TYPES),
        Field("Scan", N_("Scanned"), kind="choice", choices=YES_NO),
        Field("Panorama", N_("Panorama"), kind="choice", choices=YES_NO),
    )),
)  # fmt: skip
_FIELDS: Final = {field.name: field for group in GROUPS for field in group.fields}
#: Texts that are given back to the files when they are left empty; other empty texts stay empty.
_GIVEN_BACK: Final = frozenset({"Country", "TimeZone"})


def groups_of(record: Record) -> list[Group]:
    """Return the fields of the form for a photo, with one for each marked area of its files."""
    areas = list(_areas(record))
    labels = (
        [_("Name")] if len(areas) == 1 else [_("Name of area %(number)s", number=at + 1) for at in range(len(areas))]
    )
    people = tuple(
        Field(f"{_PERSON}{area['UID']}", label, 160, example="Ada Lovelace", language=True)
        for area, label in zip(areas, labels, strict=True)
    )
    first, *others = GROUPS
    return [first, *([Group(N_("People"), people)] if people else []), *others]


def _areas(record: Record) -> Iterator[Record]:
    areas = [area for file in record["Files"] for area in file["Markers"]]
    yield from areas[:_MOST_PEOPLE]


def values_of(record: Record) -> dict[str, str]:
    """Return the values of a record as the form shows them, by the names of its fields."""
    values = {name: _shown(field, record).strip() for name, field in _FIELDS.items()}
    return values | {f"{_PERSON}{area['UID']}": area["Name"].strip() for area in _areas(record)}


def _shown(field: Field, record: Record) -> str:
    if field.kind == "position":
        placed = record["Lat"] or record["Lng"]
        return f"{record['Lat']:.{_EXACT}f}, {record['Lng']:.{_EXACT}f}" if placed else ""
    if field.kind == "time":
        return str(record["TakenAtLocal"])[:19] if record["Year"] > 0 else ""
    value = (record["Details"] if field.in_details else record).get(field.name)
    if field.name == "Rating":
        return str(value or 0)
    if isinstance(value, bool):
        return "true" if value else "false"
    if field.kind == "number":
        return (str(value).removesuffix(".0")) if value else ""
    return "" if value in _UNKNOWN else str(value or "")


def typed_values(form: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    """Return the values of a form in the way `values_of` has them; a field that the form lacks keeps its value."""
    return {name: _tidy(name, form[name]) if name in form else value for name, value in present.items()}


def _tidy(name: str, text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    field = _FIELDS.get(name)
    if field is not None and field.kind == "time":
        with suppress(ValueError):  # `read` tells what is wrong with it
            return datetime.fromisoformat(text).replace(tzinfo=None).isoformat(timespec="seconds")
    return text


def version_of(values: Mapping[str, str]) -> str:
    """Return a text from which `Merge` learns later which of these values were changed since."""
    return " ".join(f"{name}:{_brief(value)}" for name, value in values.items())


def _brief(value: str) -> str:
    return digest(value)[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Merge:
    """A form that was sent, compared with the values that the photo has now."""

    values: Mapping[str, str]
    """The values for the form if it is shown again: what was typed, and elsewhere what the photo has now."""
    changed: Mapping[str, str]
    """The values that were typed, as far as they differ from what the photo has now."""
    clashes: Mapping[str, str]
    """The present values of the fields that others have changed, too, since the form was opened."""


def merge(typed: Mapping[str, str], present: Mapping[str, str], version: str) -> Merge:
    """Compare what was typed with what the photo has now.

    Args:
        typed: the values of the form, see `typed_values`.
        version: the text that `version_of` returned for the values with which the form was opened.
    """
    opened = dict(part.rpartition(":")[::2] for part in version.split())
    values, changed, clashes = dict[str, str](), dict[str, str](), dict[str, str]()
    for name, now in present.items():
        given, before = typed[name], opened.get(name)
        if given == now or before == _brief(given):
            values[name] = now
            continue
        values[name] = changed[name] = given
        if before != _brief(now):
            clashes[name] = now
    return Merge(values, changed, clashes)


def names_in(changed: Mapping[str, str]) -> dict[str, str]:
    """Return the changed names of marked areas by the UIDs of these."""
    return {name.removeprefix(_PERSON): text for name, text in changed.items() if name.startswith(_PERSON)}


def field_of_area(uid: str) -> str:
    """Return the name of the field for a marked area."""
    return f"{_PERSON}{uid}"


def request_of(changed: Mapping[str, str]) -> dict[str, Any]:
    """Return changed values in the form of `PhotoEditSchema`: an empty time, number or position is that of the files.

    Raises:
        InvalidValueError: a number or position is none; the error names its field.
    """
    body, details = dict[str, Any](), dict[str, Any]()
    for name, text in changed.items():
        if (field := _FIELDS.get(name)) is None:
            continue
        if field.kind == "position":
            body |= _position(text)
        else:
            (details if field.in_details else body)[name] = _sent(field, text)
    return {**body, **({"Details": details} if details else {})}


def _sent(field: Field, text: str) -> Any:  # noqa: ANN401 - as JSON has it
    if not text and (field.kind in {"time", "number", "choice"} or field.name in _GIVEN_BACK):
        return None
    if field.kind == "time":
        return f"{text}Z"
    if field.kind == "number":
        return _number(text, field.name)
    if field.choices == YES_NO:
        return text == "true"
    if field.name == "Rating":
        return int(_number(text, field.name))
    return text.lower() if field.name == "Country" else text


def _number(text: str, name: str) -> float:
    try:
        value = float(text.replace(",", ".").replace("−", "-"))
        return int(value) if value == int(value) else value
    except (ValueError, OverflowError):
        raise InvalidValueError(N_("Type a number."), field=name) from None


def _position(text: str) -> dict[str, float | None]:
    if not text:
        return {"Lat": None, "Lng": None}
    parts = text.replace(";", " ").replace(",", " ").split()
    try:
        lat, lng = (float(part) for part in parts)
    except ValueError:
        msg = N_("Type latitude and longitude, such as 47.56903, 9.37510.")
        raise InvalidValueError(msg, field="Position") from None
    return {"Lat": lat, "Lng": lng}
