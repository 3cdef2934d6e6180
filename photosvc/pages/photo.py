"""The page of a photo: the picture, its properties and files, its neighbours in the search, and its form.

Its script leads to the viewer, over the grid of the search, unless the page has to tell something, the search does not
find the photo, or `page` is in the address.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import orjson
from flask import Response, request, url_for

from photosvc.auth import tokens
from photosvc.auth.policy import may
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.times import ZERO_TIME
from photosvc.library.apply import apply
from photosvc.library.people import name_area
from photosvc.pages.forms import read_form, sentence
from photosvc.pages.language import N_, _, decimal
from photosvc.pages.layout import page, pages, see_other, show, show_kept
from photosvc.pages.marks import Marked, acts_of, read_marked
from photosvc.pages.messages import message_text
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
from photosvc.pages.photos import NAMED
from photosvc.pages.tiles import Asked, Thumbnails, alt_text, date_label, duration_text, read_asked, taken_label
from photosvc.pictures.sizes import SIZES, thumbnail_size
from photosvc.query.fold import words
from photosvc.query.lexer import quote
from photosvc.records.edits import PhotoEditSchema
from photosvc.records.fields import compile_schema, rfc3339
from photosvc.records.people import MarkerEditSchema
from photosvc.records.photo import PhotoSchema, without_empty
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.files import SeenFile, files_of_photo, load_photo
from photosvc.search.reading.library_albums import FOLDER, kind_of
from photosvc.search.reading.pages import Neighbours, neighbours
from photosvc.search.reading.request import parse_request
from photosvc.web.changes import Editing, PhotoChangedError, change_one, read_record
from photosvc.web.contract import InvalidBodyError, is_mounted, load_values
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching

_dump_photo = compile_schema(PhotoSchema())
_SIZES: Final = tuple(SIZES[name] for name in ("fit_720", "fit_1280", "fit_1920", "fit_2560", "fit_3840"))
_UNITS: Final = (N_("bytes"), N_("kB"), N_("MB"), N_("GB"), N_("TB"))
_UNKNOWN: Final = frozenset({"", "Unknown", "zz"})
_ZERO: Final = rfc3339(ZERO_TIME)
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


class Fact(NamedTuple):
    """A property of a photo."""

    name: str
    value: str
    query: str = ""
    """A search for photos that share it; empty: none."""


class Medium(NamedTuple):
    """A file of a photo, described and offered for download."""

    name: str
    kind: str
    size: str
    pixels: str
    href: str
    primary: bool


@pages.get("/photos/<uid>", endpoint="photo")
@page("photos.view")
def show_photo(uid: str) -> Response:
    """Show a photo, within the search that `q`, `s` and `order` name."""
    who = principal()
    search = read_asked(request.args)
    with current_service().reading() as connection:
        seen = files_of_photo(connection, uid, sees_private=who.sees_private) if is_uid(uid, PHOTO) else ()
    if not seen:
        raise NotFoundError(N_("This photo does not exist, or you have no permission to see it."))
    with current_service().reading(orm=True) as session:
        record = without_empty(_dump_photo(load_photo(session, seen, sees_private=who.sees_private)))
    beside = _beside(who.owner_uid, search, seen[0].photo_id, sees_private=who.sees_private)
    marked = Marked(_("Photo saved.")) if request.args.get("done") == "saved" else read_marked()
    named = NAMED.get(search.shelf)
    in_grid = beside is not None and is_mounted("photos.timeline") and (named is None or named.scripted)
    beside = beside or Neighbours(None, None)
    return show_kept(
        "photo",
        photo=record,
        alt=alt_text(record),
        picture=_picture(record, Thumbnails(who, {file.hash: file.turn for file in seen if file.turn != 1})),
        video=_video(record, seen, tokens.preview_token(current_service().settings, who)),
        facts=list(_facts(record)),
        keywords=[label["Label"]["Name"] for label in record["Labels"]],
        with_value=with_value,
        files=[_medium(file, downloads=may(who, "photos.download")) for file in record["Files"]],
        before=beside.before and url_for(".photo", uid=beside.before) + search.where,
        behind=beside.behind and url_for(".photo", uid=beside.behind) + search.where,
        back=search.link(),
        viewed=in_grid and not marked and "page" not in request.args,
        back_label=named.title if named else _back_label(search),
        adds=may(who, "albums.update"),
        acts=acts_of(record) if may(who, "photos.update") else [],
        where=search.where,
        marked=marked,
    )


def _beside(owner_uid: str, search: Asked, photo_id: int, *, sees_private: bool) -> Neighbours | None:
    """Return its neighbours in the search; None if the search is not valid, takes too long or does not find it."""
    with suppress(InvalidValueError, NotFoundError, SearchEndedError):
        asked = parse_request(search.pairs(), current_service().today())
        with searching(owner_uid) as connection:
            return neighbours(connection, asked, photo_id, sees_private=sees_private)
    return None


def _picture(record: dict[str, Any], thumbs: Thumbnails) -> dict[str, Any]:
    whole = (max(record["Width"], 1), max(record["Height"], 1))
    sources: dict[int, str] = {}
    for size in _SIZES:
        sources.setdefault(thumbnail_size(whole, size)[0], thumbs.address(record["Hash"], size.name))
    return {
        "src": thumbs.address(record["Hash"], "fit_1280"),
        "srcset": ", ".join(f"{address} {width}w" for width, address in sources.items()),
        "width": record["Width"],
        "height": record["Height"],
    }


def _video(record: dict[str, Any], seen: Sequence[SeenFile], token: str) -> str:
    """Return the address of its video; empty if it has none."""
    plays = any(file.media_type == "video" or file.motion for file in seen)
    if not plays:
        return ""
    return url_for("photosvc.videos.video", content_hash=record["Hash"], token=token, video_format="avc")


def _facts(record: dict[str, Any]) -> Iterator[Fact]:
    yield _taken(record)
    if (place := record["PlaceLabel"]) not in _UNKNOWN:
        yield Fact(N_("Place"), place, with_value("city", record["PlaceCity"]))
    if record["Lat"] or record["Lng"]:
        yield Fact(N_("Position"), f"{record['Lat']:.5f}, {record['Lng']:.5f}", f"near:{record['UID']}")
    camera = f"{record['CameraMake']} {record['CameraModel']}".strip()
    if record["CameraModel"] not in _UNKNOWN:
        yield Fact(N_("Camera"), camera, with_value("camera", record["CameraModel"]))
    if record["LensModel"] not in _UNKNOWN:
        yield Fact(N_("Lens"), record["LensModel"], with_value("lens", record["LensModel"]))
    exposure = [
        f"{record['Exposure']} s" if record["Exposure"] else "",
        f"f/{record['FNumber']:g}" if record["FNumber"] else "",
        f"ISO {record['Iso']}" if record["Iso"] else "",
        f"{record['FocalLength']} mm" if record["FocalLength"] else "",
    ]
    if any(exposure):
        yield Fact(N_("Exposure"), " · ".join(filter(None, exposure)))
    if record.get("Duration"):
        yield Fact(N_("Duration"), duration_text(record["Duration"]))
    if names := sorted({one["Name"] for file in record["Files"] for one in file["Markers"] if one["Name"]}):
        yield Fact(N_("People"), ", ".join(names))
    details = record["Details"]
    for name in (N_("Artist"), N_("Copyright"), N_("License"), N_("Subject"), N_("Notes")):
        if details[name]:
            yield Fact(name, details[name])
    if albums := [album["Title"] for album in record["Albums"]]:
        yield Fact(N_("Albums"), ", ".join(albums))


def _taken(record: dict[str, Any]) -> Fact:
    """Return the time when it was taken, as far as that is known, and a search for the same day, month or year."""
    local, known = record["TakenAtLocal"], record["Year"] > 0
    if known and min(record["Month"], record["Day"]) > 0 and local != _ZERO:
        return Fact(N_("Taken"), f"{date_label(local[:10])}, {local[11:16]}", f"taken:{local[:10]}")
    if not known:
        return Fact(N_("Taken"), _("The date is not known"))
    month = f" month:{record['Month']}" if record["Month"] > 0 else ""
    return Fact(N_("Taken"), taken_label(record), f"year:{record['Year']}{month}")


def _back_label(search: Asked) -> str:
    if search.shelf or kind_of(search.album) == FOLDER:
        return N_("Folder")
    return N_("Album") if search.album else N_("Photos")


def with_value(name: str, value: str) -> str:
    """Return the query for photos of which a filter has this value; empty for an unknown value."""
    return "" if value in _UNKNOWN else f"{name}:{quote(value, always=True)}"


def _medium(file: dict[str, Any], *, downloads: bool) -> Medium:
    pixels = f"{file['Width']} × {file['Height']}" if file["Width"] else ""
    offered = downloads and is_mounted("photos.download")
    href = url_for("photosvc.downloads.download_file", content_hash=file["Hash"]) if offered else ""
    return Medium(file["Name"], file["FileType"].upper(), size_text(file["Size"]), pixels, href, file["Primary"])


def size_text(size: int) -> str:
    """Return a number of bytes in words: `3.4 MB`."""
    number, unit = float(size), 0
    while number >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{decimal(number, 0 if unit == 0 or number >= 100 else 1)} {_(_UNITS[unit])}"


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
    for _try in range(_TRIES):
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
    values = load_values(_schema, request_of(changed))
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
        message = sentence(message_text(detail["message"]).removeprefix(f"{detail['field']}: "))
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
    """Show the form; `present` are the values that others saved meanwhile, of fields that were changed here, too."""
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
