"""What a sidecar contains, by its content: XMP, JSON of Google Takeout or ExifTool, or Apple's adjustments."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import orjson

from photosvc.core.problems import FileProblemError, Reason
from photosvc.index.sidecars import exiftool, takeout
from photosvc.media.metadata import Metadata
from photosvc.media.xmp.packet import read_sidecar as read_packet
from photosvc.media.xmp.tree import MAX_PACKET

#: Bytes of the largest sidecar that is read.
MAX_BYTES: Final = MAX_PACKET
#: Of JSON, whose objects take much more memory than its text; those of pictures have a few kilobytes.
MAX_JSON: Final = 1 << 21
_APPLE: Final = re.compile(rb"<key>\s*adjustment(?:FormatIdentifier|Data)\s*</key>")


class Kind(StrEnum):
    """What wrote a sidecar, or what it is for."""

    XMP = "xmp"
    TAKEOUT = "takeout"
    ALBUM = "album"
    """The album of a folder of Google Takeout."""
    EXIFTOOL = "exiftool"
    APPLE = "apple"


@dataclass(frozen=True, slots=True)
class Content:
    """What was read of one sidecar."""

    kind: Kind
    metadata: Metadata
    """That of an album has its title and its description."""


def read_sidecar(content: bytes, file_type: str) -> Content | None:
    """The content of a sidecar; None when the file is of a kind that says nothing about pictures.

    Args:
        content: the bytes, cut at `MAX_BYTES` + 1.
        file_type: `xmp`, `json`, `aae`; all others say nothing about pictures.

    Raises:
        FileProblemError: it is damaged or too large.

    """
    if file_type == "json":
        return _read_json(content)
    if file_type not in ("xmp", "aae"):
        return None
    if len(content) > MAX_BYTES:
        raise FileProblemError(Reason.BAD_SIDECAR)
    if file_type == "aae":
        if not (_APPLE.search(content) or content.startswith(b"bplist00")):
            raise FileProblemError(Reason.BAD_SIDECAR)
        return Content(Kind.APPLE, Metadata(edited=True))
    metadata = read_packet(content)
    if metadata is None:
        raise FileProblemError(Reason.BAD_SIDECAR)
    return Content(Kind.XMP, metadata)


def _read_json(content: bytes) -> Content | None:
    if len(content) > MAX_JSON:
        return None
    try:
        record: Any = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise FileProblemError(Reason.BAD_SIDECAR) from None
    if isinstance(record, list) and len(record) == 1:
        record = record[0]
    if not isinstance(record, dict):
        return None
    for kind, reader in (
        (Kind.TAKEOUT, takeout.read_picture),
        (Kind.ALBUM, takeout.read_album),
        (Kind.EXIFTOOL, exiftool.read),
    ):
        metadata = reader(record)
        if metadata is not None:
            return Content(kind, metadata)
    return None
