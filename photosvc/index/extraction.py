"""What a worker tells of one file: plain, frozen, picklable."""

from dataclasses import dataclass, field

from photosvc.core.problems import Problem
from photosvc.media.metadata.record import Metadata


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
    problem: Problem | None = None
    """Why the file cannot be shown."""
    metadata: Metadata = field(default_factory=Metadata)
