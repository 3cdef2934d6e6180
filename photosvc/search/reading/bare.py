"""Records of pictures without metadata: for visitors of a public link that shows none.

They have all fields, as strict clients demand. Fields that may tell a place, camera, person, text or name of a file
have the value of a photo about which nothing is known. The time in UTC is the local one, because the difference of both
is the time zone, and so roughly the place.
"""

from typing import Any, Final

import orjson

from photosvc.core.times import ZERO_TIME
from photosvc.records.fields import rfc3339
from photosvc.records.photo import OPTIONAL

_NEVER: Final = rfc3339(ZERO_TIME)
#: Fields that are told; of the optional ones, those that an answer has.
TOLD: Final = frozenset(
    {
        "ID", "UID", "Type", "TakenAtLocal", "Year", "Month", "Day", "Resolution", "Duration", "Color", "Panorama",
        "FileUID", "Hash", "Mime", "Width", "Height", "Portrait",
    }
)  # fmt: skip
#: The other fields of a result with the value of a photo of which nothing is known; `TakenAt` is `TakenAtLocal`.
UNTOLD: Final[dict[str, Any]] = {
    **dict.fromkeys(
        (
            "TypeSrc", "TakenSrc", "TimeZone", "Path", "Name", "OriginalName", "Title", "Description", "Caption",
            "Exposure", "CameraSrc", "CameraSerial", "CameraMake", "CameraModel", "LensModel", "PlaceSrc",
            "PlaceLabel", "PlaceCity", "PlaceState", "InstanceID", "FileRoot", "FileName",
        ),
        "",
    ),
    **dict.fromkeys(("Country", "CellID", "PlaceID", "PlaceCountry"), "zz"),
    **dict.fromkeys(("CameraID", "LensID"), 1),
    **dict.fromkeys(("Stack", "Iso", "FocalLength", "FNumber", "Quality", "Lat", "Lng"), 0),
    **dict.fromkeys(("Favorite", "Private", "Scan"), False),
    **dict.fromkeys(("CreatedAt", "UpdatedAt", "EditedAt", "CheckedAt"), _NEVER),
}  # fmt: skip
#: Fields of a file that are told.
FILE_TOLD: Final = frozenset(
    {
        "UID", "PhotoUID", "Hash", "Size", "Primary", "Codec", "FileType", "MediaType", "Mime", "Width", "Height",
        "Orientation", "AspectRatio", "Colors", "Luminance", "Diff", "Chroma",
    }
)  # fmt: skip
FILE_UNTOLD: Final[dict[str, Any]] = {
    "Name": "", "Root": "", "CreatedAt": _NEVER, "UpdatedAt": _NEVER, "Markers": [],
}  # fmt: skip


def bare_head(head: str) -> str:
    """Return the head of a result, the stored text before `Merged`, without metadata."""
    record = orjson.loads(head + "}")
    bare = {
        name: record[name] if name in TOLD else UNTOLD.get(name, record["TakenAtLocal"])
        for name in record
        if name in TOLD or name not in OPTIONAL
    }
    return orjson.dumps(bare)[:-1].decode()


def bare_file(document: str) -> str:
    """Return the record of a file without metadata."""
    record = orjson.loads(document)
    return orjson.dumps({name: record[name] if name in FILE_TOLD else FILE_UNTOLD[name] for name in record}).decode()
