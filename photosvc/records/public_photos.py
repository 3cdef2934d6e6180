"""Records of photos as visitors of a public link without metadata see them.

They have all fields. Fields that may tell a place, camera, person, text or name of a file have the value of a photo
about which nothing is known. Each link has ids of its own: ids of the library would reveal how many photos it has, and
when each was indexed. The time in UTC is the local one, because the difference of both is the time zone, and so roughly
the place.
"""

from typing import Any, Final

import orjson

from photosvc.core.ids import FILE, PHOTO, alias, permuted
from photosvc.core.times import ZERO_TIME
from photosvc.core.vocabulary import UNKNOWN_PLACE
from photosvc.records.fields import rfc3339
from photosvc.records.photos import OPTIONAL

_NEVER: Final = rfc3339(ZERO_TIME)
#: Fields that visitors see; optional fields only if the answer has them.
PUBLIC: Final = frozenset(
    {
        "Type", "TakenAtLocal", "Year", "Month", "Day", "Resolution", "Duration", "Color", "Panorama", "Hash", "Mime",
        "Width", "Height", "Portrait",
    }
)  # fmt: skip
#: The other fields with the values of a photo of which nothing is known; `TakenAt` becomes `TakenAtLocal`.
EMPTY: Final[dict[str, Any]] = {
    **dict.fromkeys(
        (
            "TypeSrc", "TakenSrc", "TimeZone", "Path", "Name", "OriginalName", "Title", "Description", "Caption",
            "Exposure", "CameraSrc", "CameraSerial", "CameraMake", "CameraModel", "LensModel", "PlaceSrc",
            "PlaceLabel", "PlaceCity", "PlaceState", "InstanceID", "FileRoot", "FileName",
        ),
        "",
    ),
    **dict.fromkeys(("Country", "CellID", "PlaceID", "PlaceCountry"), UNKNOWN_PLACE),
    **dict.fromkeys(("CameraID", "LensID"), 1),
    **dict.fromkeys(("Stack", "Iso", "FocalLength", "FNumber", "Quality", "Lat", "Lng"), 0),
    **dict.fromkeys(("Favorite", "Private", "Scan"), False),
    **dict.fromkeys(("CreatedAt", "UpdatedAt", "EditedAt", "CheckedAt"), _NEVER),
}  # fmt: skip
#: Fields of a file that visitors see.
FILE_PUBLIC: Final = frozenset(
    {
        "Hash", "Size", "Primary", "Codec", "FileType", "MediaType", "Mime", "Width", "Height",
        "Orientation", "AspectRatio", "Colors", "Luminance", "Diff", "Chroma",
        "Sidecar", "Video", "Duration", "FPS", "Frames",
    }
)  # fmt: skip
FILE_EMPTY: Final[dict[str, Any]] = {
    "Name": "", "Root": "", "CreatedAt": _NEVER, "UpdatedAt": _NEVER, "ModTime": 0, "Markers": [],
}  # fmt: skip


def row_ids_of(head: str) -> tuple[int, int]:
    """Return the ids of the photo and the file in the head of a search result, the stored text before `Merged`."""
    photo_id, _, file_id = orjson.loads(head + "}")["ID"].partition("-")
    return int(photo_id), int(file_id)


def public_head(head: str, key: bytes) -> str:
    """Return the head of a search result for visitors; `key` is that of the link."""
    photo_id, file_id = row_ids_of(head)
    record = orjson.loads(head + "}")
    ids = {
        "ID": f"{permuted(PHOTO, photo_id, key)}-{permuted(FILE, file_id, key)}",
        "UID": alias(PHOTO, photo_id, key),
        "FileUID": alias(FILE, file_id, key),
    }
    public = {}
    for name, value in record.items():
        if name in ids:
            public[name] = ids[name]
        elif name in PUBLIC:
            public[name] = value
        elif name not in OPTIONAL:
            public[name] = EMPTY.get(name, record["TakenAtLocal"])
    return orjson.dumps(public)[:-1].decode()


def public_file(document: str, key: bytes, photo_id: int, file_id: int) -> str:
    """Return the record of a file for visitors; `key` is that of the link."""
    record = orjson.loads(document)
    ids = {"UID": alias(FILE, file_id, key), "PhotoUID": alias(PHOTO, photo_id, key)}
    values = FILE_EMPTY | {name: record[name] for name in record if name in FILE_PUBLIC} | ids
    return orjson.dumps({name: values[name] for name in record}).decode()
