"""Search results as Python objects, for apps that search without HTTP.

Their fields are those of `records.photo` in Python's spelling: `taken_at` for `TakenAt`, `camera_id` for `CameraID`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MINYEAR, datetime
from typing import Any, Final

import msgspec

#: Words of names whose spelling in JSON is not the word with a capital letter.
_SPELLED: Final = {"id": "ID", "uid": "UID"}


def wire_name(name: str) -> str:
    """Return the name of a field in JSON."""
    if name in {"subject_uid", "subject_src"}:
        name = name.replace("subject", "subj")
    return "".join(_SPELLED.get(word, word.capitalize()) for word in name.split("_"))


def _unset(moment: datetime | None) -> datetime | None:
    """Return None for the zero timestamp, else the time."""
    return None if moment is not None and moment.year == MINYEAR else moment


class FoundMarker(msgspec.Struct, frozen=True, kw_only=True, rename=wire_name):
    """A named area of a picture; lengths are relative to the upright picture, from the top left."""

    uid: str
    file_uid: str
    type: str
    src: str
    name: str
    subject_uid: str
    x: float
    y: float
    w: float
    h: float
    created_at: datetime


class FoundFile(msgspec.Struct, frozen=True, kw_only=True, rename=wire_name):
    """A file of a photo."""

    uid: str
    photo_uid: str
    name: str
    """Path relative to the root."""
    root: str
    hash: str
    """SHA-1, 40 hexadecimal digits."""
    size: int
    """Bytes."""
    primary: bool
    codec: str
    file_type: str
    media_type: str
    mime: str
    width: int
    """Pixels, as `height`."""
    height: int
    orientation: int
    aspect_ratio: float
    colors: str
    luminance: str
    diff: int
    chroma: int
    created_at: datetime
    updated_at: datetime
    markers: tuple[FoundMarker, ...]


class FoundPhoto(msgspec.Struct, frozen=True, kw_only=True, rename=wire_name):
    """A file that a search found, with the metadata of its photo. Unknown texts are empty, unset times None."""

    id: str
    uid: str
    document_id: str = ""
    type: str
    type_src: str
    taken_at: datetime
    """In UTC."""
    taken_at_local: datetime
    """The local time where the photo was taken, without a time zone."""
    taken_src: str
    time_zone: str
    path: str
    name: str
    original_name: str
    title: str
    description: str
    caption: str = ""
    """The newer name of `description` in the API."""
    year: int
    """-1 if it is unknown, like `month` and `day`."""
    month: int
    day: int
    country: str
    """Code of the country; `zz` if it is unknown."""
    stack: int
    favorite: bool
    private: bool
    rating: int = 0
    iso: int
    focal_length: int
    """Millimetres."""
    f_number: float
    exposure: str
    faces: int = 0
    quality: int
    resolution: int
    """Megapixels."""
    duration: int = 0
    """Nanoseconds."""
    color: int
    scan: bool
    panorama: bool
    camera_id: int
    camera_src: str
    camera_serial: str
    camera_make: str
    camera_model: str
    camera_type: str = ""
    lens_id: int
    lens_make: str = ""
    lens_model: str
    altitude: int = 0
    """Metres."""
    lat: float
    """Degrees, like `lng`; both are 0 if the place is unknown."""
    lng: float
    cell_id: str
    place_id: str
    place_src: str
    place_label: str
    place_city: str
    place_state: str
    place_country: str
    instance_id: str
    file_uid: str
    file_root: str
    file_name: str
    """Path relative to the root."""
    hash: str
    """SHA-1, 40 hexadecimal digits."""
    mime: str = ""
    width: int
    """Pixels, as `height`."""
    height: int
    portrait: bool
    created_at: datetime
    updated_at: datetime
    edited_at: datetime | None
    checked_at: datetime | None
    merged: bool
    files: tuple[FoundFile, ...]

    def __post_init__(self) -> None:
        """Remove the time zone of the local time, and replace zero timestamps by None."""
        msgspec.structs.force_setattr(self, "taken_at_local", self.taken_at_local.replace(tzinfo=None))
        msgspec.structs.force_setattr(self, "edited_at", _unset(self.edited_at))
        msgspec.structs.force_setattr(self, "checked_at", _unset(self.checked_at))


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of search results, which is also a sequence of its photos."""

    photos: tuple[FoundPhoto, ...]
    count: int
    """The number of files on the page; with `merged`, several of them may be one result."""
    limit: int
    """The most files that the page can have."""
    offset: int
    cursor: str | None
    """The beginning of the next page, for `search(cursor=…)`; None if this page was not full."""
    total: int | None
    """The number of files that match, if `total` was asked for."""

    def __iter__(self) -> Iterator[FoundPhoto]:
        return iter(self.photos)

    def __len__(self) -> int:
        return len(self.photos)

    def __getitem__(self, number: int) -> FoundPhoto:
        return self.photos[number]


_DECODER: Final = msgspec.json.Decoder(tuple[FoundPhoto, ...])


def read_results(body: str | bytes) -> tuple[FoundPhoto, ...]:
    """Return the results in the body of a search answer."""
    found: Any = _DECODER.decode(body)
    return tuple(found)
