"""The form of a photo, which works without scripts: its values and the names of the people on it, saved together."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from flask import Response, request, url_for

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.library.apply import apply
from photosvc.library.people import name_area
from photosvc.pages.forms import read_form, sentence
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages, see_other, show
from photosvc.pages.photo_values import (
    field_of_area,
    groups_of,
    merge,
    names_in,
    request_of,
    typed_values,
    values_of,
    version_of,
)
from photosvc.pages.tiles import alt_text, read_asked
from photosvc.query.fold import words
from photosvc.records.edits import PhotoEditSchema
from photosvc.records.people import MarkerEditSchema
from photosvc.web.changes import Editing, PhotoChangedError, change_one, read_record
from photosvc.web.contract import InvalidBodyError, load_values

#: Characters read of a field, more than any may have, so that too long texts are refused instead of cut off; the most
#: bytes of the form.
_LONGEST: Final = 70_000
_MOST: Final = 256 * 1024
#: Tries to save a form while others change the same photo, before the form is shown again.
_TRIES: Final = 3
#: Names of values in the API and of the field that asks for them.
_POSITION: Final = ("Lat", "Lng")
_FIELD_OF: Final = {**dict.fromkeys(_POSITION, "Position"), "TakenAt": "TakenAtLocal"}
_NO_POSITION: Final = "Latitudes are from -90 to 90, longitudes from -180 to 180."
_schema, _area_schema = PhotoEditSchema(), MarkerEditSchema()


@pages.get("/photos/<uid>/edit", endpoint="edit_photo")
@page("photos.update")
def edit(uid: str) -> Response:
    """Show the form with the values of the photo."""
    record, _ = _read(uid)
    return _form(record, values_of(record))


@pages.post("/photos/<uid>/edit", endpoint="change_photo")
@page("photos.update")
def change(uid: str) -> Response:
    """Save the values that were changed in the form, unless others have changed the same ones since it was opened."""
    form = read_form(longest=_LONGEST, most=_MOST)
    for _ in range(_TRIES):
        record, tag = _read(uid)
        present = values_of(record)
        merged = merge(typed_values(form, present), present, form.get("version", ""))
        if merged.clashes:
            return _form(record, merged.values, status=ConflictError.status, present=merged.clashes)
        try:
            if merged.changed:
                _save(uid, merged.changed, tag)
        except PhotoChangedError:  # between reading and writing
            continue
        except (InvalidValueError, ConflictError) as error:
            return _form(record, merged.values, status=error.status, errors=_errors(error, present))
        return see_other(_photo_page(uid, done="saved"))
    raise PhotoChangedError


def _read(uid: str) -> tuple[dict[str, Any], str]:
    """Return the record of a photo and its entity tag."""
    try:
        body, tag = read_record(uid)
    except NotFoundError:
        raise NotFoundError(N_("This photo does not exist, or you have no permission to see it.")) from None
    return orjson.loads(body), tag


def _save(uid: str, changed: Mapping[str, str], tag: str) -> None:
    loaded = load_values(_schema, request_of(changed))
    values = {**loaded, **(loaded.pop("details", None) or {})}
    names = {area: _checked_name(area, name) for area, name in names_in(changed).items()}

    def write(editing: Editing) -> None:
        apply(editing.photo, values, editing.catalog)
        for area, name in names.items():
            name_area(editing.session, editing.photo, area, name)

    change_one(uid, "photos.update", write, {tag})


def _checked_name(area: str, name: str) -> str:
    try:
        checked: str = load_values(_area_schema, {"Name": name})["name"]
    except InvalidBodyError as error:
        raise InvalidValueError(error.details[0]["message"], field=field_of_area(area)) from None
    if checked and not words(checked):
        raise InvalidValueError(N_("Type a name with letters or digits."), field=field_of_area(area))
    return checked


def _errors(error: PhotosvcError, fields: Mapping[str, str]) -> dict[str, str]:
    """Return messages by field; `""` stands for the whole form."""
    found = {}
    for detail in error.details or [{"field": error.field or "", "message": error.message}]:
        field = detail["field"].removeprefix("Details.")
        name = _FIELD_OF.get(field, field)
        message = sentence(detail["message"].removeprefix(f"{detail['field']}: "))
        found[name if name in fields else ""] = _NO_POSITION if field in _POSITION else message
    return found


def _photo_page(uid: str, done: str = "") -> str:
    """Return the address of the photo within the search that the request names."""
    address = url_for(".photo", uid=uid) + read_asked(request.args).where
    return f"{address}{'&' if '?' in address else '?'}done={done}" if done else address


def _form(
    record: dict[str, Any],
    values: Mapping[str, str],
    *,
    status: int = 200,
    errors: Mapping[str, str] | None = None,
    present: Mapping[str, str] | None = None,
) -> Response:
    """Show the form.

    Args:
        errors: messages by field.
        present: the values that others saved meanwhile, of the fields that were changed here, too.
    """
    return show(
        "photo-edit",
        status,
        photo=record,
        alt=alt_text(record),
        groups=groups_of(record),
        values=values,
        errors=errors or {},
        present=present or {},
        version=version_of(values_of(record)),
        where=read_asked(request.args).where,
        back=_photo_page(record["UID"]),
    )
