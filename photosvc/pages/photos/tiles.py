"""Search results as the tiles of a grid: by day, with what a browser needs to choose a thumbnail."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from math import ceil
from typing import Any, Final

from photosvc.pictures.thumbnails.geometry import thumbnail_size
from photosvc.pictures.thumbnails.sizes import NAMED

Record = Mapping[str, Any]

#: Style classes have no decimals: shapes are rounded to the twentieth, within what a row can show.
_STEP: Final = 5
_NARROWEST, _WIDEST = 40, 300
_SHOWN: Final = tuple(NAMED[name] for name in ("fit_360", "fit_720"))
#: Heights of rows in the style sheet, in pixels; a row grows until it is full.
_ROW, _PHONE_ROW, _GROWTH = 220, 128, 1.3
#: Widths of days in the style sheet, in tenths of a row's height; wider ones take the whole width.
_WIDEST_DAY: Final = 140
_GAP: Final = 0.03
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_VIDEO, _LIVE, _ANIMATED = "video", "live", "animated"
_BADGES: Final = {_LIVE: "Live", _ANIMATED: "GIF", "raw": "RAW"}


@dataclass(frozen=True, slots=True)
class Tile:
    """A photo in the grid."""

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
    """Its kind if it is no plain picture; for a video its length."""
    playable: bool
    favorite: bool
    private: bool


@dataclass(frozen=True, slots=True)
class Day:
    """Photos in succession that were taken on one day, or all of an order that does not go by time."""

    iso: str
    """Empty without a date."""
    label: str
    place: str
    width: int
    """In tenths of a row's height: a style class; 0 for the whole width."""
    tiles: Sequence[Tile]


def days_of(records: Iterable[Record], thumbs: str, *, by_day: bool) -> list[Day]:
    """The results, by day or all together.

    Args:
        records: search results in their order.
        thumbs: the address of thumbnails, with `{}` for hash and size.
        by_day: whether the order goes by the time at which photos were taken.

    """
    groups = groupby(records, key=lambda record: _day(record) if by_day else "")
    return [_group(iso, list(found), thumbs, by_day=by_day) for iso, found in groups]


def date_label(iso: str) -> str:
    """A day in words, from its date: `2026-10-18`."""
    day = date.fromisoformat(iso)
    return f"{_WEEKDAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


def month_label(year: int, month: int) -> str:
    """A month in words: `May 2023`."""
    return f"{_MONTHS[month - 1]} {year}"


def alt_text(record: Record) -> str:
    """What a picture shows, for those who do not see it."""
    if title := record["Title"].strip():
        return str(title)
    kind = "Video" if record["Type"] == _VIDEO else "Photo"
    iso = _day(record)
    return ", ".join(filter(None, (kind, date_label(iso).partition(", ")[2] if iso else "", _place(record))))


def duration_text(nanoseconds: int) -> str:
    """How long something plays: `0:42`, `1:02:03`."""
    minutes, seconds = divmod(round(nanoseconds / 10**9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _group(iso: str, records: Sequence[Record], thumbs: str, *, by_day: bool) -> Day:
    tiles = [_tile(record, thumbs) for record in records]
    tenths = ceil(sum(tile.shape for tile in tiles) / 10 + _GAP * 10 * len(tiles))
    places = Counter(filter(None, map(_place, records)))
    place = places.most_common(1)[0][0] if places else ""
    label = date_label(iso) if iso else ("No date" if by_day else "")
    return Day(iso, label, place if by_day else "", tenths if by_day and tenths <= _WIDEST_DAY else 0, tiles)


def _tile(record: Record, thumbs: str) -> Tile:
    width, height = record["Width"], record["Height"]
    ratio = width / height if width > 0 and height > 0 else 1.0
    shape = min(max(round(ratio * 100 / _STEP) * _STEP, _NARROWEST), _WIDEST)
    kind, content_hash = record["Type"], record["Hash"]
    whole = (max(width, 1), max(height, 1))
    sources: list[str] = []
    for size in _SHOWN:
        shown = f"{thumbs.format(content_hash, size.name)} {thumbnail_size(whole, size)[0]}w"
        if not sources or not sources[-1].endswith(shown.rpartition(" ")[2]):
            sources.append(shown)
    phone, desk = (round(shape / 100 * row * _GROWTH) for row in (_PHONE_ROW, _ROW))
    playing = duration_text(record.get("Duration", 0)) if kind == _VIDEO else ""
    return Tile(
        uid=record["UID"],
        alt=alt_text(record),
        shape=shape,
        color=f"{record['Color']:x}" if 0 <= record["Color"] <= 0xF else "1",
        src=thumbs.format(content_hash, _SHOWN[0].name),
        srcset=", ".join(sources),
        sizes=f"(max-width: 699px) {phone}px, {desk}px",
        width=width,
        height=height,
        badge=playing or _BADGES.get(kind, ""),
        playable=kind in {_VIDEO, _LIVE},
        favorite=bool(record["Favorite"]),
        private=bool(record["Private"]),
    )


def _day(record: Record) -> str:
    """The date on which it was taken, where it was; empty when that is not known to the day."""
    known = record["Year"] > 0 and record["Month"] > 0 and record["Day"] > 0
    return f"{record['Year']:04}-{record['Month']:02}-{record['Day']:02}" if known else ""


def _place(record: Record) -> str:
    city = str(record["PlaceCity"])
    return "" if city in {"", "zz", "Unknown"} else city
