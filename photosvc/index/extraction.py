"""What a worker tells of one file: plain, frozen, picklable."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """One file, seen from its bytes alone."""

    hash: str
    """SHA1, 40 hexadecimal digits."""
    size: int
    """Bytes."""
    mtime_ns: int
    file_type: str
    """Short format name, `jpg heic avif png webp gif tiff dng avi mp4 …` (spec 2.3 FileType)."""
    media_type: str
    """`image raw video animated sidecar`."""
    mime: str
    codec: str = ""
    """`jpeg png heic avif mjpeg avc1 hvc1 …`, empty when unknown."""
    width: int = 0
    """Pixels, after orientation."""
    height: int = 0
    orientation: int = 1
    """Exif orientation 1 to 8."""
    duration_ns: int = 0
    fps: float = 0.0
    frames: int = 0
    projection: str = ""
    color_profile: str = ""
    colors: str = ""
    """Nine hexadecimal colour ids, a 3x3 picture row by row."""
    luminance: str = ""
    main_color: int = -1
    chroma: int = -1
    diff: int = -1
    error: str = ""
    """Why the file cannot be shown, in a short sentence; empty when it can."""
    metadata: "Metadata" = field(default_factory=lambda: Metadata())


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What the file says about its photo; every text is clean: no control characters, clipped, stripped."""

    taken_local: datetime | None = None
    """Wall time at the camera, naive, years 1 to 9999 only if plausible (1826 up to next year)."""
    taken_utc: datetime | None = None
    """Aware UTC time, when the file itself tells (video creation time, GPS time stamp)."""
    utc_offset: int | None = None
    """Minutes east of UTC at the camera, when the file tells (Exif OffsetTimeOriginal)."""
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
    regions: tuple["Region", ...] = ()


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
