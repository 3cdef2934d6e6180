"""The metadata of a file: one record, whatever container and standard they come from."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Region:
    """A marked area: a name and a box relative to the upright picture (top left corner, 0 to 1)."""

    name: str
    kind: str
    """`face` or empty."""
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of one file. Every text is clean: without control characters, stripped, of limited length."""

    taken_local: datetime | None = None
    """Wall time at the camera, naive; only plausible years (1826 up to next year)."""
    taken_utc: datetime | None = None
    """Aware UTC time, from the creation time of a video or a GPS time stamp."""
    utc_offset: int | None = None
    """Minutes east of UTC at the camera (Exif OffsetTimeOriginal); None when unknown."""
    camera_make: str = ""
    camera_model: str = ""
    camera_serial: str = ""
    lens_make: str = ""
    lens_model: str = ""
    iso: int = 0
    focal_length: int = 0
    """Millimetres, 35 mm equivalent preferred."""
    f_number: float = 0.0
    exposure: str = ""
    """Shutter time, `1/160` or `2.5` seconds."""
    lat: float | None = None
    """Decimal degrees, both or neither."""
    lng: float | None = None
    altitude: int = 0
    """Metres."""
    title: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    subject: str = ""
    artist: str = ""
    copyright: str = ""
    license: str = ""
    notes: str = ""
    software: str = ""
    rating: int = 0
    """Stars 0 to 5; -1 rejected."""
    document_id: str = ""
    instance_id: str = ""
    original_name: str = ""
    regions: tuple[Region, ...] = ()
