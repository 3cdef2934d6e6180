"""The metadata of a video file; without its decoder, what its own structure gives."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Final

from photosvc.media.metadata import Metadata, merge, merge_file
from photosvc.media.text import is_plausible
from photosvc.media.video.avchd import read_avchd
from photosvc.media.video.quicktime import describe
from photosvc.media.video.tags import read_tags
from photosvc.media.xmp.packet import read_xmp

_BOXES: Final = frozenset((b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"))
# Object identifiers of ASF (Advanced Systems Format specification, section 10).
_ASF: Final = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_FILE_PROPERTIES: Final = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_MAX_OBJECTS: Final = 200
_ASF_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)


def read_video_metadata(source: BinaryIO, tags: Mapping[str, str] | None = None) -> tuple[Metadata, bool]:
    """The metadata, and whether the file is cut off before the end of its media data.

    Args:
        source: the file, open for reading.
        tags: what the decoder found, which completes them.

    """
    source.seek(0)
    head = source.read(200)
    decoded = read_tags(tags or {})
    if head[4:8] in _BOXES:
        boxed = describe(source)
        found = merge([read_tags(boxed.tags), decoded])
        return merge_file(found, Metadata(), read_xmp(boxed.xmp).metadata), boxed.is_cut
    if head.startswith(_ASF):
        return merge([decoded, Metadata(taken_utc=_asf_creation(source))]), False
    if ord("G") in (head[:1] + head[4:5]):
        return merge([read_avchd(source), decoded]), False
    return decoded, False


def _asf_creation(source: BinaryIO) -> datetime | None:
    """The creation date of the file properties, in steps of 100 nanoseconds since 1601."""
    position = 30  # the header object begins with its own identifier, size and number of objects
    for _ in range(_MAX_OBJECTS):
        source.seek(position)
        head = source.read(56)
        size = int.from_bytes(head[16:24], "little")
        if len(head) < 56 or not 24 <= size < 1 << 40:
            return None
        if head.startswith(_FILE_PROPERTIES):
            steps = int.from_bytes(head[48:56], "little")
            if not 0 < steps < 1 << 62:
                return None
            try:
                moment = _ASF_EPOCH + timedelta(microseconds=steps // 10)
            except OverflowError:
                return None
            return moment if is_plausible(moment) and moment.year > 1980 else None
        position += size
    return None
