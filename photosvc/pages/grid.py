"""The grid of a search: tiles that the server makes, and the photos and data that its scripts begin with."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any, Final

from flask import request, url_for
from sqlalchemy import Connection

from photosvc.auth.link_tokens import preview_token
from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.core.vocabulary import TYPES, UNKNOWN, UNKNOWN_PLACE
from photosvc.pages.language import N_, _, date_text
from photosvc.pages.layout import asset
from photosvc.pages.search_state import SearchState
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.pictures.sizes import NAMED, thumbnail_size
from photosvc.records.limits import ITEMS
from photosvc.search.reading.files import turns_of
from photosvc.search.reading.pages import find
from photosvc.search.reading.request import SearchRequest
from photosvc.search.reading.selection import MOST_SELECTED
from photosvc.web.service import current_service

Record = Mapping[str, Any]
#: Style classes have no decimals: shapes are rounded to multiples of 0.05, between the narrowest and widest tile.
_STEP: Final = 5
_NARROWEST, _WIDEST = 40, 300
_SHOWN: Final = tuple(NAMED[name] for name in ("fit_360", "fit_720"))
#: Heights of rows in the style sheet, in pixels, and the factor by which a row may grow until it is full.
_ROW, _PHONE_ROW, _GROWTH = 220, 128, 1.3
_VIDEO, _LIVE, _ANIMATED = "video", "live", "animated"
_BADGES: Final = {_LIVE: N_("Live"), _ANIMATED: "GIF", "raw": "RAW"}
#: The names that the scripts have for rights, with the actions that each needs.
_RIGHTS: Final = {
    "update": ("photos.update",), "albums": ("albums.update", "albums.create"), "download": ("photos.download",),
    "share": ("links.make", "albums.create"), "upload": ("files.upload",),
    "delete": ("photos.delete",), "untrash": ("trash.restore",),
    "people": ("people.update", "people.search"),
}  # fmt: skip
_TIMELINE: Final = "/photos/timeline"
_DIGITS: Final = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Tile:
    """A photo in a grid that the server makes: of a shared album, or of an album to arrange."""

    uid: str
    alt: str
    shape: int
    """Width by height in hundredths, rounded: a style class."""
    color: str
    """The digit of its main colour: a style class."""
    src: str
    srcset: str
    sizes: str
    width: int
    height: int
    badge: str
    """Its kind unless it is a plain picture; for a video its length."""
    playable: bool


def records_of(
    connection: Connection, search_request: SearchRequest, *, sees_private: bool
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the results of a search, and the turns of their files for `Thumbnails`."""
    page = find(connection, search_request, sees_private=sees_private)
    records = [record for records in page.results() for record in records]
    return records, turns_of(connection, {record["Hash"] for record in records})


def month_label(year: int, month: int) -> str:
    """Return a month in words: `May 2023`."""
    return date_text(date(year, month, 1), "month")


def taken_label(record: Record) -> str:
    """Return the known part of a photo's date: `18 October 2026`, `May 1987`, `1987`, or nothing."""
    if iso := _day(record):
        return date_text(date.fromisoformat(iso))
    if record["Year"] <= 0:
        return ""
    return month_label(record["Year"], record["Month"]) if record["Month"] > 0 else str(record["Year"])


def title_of(record: Record) -> str:
    """Return the title of a photo; empty for the title that the index gives to photos without one."""
    title = record["Title"].strip()
    return "" if title == UNKNOWN and not record.get("TitleSrc") else str(title)


def alt_text(record: Record) -> str:
    """Return the alternative text of a picture."""
    if title := title_of(record):
        return title
    kind = _("Video") if record["Type"] == _VIDEO else _("Photo")
    return ", ".join(filter(None, (kind, taken_label(record), _place(record))))


def duration_text(nanoseconds: int) -> str:
    """Return a playing time: `0:42`, `1:02:03`."""
    minutes, seconds = divmod(round(nanoseconds / 10**9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def tile_of(record: Record, thumbs: ThumbnailAddresses) -> Tile:
    """Return the tile of a search result."""
    width, height = record["Width"], record["Height"]
    ratio = width / height if width > 0 and height > 0 else 1.0
    shape = min(max(round(ratio * 100 / _STEP) * _STEP, _NARROWEST), _WIDEST)
    kind, content_hash = record["Type"], record["Hash"]
    whole = (max(width, 1), max(height, 1))
    sources: list[str] = []
    for size in _SHOWN:
        shown = f"{thumbs.address(content_hash, size.name)} {thumbnail_size(whole, size)[0]}w"
        if not sources or not sources[-1].endswith(shown.rpartition(" ")[2]):
            sources.append(shown)
    phone, desk = (round(shape / 100 * row * _GROWTH) for row in (_PHONE_ROW, _ROW))
    playing = duration_text(record.get("Duration", 0)) if kind == _VIDEO else ""
    return Tile(
        uid=record["UID"],
        alt=alt_text(record),
        shape=shape,
        color=f"{record['Color']:x}" if 0 <= record["Color"] <= 0xF else "1",
        src=thumbs.address(content_hash, _SHOWN[0].name),
        srcset=", ".join(sources),
        sizes=f"(max-width: 699px) {phone}px, {desk}px",
        width=width,
        height=height,
        badge=playing or _(_BADGES.get(kind, "")),
        playable=kind in {_VIDEO, _LIVE},
    )


def _day(record: Record) -> str:
    """Return the local date on which it was taken; empty when that is not known to the day."""
    known = record["Year"] > 0 and record["Month"] > 0 and record["Day"] > 0
    return f"{record['Year']:04}-{record['Month']:02}-{record['Day']:02}" if known else ""


def _place(record: Record) -> str:
    city = str(record["PlaceCity"])
    return "" if city in {"", UNKNOWN_PLACE, UNKNOWN} else city


def first_months(records: Iterable[Record], turns: Mapping[str, int], *, oldest_first: bool) -> dict[str, Any]:
    """Return columns and photos of these search results, which are sorted by time; `turns` as for `Thumbnails`.

    Searches sort by UTC, with photos without a year at their end. The timeline sorts by local days first, with photos
    without a month at its end, so these are left out here.
    """
    dated = sorted(filter(_month, records), key=_local_day, reverse=not oldest_first)
    months = [(name, list(of_month)) for name, of_month in groupby(dated, key=_month)]
    return {
        "months": [_month_columns(name, of_month) for name, of_month in months],
        "photos": [_photo(record, turns) for record in dated],
    }


def first_positions(records: Sequence[Record], turns: Mapping[str, int], *, version: str, total: int) -> dict[str, Any]:
    """Return columns and photos of these search results in their order; `turns` as for `Thumbnails`."""
    photos = [_photo(record, turns) for record in records]
    return {"version": version, "total": total, **_columns(records), "photos": photos}


def shared_positions(
    records: Sequence[Record], turns: Mapping[str, int], own: Collection[str], *, start: int, total: int
) -> dict[str, Any]:
    """Return these photos of a shared album from the position `start` on, in the form of `GET /photos/sequence`.

    The number of photos is their version: that of the library would tell visitors when it changes.
    """
    photos = [{**_shared_photo(record, turns), "own": record["UID"] in own} for record in records]
    return {"version": str(total), "total": total, "from": start, "next": "", **_columns(records), "photos": photos}


def _shared_photo(record: Record, turns: Mapping[str, int]) -> dict[str, Any]:
    """Return a photo as the viewer shows it to visitors: without file, folder, people, keywords and marks."""
    place = str(record["PlaceLabel"])
    about = taken_label(record), "" if place in {UNKNOWN_PLACE, UNKNOWN} else place
    return {
        "uid": record["UID"],
        "hash": record["Hash"],
        "duration": record.get("Duration", 0),
        "favorite": False,
        "private": False,
        "width": record["Width"],
        "height": record["Height"],
        "turn": turns.get(record["Hash"], 1),
        "text": alt_text(record),
        "title": title_of(record),
        "about": " · ".join(filter(None, about)),
        "description": record["Description"].strip(),
        "camera": camera_text(record),
    }


def camera_text(record: Record) -> str:
    """Return camera and exposure in one line: `Sony A6400 · ƒ/8 · 1/125 s · ISO 100 · 24 mm`."""
    model = str(record["CameraModel"])
    make = "" if model.lower().startswith(str(record["CameraMake"]).lower()) else record["CameraMake"]
    parts = [
        "" if model in {"", UNKNOWN} else f"{make} {model}".strip(),
        f"ƒ/{record['FNumber']:g}" if record["FNumber"] > 0 else "",
        f"{record['Exposure']} s" if record["Exposure"] else "",
        f"ISO {record['Iso']}" if record["Iso"] > 0 else "",
        f"{record['FocalLength']} mm" if record["FocalLength"] > 0 else "",
    ]
    return " · ".join(filter(None, parts))


def _month_columns(name: str, photos: Sequence[Record]) -> dict[str, Any]:
    days = [(day, len(list(same))) for day, same in groupby(max(photo["Day"], 0) for photo in photos)]
    return {"name": name, "days": days, **_columns(photos)}


def _columns(photos: Sequence[Record]) -> dict[str, Any]:
    return {
        "ratio": [_ratio(photo) for photo in photos],
        "color": "".join(_DIGITS[photo["Color"]] if 0 <= photo["Color"] < len(_DIGITS) else "0" for photo in photos),
        "type": "".join(str(TYPES.index(photo["Type"])) if photo["Type"] in TYPES else "0" for photo in photos),
    }


def _photo(record: Record, turns: Mapping[str, int]) -> tuple[Any, ...]:
    """Return UID, hash, duration, favorite, private, turn and text of a photo."""
    text = title_of(record) or record["Description"].strip()
    marks = int(bool(record["Favorite"])), int(bool(record["Private"]))
    return (record["UID"], record["Hash"], record.get("Duration", 0), *marks, turns.get(record["Hash"], 1), text[:200])


def _month(record: Record) -> str:
    """Return the month as the timeline writes it; empty when it is unknown."""
    known = record["Year"] > 0 and record["Month"] > 0
    return f"{record['Year']:04}-{record['Month']:02}" if known else ""


def _local_day(record: Record) -> tuple[int, int, int]:
    return record["Year"], record["Month"], max(record["Day"], 0)


def _ratio(record: Record) -> int:
    width, height = record["Width"], record["Height"]
    return (round(100 * width / height) or 100) if width > 0 and height > 0 else 100


def media_data(who: Principal) -> dict[str, str]:
    """Return the addresses of thumbnails and videos for the scripts of a grid, and what one action takes."""
    token = preview_token(current_service().settings, who)
    return {
        "thumbs": url_for("photosvc.thumbnails.thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=1),
        "videos": url_for("photosvc.videos.video", content_hash="HASH", token=token, video_format="avc"),
        "portion": str(ITEMS),
        "mostphotos": str(MOST_SELECTED),
    }


def grid_data(who: Principal, search: SearchState, *, of_album: Collection[str] = ()) -> dict[str, str]:
    """Return the data attributes of the grid for its scripts.

    `of_album` are further rights of principals that may change albums.
    """
    settings = current_service().settings
    in_archive = "archived:true" in search.whole.lower().split()
    rights = [name for name, actions in _RIGHTS.items() if all(may(who, action) for action in actions)]
    if may(who, "albums.update"):
        rights += of_album
    # Without a trash and the right to restore from it, somebody has to archive a photo before it can be deleted.
    comes_back = settings.delete_originals and "untrash" in rights
    if not (in_archive or comes_back) or (settings.delete_originals and settings.readonly):
        rights = [name for name in rights if name != "delete"]
    return {
        "api": url_for("photosvc.timeline.timeline").removesuffix(_TIMELINE),
        **media_data(who),
        "photo": url_for(".photo", uid="UID") + search.where,
        "photos": url_for(".photos"),
        "places": url_for(".places"),
        "outline": asset("vendor/world-atlas/world.svg"),
        "albumpage": url_for(".album", uid="UID"),
        "query": search.whole,
        "album": search.album,
        "order": search.order or search.usual,
        "seed": search.seed,
        "may": " ".join(rights),
        "archive": "1" if in_archive else "",
        "review": "1" if search.shelf == "review" else "",
        "deletes": "trash" if settings.delete_originals else "",
        "trashdays": str(settings.trash_days),
        "link": current_service().address_of(request, "/s/TOKEN"),
        "user": who.user_uid or "",
        "mostbytes": str(settings.max_file_size << 20),
    }
