"""The first photos of a search for the scripts of the grid, which show them before they know how many there are.

The columns of a month are those of `GET /photos/timeline/{month}`, as far as the photos of the page go.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from photosvc.search.reading.overview.timeline import TYPES

Record = Mapping[str, Any]

_DIGITS = "0123456789abcdef"


def first_screen(records: Iterable[Record], *, oldest_first: bool) -> dict[str, Any]:
    """Columns and photos of these search results, which are in order of time.

    Searches sort by UTC, and photos without a date among the others; the timeline sorts by local days first, and has
    those without a date at its end, so that they are left out here.
    """
    dated = sorted(filter(_month, records), key=_day, reverse=not oldest_first)
    months = [(name, list(photos)) for name, photos in groupby(dated, key=_month)]
    return {"months": [_columns(name, photos) for name, photos in months], "photos": [_photo(one) for one in dated]}


def _columns(name: str, photos: Sequence[Record]) -> dict[str, Any]:
    return {
        "name": name,
        "days": [(day, len(list(same))) for day, same in groupby(max(photo["Day"], 0) for photo in photos)],
        "ratio": [_ratio(photo) for photo in photos],
        "color": "".join(_DIGITS[photo["Color"]] if 0 <= photo["Color"] < len(_DIGITS) else "0" for photo in photos),
        "type": "".join(str(TYPES.index(photo["Type"])) if photo["Type"] in TYPES else "0" for photo in photos),
    }


def _photo(record: Record) -> tuple[Any, ...]:
    """UID, hash, duration, favorite, private, text."""
    text = next((text.strip() for text in (record["Title"], record["Description"]) if text.strip()), "")
    marks = int(bool(record["Favorite"])), int(bool(record["Private"]))
    return (record["UID"], record["Hash"], record.get("Duration", 0), *marks, text[:200])


def _month(record: Record) -> str:
    """As the timeline writes it; empty when it is unknown."""
    known = record["Year"] > 0 and record["Month"] > 0
    return f"{record['Year']:04}-{record['Month']:02}" if known else ""


def _day(record: Record) -> tuple[int, int, int]:
    return record["Year"], record["Month"], max(record["Day"], 0)


def _ratio(record: Record) -> int:
    width, height = record["Width"], record["Height"]
    return (round(100 * width / height) or 100) if width > 0 and height > 0 else 100
